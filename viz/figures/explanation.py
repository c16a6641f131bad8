"""What arrows weigh against what they change, and what tokens are worth by several measures."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from viz.charts.chart import RING, Axis, Cells, Chart, Line, Pen, Scale, signed
from viz.figures.attribution import Estimates

RINGS = (1, 2, 3, "frame")
RELATIVE = Scale("of the row’s largest", -1.0, 1.0, "signed")


def arrow_scatter(
    points: tuple[np.ndarray, np.ndarray],
    names: Sequence[str],
    marked: Mapping[str, int],
    estimates: Estimates,
    words: tuple[str, str, str],
) -> Chart:
    """Every arrow: a measure across, what its removal takes from the metric upward, (N,) each.

    Those that are `marked` have a ring, and beside it what it is called; estimates are hollow.
    words: the title, the measure's name, and the unit of the metric.
    """
    (measure, effects), (title, across, unit) = points, words
    symbols = np.where(estimates.cells, "circle-open", "circle").tolist()
    pen = Pen(0, None, symbol=symbols, size=6, opacity=0.55)
    dots = Line(measure, effects, pen=pen, names=names, more=estimates.more(effects))
    middle = float(np.nanmin(measure) + np.nanmax(measure)) / 2
    rings = [
        Line([measure[i]], [effects[i]], name, replace(RING, ink=ink), texts=[name], quiet=True,
             written="middle left" if measure[i] > middle else "middle right", in_legend=False)
        for (name, i), ink in zip(marked.items(), RINGS, strict=False)
    ]  # fmt: skip
    y = Axis("lost without the edge", unit)
    return Chart(title, Axis(across), y, [dots, *rings], estimates.says, height=390)


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
