"""The learning rate along a run."""


def learning_rate(progress: float, step: int, peak: float, warmup_steps: int) -> float:
    """Linear from 0 to `peak` in `warmup_steps`, times what is left of the run: 0 when progress is 1."""
    return peak * min(1.0, (step + 1) / max(1, warmup_steps)) * max(0.0, 1.0 - progress)
