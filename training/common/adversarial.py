"""Adversarial training: word embeddings are moved to where the loss grows fastest, and the answer must stay the same.

The fast gradient method of Miyato et al. 2017, "Adversarial Training Methods for Semi-Supervised Text Classification",
where the gradient is that of a step which trains too, as in Shafahi et al. 2019, "Adversarial Training for Free!".
"""

import torch


class AdversarialEmbeddings:
    """Moves the output of a layer of word embeddings, each window's [length, hidden] by a vector of norm `size`."""

    def __init__(self, layer: torch.nn.Module, size: float):
        self.size = size
        self._output = self._move = None
        layer.register_forward_hook(self._forward)

    def _forward(self, layer, inputs, output):
        if self._move is not None:
            return output + self._move
        if output.requires_grad:
            output.retain_grad()
            self._output = output

    def move(self, offsets=None) -> None:
        """Moves the output along the gradient of the last backward pass, until `rest`. offsets: of packed windows."""
        gradient, self._output = self._output.grad, None
        if offsets is None:
            squares = gradient.square().sum((1, 2), keepdim=True)
        else:
            # Rows behind the last window have no gradient, so that it may count them as its own.
            window = torch.bucketize(torch.arange(len(gradient)), offsets[1:-1], right=True)
            of_windows = gradient.new_zeros(len(offsets) - 1).index_add(0, window, gradient.square().sum(1))
            squares = of_windows[window, None]
        self._move = self.size * gradient / squares.sqrt().clamp_min(1e-12)

    def rest(self) -> None:
        """Leaves the output as it is."""
        self._move = None
