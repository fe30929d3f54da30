"""The learning rate along a run, and the decay of weights."""

# The last part of a run, in which the rate falls from its floor to 0.
END = 0.1


def learning_rate(progress: float, step: int, peak: float, warmup_steps: int, floor: float = 0.0) -> float:
    """Linear from 0 to `peak` in `warmup_steps`, times what is left of the run: 0 when progress is 1.

    floor: a share of the peak, which the rate does not fall below before the last tenth of the run. Snapshots that are
    averaged over a long part of it then differ more.
    """
    left = max(0.0, 1.0 - progress)
    return peak * min(1.0, (step + 1) / max(1, warmup_steps)) * max(left, floor * min(1.0, left / END))


def parameter_groups(model, weight_decay: float) -> list:
    """The parameters of a model for an optimizer: matrices decay, biases and norms do not."""
    return [
        {"params": [p for p in model.parameters() if p.ndim > 1], "weight_decay": weight_decay},
        {"params": [p for p in model.parameters() if p.ndim <= 1], "weight_decay": 0.0},
    ]
