"""Charts of the lesson on cheaper attention: error by size, softmax over tiles, and memory."""

from collections.abc import Mapping, Sequence

import numpy as np

from viz.charts.chart import Axis, Bars, Chart, Line, Pen, Rule
from viz.labels import token_labels

DASHES = ("solid", "dash", "dot", "dashdot")
POWERS = {1e3: "1 kB", 1e6: "1 MB", 1e9: "1 GB", 1e12: "1 TB"}


def error_lines(sizes: Sequence[int], errors: Mapping[str, np.ndarray], chosen: str) -> Chart:
    """The error of z of each way at each size, (n,) each; the chosen way is strong."""
    lines = [
        Line(sizes, x, name, Pen(i, dash, 4) if name == chosen else Pen(i, dash, opacity=0.6))
        for i, ((name, x), dash) in enumerate(zip(errors.items(), DASHES, strict=False))
    ]
    x = Axis("size: window w or rank r", is_log=True, ticks=sizes)
    y = Axis("‖z′ − z‖ / ‖z‖", from_zero=True)
    return Chart("Error of z by size", x, y, lines)


def tile_bars(scores: np.ndarray, text: Sequence[str], maxima: np.ndarray, size: int) -> Chart:
    """One query's scores, (n,), and the running maximum after each tile that is done, (tiles,)."""
    n_done = min(len(maxima) * size, len(scores))
    bars = Bars(scores, "score", ink=[0] * n_done + ["muted"] * (len(scores) - n_done))
    ends = [min((tile + 1) * size, len(scores)) - 1 for tile in range(len(maxima))]
    pen = Pen(1, width=3, symbol="diamond", size=9, shape="vh")
    borders = [Rule("x", at - 0.5, ink="muted") for at in range(size, len(scores), size)]
    keys = Axis("key", names=token_labels(text))  # without numbers: the first may be masked
    marks = [bars, Line(ends, maxima, "largest so far", pen), *borders]
    return Chart("Scores of one query, cut into tiles", keys, Axis("score"), marks)


def output_bars(output: np.ndarray, exact: np.ndarray, title: str) -> Chart:
    """The output so far beside the exact one, number by number, (Dh,) each."""
    numbers = range(len(exact))
    stroke = Pen(1, dash=None, width=3, symbol="line-ew-open", size=9)
    marks = [Bars(output, "so far", numbers), Line(numbers, exact, "exact z", stroke)]
    x, y = Axis("number of z", kind="whole"), Axis("value")
    return Chart(title, x, y, marks)


def memory_lines(lengths: Sequence[int], sizes: Mapping[str, np.ndarray], n_tokens: int) -> Chart:
    """Bytes of one layer at each length, (n,) each, both scales logarithmic."""
    lines = [
        Line(lengths, values, name, Pen(dash=dash))
        for (name, values), dash in zip(sizes.items(), DASHES, strict=False)
    ]
    x = Axis("tokens", kind="count", is_log=True)
    y = Axis("bytes", kind="bytes", is_log=True, ticks=POWERS)
    title = "Bytes of one layer by length; dotted: this model’s context"
    return Chart(title, x, y, [*lines, Rule("x", n_tokens, ink="muted")])
