"""Shares in a logit as charts: a waterfall, maps of parts, signed bars over tokens and by name."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from viz.charts.chart import (
    SIGN,
    Axis,
    Bars,
    Cells,
    Chart,
    Hidden,
    Line,
    Pen,
    Scale,
    around,
    numbered,
)

SUM = "sum"
MOST_STEPS, LARGEST = 20, 14  # bars of a waterfall; with more, these many and one of all others
DOT, DOTTED = Pen("text", None, opacity=0.6), 400  # pixels that the dots of a row take at most
Cell = tuple[int, int]  # a row and a column


def waterfall(names: Sequence[str], parts: np.ndarray, title: str) -> Chart:
    """From nothing to a logit: each part (N,) begins where the one before it ended.

    Of many parts the largest keep their order, and one bar before the sum is that of all others.
    """
    names, parts = _largest(names, parts)
    ends, steps = np.cumsum(parts), np.arange(len(parts))
    bars = Bars([*parts, ends[-1]], ink=[*[SIGN] * len(parts), "frame"], starts=[0, *ends[:-1], 0])
    joins = Line(
        np.stack([steps, steps + 1, steps + 1], axis=1).ravel(),
        np.stack([ends, ends, np.full_like(ends, np.nan)], axis=1).ravel(),
        pen=Pen("line", width=1, symbol=None),
        quiet=True,
    )
    return Chart(title, Axis("", names=[*names, SUM]), Axis("logit"), [joins, bars])


def _largest(names: Sequence[str], parts: np.ndarray) -> tuple[Sequence[str], np.ndarray]:
    """As many names and parts as can be read, their sum that of all."""
    if len(parts) <= MOST_STEPS:
        return names, parts
    is_own = np.zeros(len(parts), dtype=bool)
    is_own[np.argsort(-np.abs(parts), kind="stable")[:LARGEST]] = True
    own = [name for name, is_one in zip(names, is_own, strict=True) if is_one]
    others = f"{len(parts) - LARGEST} others"
    return [*own, others], np.append(parts[is_own], parts[~is_own].sum())


@dataclass(frozen=True, eq=False)
class Estimates:
    """Which values of a map are estimates, what all were estimated, (rows, columns) each.

    `missing` is said of a cell that has neither, the numbers `beside` of each.
    """

    cells: np.ndarray
    values: np.ndarray
    missing: str = "not computed yet"
    beside: Mapping[str, np.ndarray] = field(default_factory=dict)

    def more(self, values: np.ndarray) -> dict[str, np.ndarray]:
        """What is said of each value: whether it is exact, and what it was estimated."""
        known = np.where(self.cells, "estimate", "exact").astype(object)
        known[np.isnan(values)] = ""
        estimates = {} if np.isnan(self.values).all() else {"estimate": self.values}
        return {**self.beside, "value": known, **estimates}

    @property
    def dots(self) -> list[Line]:
        """A dot on each estimate."""
        rows, columns = np.nonzero(self.cells)
        pen = replace(DOT, size=min(4, DOTTED / self.cells.shape[-1]))
        return [Line(columns, rows, pen=pen, quiet=True)] if len(rows) else []

    @property
    def says(self) -> str:
        """How many there are, for those who do not see the dots."""
        n = int(self.cells.sum())
        if not n:
            return ""
        return f"{self.cells.size - n} of {self.cells.size} are exact, the others estimates."


def part_map(
    axes: tuple[Axis, Axis],
    values: np.ndarray,
    scale: Scale,
    title: str,
    *,
    chosen: Cell | None = None,
    off: Sequence[Cell] = (),
    estimates: Estimates | None = None,
) -> Chart:
    """A number of each part, rows and columns.

    The chosen part is framed, those that are off are marked, and estimates have a dot.
    """
    rows, columns = axes
    frames = [around(cell, "dot", "text", "off") for cell in off]
    frames += [] if chosen is None else [around(chosen)]
    if estimates is None:
        return Chart(title, columns, rows, [Cells(values, scale, gap=1), *frames])
    hidden = Hidden(np.isnan(values), estimates.missing)
    cells = Cells(values, scale, hidden, more=estimates.more(values), gap=1)
    return Chart(title, columns, rows, [cells, *estimates.dots, *frames], estimates.says)


def head_axes(rows: Sequence[str], n_heads: int) -> tuple[Axis, Axis]:
    """Layers down, heads across."""
    return Axis("layer", names=rows), numbered("head", "H", n_heads)


def token_bars(labels: Sequence[str], values: np.ndarray, y: Axis, title: str,
               more: Mapping[str, np.ndarray] | None = None) -> Chart:  # fmt: skip
    """A signed number of each token, (T,); `more` are others, (T,) each, by their names."""
    bars = Bars(values, ink=SIGN, more=more or {})
    x = Axis("", names=labels, numbered=True)
    return Chart(title, x, y, [bars])


def named_bars(names: Sequence[str], values: np.ndarray, what: str, title: str) -> Chart:
    """Signed numbers below each other, each with its name."""
    bars = Bars(values, ink=SIGN, is_written=True)
    return Chart(title, Axis(what), Axis("", names=names), [bars])
