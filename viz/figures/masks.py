"""Masks as charts: receptive field, cost, and what leaks without one."""

from collections.abc import Mapping, Sequence

import numpy as np

from viz.charts.chart import (
    Axis,
    Bars,
    Cells,
    Chart,
    Hidden,
    Line,
    Pen,
    Rule,
    Scale,
    numbered,
    tokens,
    weights,
)
from viz.digits import digits

EVERY_PAIR = "all pairs, n²"
ORDERS = {
    "before": "−∞ before softmax (this model)",
    "score_zero": "score 0 before softmax",
    "after": "zero after softmax",
}
DASHES = ("solid", "dash", "dot")


def leak_curves(visible_sums: Mapping[str, np.ndarray], text: Sequence[str]) -> Chart:
    """What each query's visible cells sum to, (T,), under each order of mask and softmax."""
    lines = [
        Line(range(len(text)), visible_sums[order], name, Pen(dash=dash))
        for (order, name), dash in zip(ORDERS.items(), DASHES, strict=True)
    ]
    title, sums = (
        "Weight left for the tokens a query may attend to",
        Axis("sum over visible cells", ends=(0, 1.06)),
    )
    return Chart(title, tokens("query", text), sums, lines)


def receptive_field_map(
    layers: np.ndarray, text: Sequence[str], n_layers: int, within: int | None = None
) -> Chart:
    """Layers until a token can be influenced by another, (T, T), −1 where never, which is hatched.

    The colours end at the number of layers the model has: beyond it nothing arrives either. What
    takes more layers than `within` is hatched too.
    """
    scale = Scale("layers", 0.0, float(max(n_layers, int(layers.max(initial=1)))))
    hidden = Hidden(layers < 0, "never: no path through the mask")
    title = f"Layers until the column's token can influence the row's (this model: {n_layers})"
    if within is not None:
        hidden = Hidden((layers < 0) | (layers > within), f"not within {within}")
        title = f"What the column's token can influence within {within} of {n_layers} layers"
    cells = Cells(layers, scale, hidden)
    return Chart(
        title, tokens("influenced by", text), tokens("token", text), [cells], is_square=True
    )


def receptive_field_curve(sizes: Sequence[int], n_layers: int, n_tokens: int) -> Chart:
    """How many tokens can influence the last one after 0, 1, 2, … layers."""
    line = Line(range(len(sizes)), sizes, pen=Pen(shape="hv"))
    model = Rule("x", n_layers, f"this model: {n_layers} layers", ("left", "bottom"))
    y = Axis("tokens", kind="whole", ends=(0, 1.08 * n_tokens))
    title = "Receptive field of the last token"
    return Chart(title, Axis("layers", kind="whole"), y, [line, model])


def cost_curves(lengths: Sequence[int], pairs: Mapping[str, Sequence[int]], chosen: str) -> Chart:
    """Attended pairs over the length of the text for each kind of mask; the chosen is strong."""
    lines = []
    for name, counts in pairs.items():
        dash = "dot" if name == EVERY_PAIR else "solid"
        width, opacity = (4, 1.0) if name == chosen else (1.5, 0.55)
        pen = Pen(dash=dash, width=width, symbol=None, opacity=opacity)
        lines.append(Line(lengths, counts, name, pen))
    x, y = (Axis(name, kind="count", is_log=True) for name in ("tokens", "pairs"))
    return Chart("Cost: attended pairs by length", x, y, lines)


def loss_bars(losses: Mapping[str, np.ndarray], text: Sequence[str]) -> Chart:
    """The loss of each token but the first, (T − 1,), under each mask, side by side."""
    bars = [Bars(values, name) for name, values in losses.items()]
    title = "Loss of each token: −ln of its predicted probability"
    predicted = tokens("token predicted", text)
    x = Axis(predicted.title, names=(predicted.names or ())[1:], numbered=True)
    return Chart(title, x, Axis("loss", "nats", from_zero=True), bars)


def change_bars(changes: Mapping[str, np.ndarray], text: Sequence[str], title: str) -> Chart:
    """The largest change of a next-token probability at each position, (T,), under each mask."""
    bars = [Bars(values, name) for name, values in changes.items()]
    y = Axis("change of a probability", from_zero=True)
    return Chart(title, tokens("after token", text), y, bars)


def share_map(shares: np.ndarray, title: str) -> Chart:
    """A share between 0 and 1 for every layer and head, (L, H), each written in its cell."""
    n_layers, n_heads = shares.shape
    texts = [[digits(float(share), 3) for share in row] for row in shares]
    cells = Cells(shares, weights("share"), texts=texts)
    axes = numbered("head", "H", n_heads), numbered("layer", "L", n_layers)
    return Chart(title, *axes, [cells])
