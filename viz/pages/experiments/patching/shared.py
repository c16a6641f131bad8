"""What the parts of the page share: what is patched, the labels of both sentences, formulas."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from model.analysis.patching import GRIDS, OVER_HEADS
from viz.digits import NONE, or_none
from viz.figures.labels import token_labels
from viz.formulas import Formula
from viz.frame import inspector, links
from viz.frame.numbers import Number, number
from viz.frame.two_inputs import Two
from viz.frame.view import View
from viz.runs.patching import Patching, Request

TITLES = {
    "resid_pre": "Residual stream, before each layer",
    "attn_out": "What attention adds",
    "ffn_out": "What the feed-forward adds",
    "z": "Heads, at all positions (z)",
}
MOST_READ_BACK = 14  # tokens up to which every cell has an independent run
MOST_NUMBERS = 2**20  # of all streams of the runs that a row of each grid, or all heads, take
MOST_GAPS = 4.0  # that a metric may be larger than the gap: the shares' rounding grows with it


@dataclass(frozen=True, eq=False)
class Shown:
    """What is patched on this page, and the labels of both sentences."""

    view: View
    second: str
    two: Two
    request: Request
    work: Patching
    is_forward: bool

    @property
    def kind(self) -> str:
        """What the inputs are."""
        return "sentence" if self.view.run.trace.main.ids is not None else "picture"

    @property
    def is_decoder(self) -> bool:
        """Whether the model is a decoder alone."""
        return self.view.run.trace.facts.architecture == "decoder"

    @property
    def both_labels(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The strings of both inputs in the stack that is patched."""
        return self.two.labels[self.request.stack]

    @cached_property
    def labels(self) -> list[str]:
        """The tokens of the input that values are put into."""
        return token_labels(self.both_labels[1 if self.is_forward else 0])

    def link(self, page: str, text: str = "", **more: object) -> str:
        """The address of another view of this input, or of another text, on the same model."""
        if text:
            is_two = len(self.view.run.trace.streams) > 1
            name = "source" if is_two else "sentence"
            more |= {name: text} if self.kind == "sentence" else {"digit": text, "drawing": ""}
        return links.to(self.view, page, **more)

    @property
    def shares(self) -> dict[str, np.ndarray]:
        """All grids as shares put back."""
        patched = self.work.patched
        return {name: patched.kept.restored(patched.values[name]) for name in GRIDS}

    def columns(self, grid: str) -> list[str]:
        """Labels of a grid's columns."""
        n_columns = self.work.patched.values[grid].shape[1]
        return [f"H{i}" for i in range(n_columns)] if grid == OVER_HEADS else self.labels

    @property
    def is_short(self) -> bool:
        """Whether every cell has an independent run, which takes its time."""
        return sum(len(row) for row, _ in self.two.labels.values()) <= MOST_READ_BACK

    def is_cheap(self, n_runs: int) -> bool:
        """Whether so many further independent runs do not take too long."""
        width = self.view.run.trace.facts.d_model or MOST_NUMBERS
        n_tokens = sum(len(row) for row, _ in self.two.labels.values())
        return n_runs * n_tokens * width <= MOST_NUMBERS

    @property
    def has_slopes_of_heads(self) -> bool:
        """Whether the estimates of all heads have independent runs, two for each."""
        return self.is_cheap(2 * self.work.patched.values[OVER_HEADS].size)

    def origin(self, name: str, layer: int) -> dict[tuple[int, str], str]:
        """Where the independent run has a grid, or where that takes too long one layer of it."""
        if name == OVER_HEADS or self.is_short:
            return {(0, "z"): f"patch.{name}"}
        n_columns = self.work.patched.values[name].shape[1]
        is_cheap = self.is_cheap((len(GRIDS) - 1) * n_columns)
        return {(0, f"z.{layer}"): f"row.patch.{name}.{layer}"} if is_cheap else {}

    @property
    def size(self) -> float:
        """What shares are differences of, in gaps: their rounding grows with it."""
        kept = self.work.patched.kept
        return max(1.0, max(abs(kept.of_base), abs(kept.of_source)) / abs(kept.gap))

    def said(self, address: str, value: float) -> str | Number:
        """A share, or what is made of shares, with its address where it is compared."""
        text = or_none(value, 3)
        is_of_heads = f"patch.{OVER_HEADS}" in address and self.has_slopes_of_heads
        is_read = (self.is_short or is_of_heads) and self.size <= MOST_GAPS and text != NONE
        return number(self.work, address, value, text) if is_read else text


def use_formula(name: str, formula: Formula) -> None:
    """A formula of this page in the inspector."""
    inspector.formula(f"model.analysis.patching.{name}", formula.latex, formula.reference)
