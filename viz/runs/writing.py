"""A text while it is written, token by token: belongs to one browser session."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from model.decoding.filters import Sampling
from model.decoding.sampling import Step, generate
from model.sources.handle import ModelHandle
from viz import runs
from viz.live.core.wire import Data
from viz.live.writer.data import WrittenToken


@dataclass
class Writing:
    """A text while it is written; `stopped` says why it ended."""

    stream: Iterator[WrittenToken]
    steps: list[WrittenToken] = field(default_factory=list)
    is_running: bool = True
    stopped: str | None = None
    sent: dict[object, list[Data]] = field(default_factory=dict)  # steps as sent, by head

    def advance(self, seconds: float = 0.0) -> None:
        """Write one token, and more while there is time. ValueError for a prompt without room."""
        deadline = time.monotonic() + seconds
        while self.stopped is None:
            try:
                step = next(self.stream)
            except ValueError as error:
                self.is_running, self.stopped = False, str(error)
                raise
            self.steps.append(step)
            self.stopped = step.stopped
            if time.monotonic() >= deadline:
                break
        self.is_running = self.is_running and self.stopped is None


def write(
    handle: ModelHandle, ids: tuple[int, ...], sampling: Sampling, n_tokens: int, slide: bool
) -> Writing:
    """Begin to continue a prompt; nothing is computed before `advance`."""
    steps = generate(
        runs.decoder(handle),
        ids,
        sampling,
        max_new_tokens=n_tokens,
        end_id=runs.tokenizer(handle).end_id,
        slide=slide,
        record=True,
    )
    return Writing(map(_written, steps))


def _written(step: Step) -> WrittenToken:
    before, probs = step.logits.double().softmax(dim=0), step.probs.double()
    top = step.logits.topk(min(runs.LEADING, len(before))).indices.tolist()
    return WrittenToken(
        token_id=step.token_id,
        rank=step.rank,
        before=float(before[step.token_id]),
        prob=float(probs[step.token_id]),
        n_kept=int(step.kept.sum()),
        leading=tuple((i, float(before[i]), float(probs[i])) for i in top),
        attention=step.attention,
        n_dropped=step.n_dropped,
        stopped=step.stopped,
    )
