"""What translations show beside their instrument: losses, an alignment, the parts of a cache."""

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from viz.charts.chart import (
    Axis,
    Bars,
    Cells,
    Chart,
    Frame,
    Line,
    Pen,
    Scale,
    from_zero,
    numbered,
    tokens,
    weights,
)
from viz.digits import digits
from viz.labels import clipped

OWN_CHARACTERS = 10
INSET = 0.06  # by which frames around links keep off each other, in cells
DOT = Pen("frame", None, size=9)


def loss_bars(
    text: Sequence[str],
    losses: np.ndarray,
    own: Sequence[str | None],
    ids: Sequence[int] | np.ndarray,
    title: str,
) -> Chart:
    """−ln p of each token that was fed in, (T,); where the model would have written another, that.

    own: labels of those others, None where the model agrees; ids: of the tokens fed in.
    """
    most = ["the token itself" if word is None else word for word in own]
    bars = Bars(
        losses,
        ink=["muted" if word is None else "accent" for word in own],
        texts=["" if word is None else clipped(word, OWN_CHARACTERS) for word in own],
        more={"most likely": most, "id": ids},
    )
    y = Axis("−ln p", "nats", from_zero=True)
    return Chart(title, tokens("German token fed in", text), y, [bars])


def damage_map(words: Sequence[str], losses: Mapping[str, np.ndarray], title: str) -> Chart:
    """Loss of each word, (words,), under each damage by its name, with the sum beside the name."""
    names = [f"{name}: {digits(float(values.sum()), 1)}" for name, values in losses.items()]
    values = np.stack(list(losses.values()))
    cells = Cells(values, from_zero("loss", values, "nats"))
    x, y = Axis("German word", names=words, numbered=True), Axis("source", names=names)
    return Chart(title, x, y, [cells])


def alignment_map(
    pattern: np.ndarray,
    words: tuple[Sequence[str], Sequence[str]],
    sure: Collection[tuple[int, int]],
    title: str,
) -> Chart:
    """Weights between words, (target, source), with the links made by hand framed.

    words: of the source and of the target. A dot is where a row's largest weight is.
    """
    source, target = words
    best = pattern.argmax(axis=1)
    dots = Line(best, range(len(target)), pen=DOT, quiet=True)
    frames = [Frame((j, j), (i, i), width=2, inset=INSET) for i, j in sorted(sure)]
    n_right = sum((int(i), j) in sure for j, i in enumerate(best))
    return Chart(
        title,
        Axis("English word", names=source, numbered=True),
        Axis("German word", names=target, numbered=True),
        [Cells(pattern, weights()), dots, *frames],
        f"Framed is a link made by hand; the largest weight of {n_right} of {len(target)} rows "
        "is at one.",
    )


def error_rate_map(rates: np.ndarray, title: str) -> Chart:
    """Alignment error rate of each head of each layer, and of the mean of a layer. (L, H + 1)."""
    n_layers, n_heads = rates.shape[0], rates.shape[1] - 1
    heads = Axis("head", names=[*(f"H{head}" for head in range(n_heads)), "mean"])
    layers, cells = numbered("layer", "L", n_layers), Cells(rates, Scale("error rate"))
    return Chart(title, heads, layers, [cells])


def cache_growth(own: Sequence[int], of_source: Sequence[int], title: str) -> Chart:
    """Bytes of both parts of a cache by how many tokens of the target it holds, stacked."""
    parts = {"cross-attention: of the English": of_source, "self-attention: of the German": own}
    bars = [Bars(x, name, range(len(x)), is_stacked=True) for name, x in parts.items()]
    held = Axis("German tokens in the cache", kind="whole")
    size = Axis("bytes", kind="bytes", from_zero=True)
    return Chart(title, held, size, bars)
