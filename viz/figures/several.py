"""Charts of the lesson on several heads: W_O, what heads write, their spectra, their likeness."""

from collections.abc import Sequence

import numpy as np

from viz.charts.chart import (
    FAINT,
    STRONG,
    Axis,
    Cells,
    Chart,
    Frame,
    Line,
    Scale,
    around,
    from_zero,
    numbered,
    signed,
    tokens,
)

FEW = 8  # numbered rows of a large matrix


def side_by_side(z: np.ndarray, head: int, title: str) -> Chart:
    """Each head's slice of one token, (H, Dh), a row for each; the chosen one framed."""
    marks = [Cells(z, signed("z", z)), Frame((head, head), (0, z.shape[1] - 1))]
    x, y = Axis("column of its slice", kind="whole"), numbered("head", "H", len(z))
    return Chart(title, x, y, marks)


def output_map(w_o: np.ndarray, heads: tuple[int, int], title: str) -> Chart:
    """W_O, (D, H·Dh), the columns that meet one head's z framed. heads: which, and how many."""
    head, n_heads = heads
    width = w_o.shape[1] // n_heads
    framed = Frame((0, len(w_o) - 1), (head * width, (head + 1) * width - 1))
    middles = {h * width + width // 2: f"H{h}" for h in range(n_heads)}
    rows = range(0, len(w_o), max(1, len(w_o) // FEW))
    x, y = Axis("columns by head", ticks=middles), Axis("row: a column of the stream", ticks=rows)
    return Chart(title, x, y, [Cells(w_o, signed("weight", w_o)), framed])


def written_map(lengths: np.ndarray, text: Sequence[str], head: int, title: str) -> Chart:
    """How much each head writes for each token, (H, T); the chosen head framed."""
    framed = Frame((head, head), (0, len(text) - 1))
    marks = [Cells(lengths, from_zero("length", lengths)), framed]
    heads = numbered("head", "H", len(lengths))
    return Chart(title, tokens("token", text), heads, marks)


def spectrum_lines(values: np.ndarray, head: int, title: str) -> Chart:
    """Singular values of each head, (H, Dh), falling; the chosen head's line is strong."""
    numbers = range(1, values.shape[1] + 1)
    lines = [Line(numbers, row, f"H{h}", STRONG if h == head else FAINT)
             for h, row in enumerate(values)]  # fmt: skip
    x, y = Axis("number, largest first"), Axis("singular value", from_zero=True)
    return Chart(title, x, y, lines)


def alike_map(cosines: np.ndarray, heads: tuple[int, int], title: str) -> Chart:
    """The cosine of every two heads, (H, H). heads: the chosen one, and the one most like it."""
    axis = numbered("head", "H", len(cosines))
    marks = [Cells(cosines, Scale("cosine", -1.0, 1.0, "signed")), around(heads)]
    says = f"H{heads[0]} is most like H{heads[1]}."
    return Chart(title, axis, axis, marks, says, is_square=True)
