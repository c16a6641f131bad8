"""What a page draws: one run of one model on one sentence, one head, and the colours."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from model.config import DecoderConfig
from model.given import Typed, words_of
from model.names import head_name
from model.sources.handle import ModelHandle
from model.trace import AttentionRecord, HeadGroup, Site
from viz import runs
from viz.frame.shipped import called
from viz.runs import Run
from viz.runs.kept import Asked
from viz.theme import Palette


@dataclass(frozen=True, eq=False)
class View:
    """What a page is opened with. `attention` names the group of heads, such as decoder.attn.

    `given` is what was typed, as it is read; empty where the input is no text.
    """

    given: Typed
    handle: ModelHandle
    asked: Asked[Run]
    attention: str
    layer: int
    head: int
    colors: Palette

    @property
    def sentence(self) -> str:
        """Its words alone, as any model reads them; of a chat what the user says last."""
        return words_of(self.given)

    @property
    def run(self) -> Run:
        """The model's run on what it is given."""
        return self.asked.answer

    @property
    def config(self) -> DecoderConfig:
        """Sizes and variants of the decoder; ValueError where the model is of another kind."""
        return runs.decoder(self.handle).config

    @property
    def model(self) -> str:
        """The model's name, as in the address."""
        return self.handle.spelled

    @property
    def called(self) -> str:
        """The model by what it does, for a person."""
        return called(self.model)

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
        return self.run.offers

    @property
    def group(self) -> HeadGroup:
        """The group of heads the chosen head is one of."""
        return self.run.trace.group(self.attention)

    @property
    def record(self) -> AttentionRecord:
        """Everything about the chosen layer's heads in the chosen group."""
        return self.group.records[self.layer]

    @property
    def site(self) -> Site:
        """Where the chosen layer attends."""
        return self.record.site

    @property
    def query_tokens(self) -> Sequence[str]:
        """The tokens of the chosen head's queries, the rows of its pattern."""
        return self.run.trace.stream(self.record.queries).labels

    @property
    def key_tokens(self) -> Sequence[str]:
        """The tokens of the chosen head's keys, the columns of its pattern."""
        return self.run.trace.stream(self.record.keys).labels

    @property
    def pattern(self) -> np.ndarray:
        """The chosen head's attention weights, (Tq, Tk)."""
        return self.record.pattern[self.head]

    @property
    def head_name(self) -> str:
        """The chosen head, as in L2 H5, with its kind of attention where there are several."""
        name = head_name(self.layer, self.head)
        has_others = len(self.run.trace.groups) > 1
        return f"{self.group.title} {name}" if has_others else name
