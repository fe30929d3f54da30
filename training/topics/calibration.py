"""The temperature of docs/classification.md#calibration, fitted to predictions of sources not seen."""

import numpy as np


def probabilities(logits, occurrences, temperature, longest=np.inf):
    """temperature: (intercept, slope). From the occurrences `longest` on it grows in proportion to them."""
    intercept, slope = temperature
    near = np.minimum(occurrences, longest)
    growth = np.maximum(occurrences, 1) / np.maximum(near, 1)
    scaled = logits / (np.exp(intercept + slope * np.log1p(near)) * growth)[:, None]
    scaled = np.exp(scaled - scaled.max(1, keepdims=True))
    return scaled / scaled.sum(1, keepdims=True)


def fitted(logits, occurrences, labels, weights):
    """The temperature of the least log loss."""
    from scipy.optimize import minimize

    rows = np.arange(len(labels))

    def loss(temperature):
        found = probabilities(logits, occurrences, temperature)[rows, labels]
        return -(weights * np.log(np.maximum(found, 1e-300))).sum() / weights.sum()

    return minimize(loss, [0.0, 0.5], method="Nelder-Mead", options={"xatol": 1e-5, "fatol": 1e-9}).x


def even_weights(labels, kinds):
    """[text]: each label of each kind of text weighs the same."""
    weights = np.zeros(len(labels))
    for kind in np.unique(kinds):
        for label in np.unique(labels):
            own = (kinds == kind) & (labels == label)
            # Fewer say nothing.
            if own.sum() >= 5:
                weights[own] = 1 / own.sum()
    return weights
