"""What the parts of the page share: what is patched, the labels of both sentences, formulas."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from model.analysis.patching import GRIDS, OVER_HEADS
from viz.figures.labels import token_labels
from viz.formulas import Formula
from viz.frame import inspector, links
from viz.frame.two_inputs import Two
from viz.frame.view import View
from viz.runs.patching import Patching, Request

TITLES = {
    "resid_pre": "Residual stream, before each layer",
    "attn_out": "What attention adds",
    "ffn_out": "What the feed-forward adds",
    "z": "Heads, at all positions (z)",
}


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


def use_formula(name: str, formula: Formula) -> None:
    """A formula of this page in the inspector."""
    inspector.formula(f"model.analysis.patching.{name}", formula.latex, formula.reference)
