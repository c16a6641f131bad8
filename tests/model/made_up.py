"""A made-up source: no tokenizer, no weights, no logits. What works on it works on any."""

from model.sources.handle import Traced
from model.trace import Trace
from model.verify.check import Check
from model.verify.records import check_records
from tests.viz.kit.parts.made_up import two_streams


class MadeUp:
    """The source and, once opened, its only model."""

    name = "two-streams"
    input_kind = None
    offers: frozenset[str] = frozenset()
    report = ()

    def names(self) -> list[str]:
        return [self.name]

    def revision(self, name: str) -> str:
        return "1"

    def open(self, name: str, device: str) -> "MadeUp":
        return self

    def trace(self, text: str) -> Traced:
        return Traced(two_streams(), n_cut=0)

    def check(self, trace: Trace) -> tuple[Check, ...]:
        return check_records(trace)
