"""What the parts of the page share: what is patched, the labels of both sentences, formulas."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from model.analysis.patching import GRIDS, OVER_HEADS, Patched
from model.analysis.question import Question
from viz.frame import state
from viz.frame.given import Two
from viz.frame.settings import PATCH
from viz.frame.view import View
from viz.labels import token_labels

TITLES = {
    "resid_pre": "Residual stream, before each layer",
    "attn_out": "What attention adds",
    "ffn_out": "What the MLP adds",
    "z": "Heads, at all positions (z)",
}


@dataclass(frozen=True, eq=False)
class Shown:
    """What is patched on this page, and the labels of both sentences."""

    view: View
    two: Two
    question: Question
    work: Patched
    is_forward: bool

    @property
    def kind(self) -> str:
        """What the inputs are."""
        return "sentence" if self.view.run.trace.main.ids is not None else "picture"

    @property
    def both_labels(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The strings of both inputs in the stack that is patched."""
        return self.two.labels[self.question.stack]

    @cached_property
    def labels(self) -> list[str]:
        """The tokens of the input that values are put into."""
        return token_labels(self.both_labels[1 if self.is_forward else 0])

    def shares(self, cells: np.ndarray) -> dict[str, np.ndarray]:
        """A metric of each cell as grids of shares recovered."""
        return self.work.grids(self.work.kept.restored(cells))

    @cached_property
    def strongest(self) -> tuple[int, int]:
        """The head that recovers most, or takes most away, as far as is known."""
        heads = np.nan_to_num(np.abs(self.shares(self.work.filling.values)[OVER_HEADS]), nan=-1.0)
        layer, head = np.unravel_index(heads.argmax(), heads.shape)
        return int(layer), int(head)

    @cached_property
    def chosen(self) -> tuple[str, int, int]:
        """The cell that is looked at, exact if a person chose it: until then the strongest head."""
        cells = {
            f"{name}.{layer}.{column}": (name, layer, column)
            for name in GRIDS
            for layer, column in np.ndindex(self.work.shapes[name])
        }
        default = ".".join(map(str, (OVER_HEADS, *self.strongest)))
        text = state.value(PATCH.given(options=list(cells), default=default))
        if text != default:
            self.work.filling.point(self.work.number(*cells[text]))
        return cells[text]

    def columns(self, grid: str) -> list[str]:
        """Labels of a grid's columns."""
        n_columns = self.work.shapes[grid][1]
        return [f"H{i}" for i in range(n_columns)] if grid == OVER_HEADS else self.labels
