"""How much is learnt in what order: stages of training, each with windows of one length."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Stage:
    """A stretch of training with windows of one length."""

    steps: int
    seq_len: int


@dataclass(frozen=True)
class Plan:
    """The batches of a run: each has as many windows of its stage as `batch_tokens` holds.

    `label_smoothing` is the share of a target's probability that is spread over all classes.
    """

    stages: tuple[Stage, ...]
    batch_tokens: int
    seed: int
    label_smoothing: float = 0.0

    @property
    def total_steps(self) -> int:
        """Steps of all stages."""
        return sum(stage.steps for stage in self.stages)

    @property
    def rows(self) -> int:
        """Windows of all stages."""
        return sum(stage.steps * self.batch_size(stage) for stage in self.stages)

    def batch_size(self, stage: Stage) -> int:
        """Windows in a batch of a stage."""
        return self.batch_tokens // stage.seq_len

    def tokens_until(self, step: int) -> int:
        """Tokens predicted in the first `step` steps."""
        tokens = 0
        for stage in self.stages:
            steps = min(step, stage.steps)
            tokens += steps * self.batch_size(stage) * stage.seq_len
            step -= steps
        return tokens


def log_spaced(last: int, n: int) -> list[int]:
    """At most n steps from 1 to the last, each about as many times the one before it."""
    return sorted({round(last ** (i / max(n - 1, 1))) for i in range(n)})
