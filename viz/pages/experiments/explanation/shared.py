"""What the parts of the page share: the number that is asked for, and what is known of it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from model.analysis.metrics import Metric
from model.verify.arrows import IndependentArrowsOf
from viz.frame import links
from viz.frame.numbers import Number, number
from viz.frame.one_input import One
from viz.frame.view import View
from viz.runs.explaining import Explaining

MOST_READ_BACK = 64  # tokens up to which every arrow of a decoder has an independent run
MOST_OF_OTHERS = 10_000  # tokens of the runs without one arrow each, of other models
OF_ONE = ("effects", "gradients")  # numbers of an arrow that take a run of their own
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

    @property
    def is_decoder(self) -> bool:
        """Whether the model is a decoder alone."""
        return self.view.run.trace.facts.architecture == "decoder"

    @property
    def is_picture(self) -> bool:
        """Whether what is given is a picture."""
        return self.view.run.trace.main.pixels is not None

    @property
    def labels(self) -> Sequence[str]:
        """What the query attends to."""
        return self.one.labels["encoder" if "cross" in self.group else self.group.split(".")[0]]

    @property
    def tokens(self) -> list[str]:
        """All tokens, those of a source before its target."""
        return [label for row in self.one.labels.values() for label in row]

    @property
    def asker(self) -> str:
        """The token whose arrows these are."""
        row = self.one.labels[self.group.split(".", maxsplit=1)[0]]
        return row[self.query]

    @property
    def asks(self) -> str:
        """It, as part of a sentence."""
        return "the last token" if self.is_decoder else f"“{self.asker}”"

    @property
    def measures(self) -> dict[str, np.ndarray]:
        """Arrows by each measure, (L, H, T)."""
        found = self.work.measured
        return {"weights": found.weights, "norms": found.norms, "gradients": found.gradients}

    def name(self, arrow: Sequence[int]) -> str:
        """An arrow in words, as L3 H4: “so” → “girl”."""
        layer, head, key = arrow
        return f"L{layer} H{head}: “{self.asker}” → “{self.labels[key]}”"

    @property
    def is_whole(self) -> bool:
        """Whether every arrow has an independent run, which takes its time."""
        n_tokens = len(self.tokens)
        if self.is_decoder:
            return n_tokens <= MOST_READ_BACK and not self._is_attended_to_before
        return self.work.effects.size * n_tokens <= MOST_OF_OTHERS

    @property
    def _is_attended_to_before(self) -> bool:
        """Whether tokens attend to a decoder's last: then its removal changes more than one row."""
        return any(record.mask_of(0)[:-1, -1].any() for record in self.view.group.records)

    def address(self, name: str, arrow: Arrow) -> str:
        """Where the independent run has one number of an arrow, as a row of one."""
        flat = int(np.ravel_multi_index(arrow, self.work.effects.shape))
        if name in OF_ONE and isinstance(self.work.independent, IndependentArrowsOf):
            return f"explain.one.{name}.{'.'.join(map(str, arrow))}[0:1]"
        return f"explain.{name}[{flat}:{flat + 1}]"

    def number(self, name: str, arrow: Arrow, value: float) -> Number:
        """One number of an arrow as it is printed."""
        row, _, _ = self.address(name, arrow).rpartition(":")
        return number(self.work, f"{row}]", value)

    def link(self, arrow: Arrow) -> str:
        """The address of the arrow in the microscope."""
        layer, head, key = arrow
        more: dict[str, object] = {"attention": self.group, "layer": layer, "head": head}
        if self.one.hidden:
            more["blanks"] = ",".join(map(str, self.one.hidden))
        return links.to(self.view, "Attention", **more, cell=f"{self.query}-{key}")
