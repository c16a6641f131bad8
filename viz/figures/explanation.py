"""What arrows weigh against what they change, and what tokens are worth by several measures."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from viz.charts.chart import Axis, Cells, Chart, Line, Pen, Scale, signed
from viz.figures.attribution import Estimates

RINGS = (1, 2, 3, "frame")
RELATIVE = Scale("of the row’s largest", -1.0, 1.0, "signed")


@dataclass(frozen=True, eq=False)
class Cloud:
    """Arrows as points: a measure (N,), the effect of removing each (N,), and what each is called.

    `marked` are the numbers of those to ring, by what their ring is called. Effects that are
    `estimated` are hollow. `more` are further numbers of each, by their names.
    """

    measure: np.ndarray
    effects: np.ndarray
    names: Sequence[str]
    marked: Mapping[str, int]
    estimated: np.ndarray
    more: Mapping[str, np.ndarray] = field(default_factory=dict)


def arrow_scatter(cloud: Cloud, title: str, words: tuple[str, str]) -> Chart:
    """Every arrow: the measure across, what its removal takes from the metric upward.

    words: the measure's name, and the unit of the metric.
    """
    estimates = Estimates(cloud.estimated, np.full(len(cloud.effects), np.nan))
    symbols = np.where(cloud.estimated, "circle-open", "circle").tolist()
    dots = Line(
        cloud.measure,
        cloud.effects,
        pen=Pen(0, None, symbol=symbols, size=6, opacity=0.55),
        names=cloud.names,
        more={**cloud.more, **estimates.more(cloud.effects)},
    )
    rings = [
        Line([cloud.measure[i]], [cloud.effects[i]], name, Pen(ink, None, 3, "circle-open", 13),
             quiet=True)
        for (name, i), ink in zip(cloud.marked.items(), RINGS, strict=False)
    ]  # fmt: skip
    measure, unit = words
    y = Axis("lost without the edge", unit)
    return Chart(title, Axis(measure), y, [dots, *rings], estimates.says, height=440)


def token_rows(rows: Mapping[str, np.ndarray], labels: Sequence[str], title: str) -> Chart:
    """What each token is worth by each measure, (T,) each; colours: of the row's largest.

    On hover the number itself. The first row is on top.
    """
    values = np.stack(list(rows.values()))
    largest = np.abs(values).max(axis=1, keepdims=True)
    shades = values / np.where(largest > 0, largest, 1.0), RELATIVE
    cells = Cells(values, signed("worth", values), shades=shades, gap=1)
    most = [f"{name} “{labels[int(np.abs(x).argmax())]}”" for name, x in rows.items()]
    x, y = Axis("token", names=labels, numbered=True), Axis("", names=list(rows))
    says = f"Largest of its row: {', '.join(most)}."
    return Chart(title, x, y, [cells], says, 170 + 34 * len(rows))
