"""What the parts of the page share: the number that is asked for, and what is known of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from model.analysis.metrics import Metric
from model.analysis.paths.words import edge_text
from model.names import head_name
from viz.frame import links, state
from viz.frame.given import One
from viz.frame.said import Piece, Word
from viz.frame.settings import ARROW
from viz.frame.view import View
from viz.runs.explaining import Explaining

Arrow = tuple[int, int, int]


@dataclass(frozen=True, eq=False)
class Shown:
    """What is explained on this page: an input, and the arrows of one of its queries."""

    view: View
    one: One
    group: str
    query: int
    metric: Metric
    work: Explaining

    @cached_property
    def chosen(self) -> Arrow:
        """The arrow that is looked at: until one is chosen, the one with the greatest effect."""
        effects = self.work.effects
        arrows = {edge_text(arrow): arrow for arrow in np.ndindex(effects.shape)}
        best = int(np.abs(np.nan_to_num(effects)).argmax())
        default = list(arrows)[best]
        text = state.value(ARROW.given(options=list(arrows), default=default))
        if text != default:
            self.work.filling.point(list(arrows).index(text))
        return arrows[text]

    @cached_property
    def labels(self) -> Sequence[str]:
        """What the query attends to."""
        return self.one.labels["encoder" if "cross" in self.group else self.group.split(".")[0]]

    @property
    def tokens(self) -> list[str]:
        """All tokens, those of a source before its target."""
        return [label for row in self.one.labels.values() for label in row]

    @cached_property
    def asker(self) -> str:
        """The token whose arrows these are."""
        return self.one.labels[self.group.split(".", maxsplit=1)[0]][self.query]

    @property
    def asks(self) -> str:
        """It, as part of a sentence."""
        return "the last token" if "decoder" in self.view.offers else f"“{self.asker}”"

    @property
    def measures(self) -> dict[str, np.ndarray]:
        """Arrows by each measure, (L, H, T)."""
        of = self.work.measured
        return {"weights": of.weights, "norms": of.norms, "gradients": of.gradients}

    @cached_property
    def names(self) -> list[str]:
        """Every arrow in words, as L3 H4: “so” (6) → “girl” (1)."""
        asker = f"“{self.asker}” ({self.query})"
        return [
            f"{head_name(layer, head)}: {asker} → “{self.labels[key]}” ({key})"
            for layer, head, key in np.ndindex(self.work.effects.shape)
        ]

    def said(self, arrow: Arrow) -> list[Piece]:
        """The same of one arrow, its tokens in their own direction."""
        layer, head, key = arrow
        asker, to = Word(self.asker), Word(self.labels[key])
        return [f"{head_name(layer, head)}: “", asker, f"” ({self.query}) → “", to, f"” ({key})"]

    def link(self, arrow: Arrow) -> str:
        """The address of the edge on Attention."""
        layer, head, key = arrow
        more: dict[str, object] = {"attention": self.group, "layer": layer, "head": head}
        if self.one.hidden:
            more["blanks"] = ",".join(map(str, self.one.hidden))
        return links.to(self.view, "Attention", **more, cell=f"{self.query}-{key}")
