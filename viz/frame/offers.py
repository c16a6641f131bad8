"""What a model's run can show, what pages need of it, and the words where it does not go together.

A model that runs here can show everything. Attention read from a file has neither weights nor a
next-token distribution: pages that need them are not offered for it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from model.capture import AttentionRecord
from viz.runs import Run

REASONS = {
    "weights": "it has no weights to run it with",
    "text": "its input is not text",
    "vocabulary": "it has no vocabulary",
    "logits": "it gives no next-token distribution",
    "residuals": "its residual stream was not kept",
}
EVERYTHING = frozenset(REASONS)


@dataclass(frozen=True, eq=False)
class HeadGroup:
    """Heads of one stack and kind, such as decoder.attn: a record for each layer."""

    name: str
    records: Sequence[AttentionRecord]

    @property
    def n_heads(self) -> int:
        """Heads per layer."""
        return len(self.records[0].q)


def offers_of(run: Run) -> frozenset[str]:
    """What a run can show, words of REASONS. Every run is of a decoder with its weights."""
    return EVERYTHING


def groups_of(run: Run) -> dict[str, HeadGroup]:
    """The groups of heads of a run by name. A decoder has one."""
    return {"decoder.attn": HeadGroup("decoder.attn", run.trace.attention)}


def scale_of(record: AttentionRecord) -> float:
    """What products of queries and keys are multiplied by. Our models take 1/√d_head."""
    return record.q.shape[-1] ** -0.5


def missing(needs: Iterable[str], offers: frozenset[str]) -> list[str]:
    """Why a page that needs this does not apply to a model that offers that, in plain words."""
    return [REASONS[need] for need in needs if need not in offers]
