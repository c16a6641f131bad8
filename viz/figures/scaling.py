"""Charts of the lesson on scaling: the best sizes, equal compute, our own runs."""

from collections.abc import Mapping, Sequence

import numpy as np

from viz.charts.chart import PLAIN, Axis, Chart, Line, Pen

LOSS, DASHES = Axis("loss", "nats per token"), ("solid", "dot", "dashdot", "dash", "solid")
DIAMOND, THIN = Pen("muted", dash=None, symbol="diamond", size=10), 1.5


def _counted(title: str) -> Axis:
    return Axis(title, kind="count", is_log=True)


def _here(x: float, y: float) -> Line:
    ring = Pen("text", dash=None, width=3, symbol="circle-open", size=13)
    return Line([x], [y], "chosen above", ring, in_legend=False)


def best_sizes(
    computes: np.ndarray,
    laws: Mapping[str, np.ndarray],
    known: tuple[Sequence[str], np.ndarray, np.ndarray],
    here: tuple[float, float],
) -> Chart:
    """The best size for each compute by each law; published models; where the page stands.

    known: names, compute and parameters of each. here: compute and size.
    """
    lines = [
        Line(computes, sizes, name, Pen(number, DASHES[number % len(DASHES)], symbol=None))
        for number, (name, sizes) in enumerate(laws.items())
    ]
    names, compute, sizes = known
    written = ["bottom left", "middle right", "bottom right"]
    points = Line(compute, sizes, "published models", DIAMOND, names=names, written=written,
                  in_legend=False)  # fmt: skip
    x = Axis("compute", "operations", kind="power", is_log=True, ends=(1e18, 1e26))
    y, marks = Axis("parameters", kind="power", is_log=True), [*lines, points, _here(*here)]
    return Chart("The best size by compute", x, y, marks)


def equal_compute(
    curves: Sequence[tuple[str, np.ndarray, np.ndarray]],
    best: tuple[np.ndarray, np.ndarray],
    here: tuple[float, float],
    title: str,
) -> Chart:
    """Loss by size where the compute is the same, a curve each: name, sizes, losses.

    best: size and loss that the law calls best on each curve. here: size and loss.
    """
    lines = [Line(sizes, losses, name, PLAIN) for name, sizes, losses in curves]
    marks = [*lines, Line(*best, "the law’s best size", DIAMOND), _here(*here)]
    return Chart(title, _counted("parameters"), LOSS, marks)


def own_runs(
    grid: np.ndarray,
    sizes: Sequence[tuple[str, np.ndarray, np.ndarray, np.ndarray]],
    beside: tuple[str, float, float, np.ndarray],
) -> Chart:
    """Measured loss by tokens, a colour for each size, and the fitted law as lines.

    sizes: name, tokens, losses, the law over `grid`. beside: a model that the law was not fitted
    to, its tokens and loss, and the law at its size.
    """
    fits, points = [], []
    for ink, (name, tokens, losses, law) in enumerate(sizes):
        fits.append(Line(grid, law, f"fit, {name}", _thin(ink), in_legend=False))
        points.append(Line(tokens, losses, name, Pen(ink, dash=None, size=10)))
    name, at, loss, law = beside
    own, ink = f"fit at the size of {name}", len(sizes)
    fits_beside = Line(grid, law, own, _thin(ink, "dot"))
    star = Line([at], [loss], f"{name}, not fitted", Pen(ink, None, symbol="star", size=13))
    title = "Loss on held-out text by tokens of training: measured (points), fitted (lines)"
    marks = [*fits, *points, fits_beside, star]
    return Chart(title, _counted("tokens of training"), LOSS, marks)


def _thin(ink: int, dash: str = "solid") -> Pen:
    return Pen(ink, dash, THIN, symbol=None)
