"""Adversarial training: word embeddings are moved to where the loss grows fastest, and the answer must stay the same.

Fast gradient method of Miyato et al. 2017, "Adversarial Training Methods for Semi-Supervised Text Classification".
"""

import torch


class AdversarialEmbeddings:
    """Moves what a layer of word embeddings gives, each example's [length, hidden] by a vector of norm `size`."""

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

    def move(self) -> None:
        """From now on along the gradient of the last backward pass."""
        gradient = self._output.grad
        norm = gradient.flatten(1).norm(dim=1).clamp_min(1e-12)
        self._move = self.size * gradient / norm[:, None, None]
        self._output = None

    def rest(self) -> None:
        """From now on not at all."""
        self._move = None
