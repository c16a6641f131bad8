"""What the parts of the page share: the number that is asked for, and what is known of it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from model.analysis.explanation import HEAVY, LIGHT, spearman
from model.analysis.metrics import Metric
from model.verify.arrows import IndependentArrowsOf
from viz.digits import digits, or_none
from viz.frame import links
from viz.frame.numbers import Number, Piece, Word, number, stated, word
from viz.frame.one_input import One
from viz.frame.view import View
from viz.runs import Compared
from viz.runs.explaining import Explaining

MOST_READ_BACK = 64  # tokens up to which every arrow of a decoder has an independent run
ROUNDING = 1e-5  # of the largest, by which two runs may differ
CLEAR = 0.005  # that a correlation may be moved by it
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

    def said(self, arrow: Sequence[int], which: str = "") -> list[Piece]:
        """An arrow as its words and numbers; `which` says what it is called, see `NAMED`."""
        layer, head, key = arrow
        place: list[Piece] = [str(layer), str(head)]
        if which and self.has_clear_bounds:
            least_or_most = "max" if which == "strong" else "min"
            place = [*stated(self.work, f"explain.{which}", (layer, head, key), least_or_most)]
        row = self.one.labels[self.group.split(".", maxsplit=1)[0]]
        asker = self.word("explain.asker[0]", row[self.query])
        to = self.word(f"explain.keys[{key}]", self.labels[key])
        return ["L", place[0], " H", place[1], ": “", asker, "” → “", to, "”"]

    def word(self, address: str, label: str) -> Word:
        """A token's label; of a picture's patch it has no id."""
        return Word(label) if self.is_picture else word(self.work, address, label)

    @property
    def has_clear_bounds(self) -> bool:
        """Whether every arrow is read back, and none is much or little by rounding alone."""
        weights = self.work.measured.weights
        off = [np.abs(weights - bound).min() for bound in (HEAVY, LIGHT)]
        return self.is_whole and min(off) > ROUNDING

    def correlation(
        self, address: str, first: np.ndarray, second: np.ndarray, run: Compared | None = None
    ) -> str | Number:
        """Spearman's ρ as it is printed; its address where rounding hardly moves it.

        Without an address, and of arrows that are not all read back, it has none.
        """
        rho = spearman(first, second)
        text = or_none(rho, 3)
        others = (spearman(_rounded(first, up), _rounded(second, up)) for up in (1.0, 3.0))
        is_read = address and (self.is_whole or run is not None)
        if not is_read or not all(abs(rho - other) < CLEAR for other in others):
            return text
        said = round(float(rho), 3)
        return number(run or self.work, f"{address}=about{said}", said, text)

    def number(self, name: str, arrow: Arrow, value: float, places: int = 4) -> Number:
        """One number of an arrow as it is printed."""
        row, _, _ = self.address(name, arrow).rpartition(":")
        return number(self.work, f"{row}]", value, digits(value, places))

    def link(self, arrow: Arrow) -> str:
        """The address of the arrow in the microscope."""
        layer, head, key = arrow
        more: dict[str, object] = {"attention": self.group, "layer": layer, "head": head}
        if self.one.hidden:
            more["blanks"] = ",".join(map(str, self.one.hidden))
        return links.to(self.view, "Attention", **more, cell=f"{self.query}-{key}")


def _rounded(values: np.ndarray, times: float) -> np.ndarray:
    """To a step as large as two runs may differ by, or so many times that."""
    step = times * ROUNDING * (float(np.abs(values).max()) or 1.0)
    return np.round(values / step)
