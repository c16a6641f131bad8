"""What a page draws: one run of one model on one sentence, one head, and the colours."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from model.capture import AttentionRecord
from model.config import ModelConfig
from viz.frame import offers
from viz.frame.offers import HeadGroup
from viz.runs import Run
from viz.theme import Palette


@dataclass(frozen=True, eq=False)
class View:
    """What a page is opened with. `attention` names the group of heads, such as decoder.attn."""

    sentence: str
    model: str
    device: str
    run: Run
    attention: str
    layer: int
    head: int
    colors: Palette

    @property
    def config(self) -> ModelConfig:
        """Sizes and variants of the model."""
        return self.run.trace.config

    @property
    def tokens(self) -> tuple[str, ...]:
        """The sentence's tokens."""
        return self.run.trace.tokens

    @property
    def ids(self) -> tuple[int, ...]:
        """The sentence's tokens as the model has them."""
        return tuple(self.run.trace.ids.tolist())

    @property
    def offers(self) -> frozenset[str]:
        """What this run can show."""
        return offers.offers_of(self.run)

    @property
    def group(self) -> HeadGroup:
        """The group of heads the chosen head is one of."""
        return offers.groups_of(self.run)[self.attention]

    @property
    def record(self) -> AttentionRecord:
        """Everything about the chosen layer's heads in the chosen group."""
        return self.group.records[self.layer]

    @property
    def query_tokens(self) -> Sequence[str]:
        """The tokens of the chosen head's queries, the rows of its pattern."""
        return self.record.query_tokens

    @property
    def key_tokens(self) -> Sequence[str]:
        """The tokens of the chosen head's keys, the columns of its pattern."""
        return self.record.key_tokens

    @property
    def pattern(self) -> np.ndarray:
        """The chosen head's attention weights, (Tq, Tk)."""
        return self.record.pattern[self.head]

    @property
    def scale(self) -> float:
        """What the chosen head's products of queries and keys are multiplied by."""
        return offers.scale_of(self.record)

    @property
    def head_name(self) -> str:
        """The chosen head, as in L2 H5."""
        return f"L{self.layer} H{self.head}"
