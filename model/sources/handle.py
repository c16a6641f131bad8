"""What the house asks of a source of models, and the handle by which it names one of them."""

from dataclasses import dataclass
from typing import NamedTuple, Protocol

from model.given import Given
from model.trace import Trace
from model.verify.check import Check, Finding

DEFAULT_SOURCE = "checkpoint"
TRANSFORMERS = "transformers"
NAMED_ALONE = (DEFAULT_SOURCE, TRANSFORMERS)  # sources whose models go by their own names


@dataclass(frozen=True)
class ModelHandle:
    """One model of one source on one device, in one state of its files.

    Made once when a page opens; everything is called and cached with it. `revision` changes with
    the model's config, weights or tokenizer, so nothing that was cached outlives them.
    """

    source: str
    name: str
    device: str
    revision: str

    @property
    def spelled(self) -> str:
        """The model in an address or on the command line: stories, or made-up:two-streams."""
        return self.name if self.source in NAMED_ALONE else f"{self.source}:{self.name}"


class Traced(NamedTuple):
    """A trace, and what became of the text on the way to it.

    `n_cut` counts the tokens beyond the context, cut from the end. `reads` is the text as the
    tokenizer has it, where that is not what was given.
    """

    trace: Trace
    n_cut: int = 0
    reads: str | None = None


class OpenModel(Protocol):
    """A model that is ready: it gives traces and checks them.

    `input_kind` is what it takes, None where it brings its own input. `offers` says what else it
    can do: "text" (run on another one), "vocabulary", the name of its architecture where it can run
    again under other conditions, as "decoder", and what is known of its inside, as "readout".
    `report` is what was found when it was opened.
    """

    @property
    def name(self) -> str:
        """The name it was opened by."""
        ...

    @property
    def input_kind(self) -> str | None:
        """See the class."""
        ...

    @property
    def offers(self) -> frozenset[str]:
        """See the class."""
        ...

    @property
    def report(self) -> tuple[Finding, ...]:
        """See the class."""
        ...

    def trace(self, text: Given) -> Traced:
        """What it does on a text, or a picture (S, S) from 0 to 1; ValueError where it cannot."""
        ...

    def check(self, trace: Trace) -> tuple[Check, ...]:
        """All checks of a trace that this model gave."""
        ...


class Source(Protocol):
    """Where models come from. Every call takes a name of its own.

    It may also have `described(name)`, what a model is in a few short parts, and
    `architecture(name)`, both found without opening it, and `card(name)`, what was written about
    it: its data, its training, its numbers.
    """

    def names(self) -> list[str]:
        """The models found, in the order in which to offer them."""
        ...

    def revision(self, name: str) -> str:
        """What changes whenever the model does; ValueError when there is no such model."""
        ...

    def open(self, name: str, device: str) -> OpenModel:
        """The model, ready on a device; ValueError with cause and remedy when it cannot be."""
        ...
