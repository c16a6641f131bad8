"""Charts of the lesson on the block: the stream step by step, norms, neurons, all blocks."""

from collections.abc import Mapping, Sequence

import numpy as np

from viz.charts.chart import Axis, Bars, Cells, Chart, Line, Pen, Scale, signed
from viz.digits import digits

INKS = {"norm": "muted", "attention": 1, "MLP": 2}  # of the kinds of steps


def step_map(values: np.ndarray, names: Sequence[str], title: str) -> Chart:
    """The vector of one token after each step, (steps, D).

    Colours are of shares of each step's largest magnitude.
    """
    largest = np.abs(values).max(axis=-1, keepdims=True)
    shares = values / np.where(largest > 0, largest, 1)
    shades = shares, Scale("÷ its largest", -1.0, 1.0, "signed")
    cells = Cells(values, signed("value", values), shades=shades)
    x, y = Axis("dimension", kind="whole"), Axis("", names=names)
    return Chart(title, x, y, [cells])


def length_bars(
    lengths: np.ndarray, names: Sequence[str], kinds: Sequence[str], title: str
) -> Chart:
    """The length of one token's vector after each step, (steps,), by what kind of step it is.

    What is added has a colour of its own, and norms are grey: the rest is the stream.
    """
    inks = [INKS.get(kind, 0) for kind in kinds]
    written = [digits(float(length), 1) for length in lengths]
    # With room for the number at the end of the longest.
    x = Axis("length", ends=(0, 1.15 * (np.nanmax(lengths, initial=0.0) or 1.0)))
    return Chart(title, x, Axis("", names=names), [Bars(lengths, ink=inks, texts=written)])


def norm_scatter(before: np.ndarray, after: Mapping[str, np.ndarray], title: str) -> Chart:
    """Each number of one vector before and after kinds of norm, (D,) each."""
    symbols = ("circle", "diamond-open", "cross-thin-open")
    points = [
        Line(before, values, name, Pen(dash=None, width=1, symbol=symbol, size=5))
        for (name, values), symbol in zip(after.items(), symbols, strict=True)
    ]
    return Chart(title, Axis("before"), Axis("after, without gain"), points)


def gain_bars(weights: Mapping[str, np.ndarray], title: str) -> Chart:
    """What each number is multiplied by after its norm, (D,), and what is added where any is."""
    (name, values), *others = weights.items()
    if not others:
        return _numbers([Bars(values, at=range(len(values)))], title, "dimension", name)
    bars = [Bars(values, name, range(len(values))) for name, values in weights.items()]
    return _numbers(bars, title, "dimension", "value")


def neuron_bars(activation: np.ndarray, title: str) -> Chart:
    """The activation of each neuron, (F,)."""
    bars = Bars(activation, at=range(len(activation)))
    return _numbers([bars], title, "neuron", "activation")


def _numbers(bars: Sequence[Bars], title: str, x: str, y: str) -> Chart:
    return Chart(title, Axis(x, kind="whole"), Axis(y), bars)


def activation_points(
    curves: Mapping[str, tuple[np.ndarray, np.ndarray]],
    own: str,
    points: tuple[np.ndarray, np.ndarray],
    title: str,
) -> Chart:
    """Activation functions, the model's own drawn thick, and where each neuron stands on it."""
    neurons = {"neuron": np.arange(len(points[0]))}
    others = [name for name in curves if name != own]
    pens = {name: Pen(ink, "dot", 1.5, symbol=None) for ink, name in enumerate(others, start=1)}
    lines = [
        Line(*curve, name, pens[name])
        if name in pens
        else Line(*curve, f"{name}, the model’s", Pen("muted", width=3, symbol=None))
        for name, curve in curves.items()
    ]
    dots = Line(*points, "neurons", Pen(0, dash=None, size=5, opacity=0.6), more=neurons)
    return Chart(title, Axis("pre-activation"), Axis("f(pre-activation)"), [*lines, dots])


def heights(
    stream: np.ndarray, added: Mapping[str, np.ndarray], n_blocks: int, title: str
) -> Chart:
    """The length of the stream before each block and after the last, (L + 1,), and what is added.

    added: lengths of what each block's sublayers give, (L,) each. Those of the first `n_blocks` are
    drawn, on the axes of all.
    """
    most = max(np.nanmax(values, initial=0.0) for values in (stream, *added.values())) or 1.0
    so_far = stream[: n_blocks + 1]
    line = Line(range(len(so_far)), so_far, "stream", Pen(0, width=3))
    bars = [
        Bars(values[:n_blocks], name, ink=ink)
        for ink, (name, values) in enumerate(added.items(), 1)
    ]
    blocks = Axis("block", names=[*(f"L{layer}" for layer in range(len(stream) - 1)), "end"])
    return Chart(title, blocks, Axis("length", ends=(0, 1.05 * most)), [line, *bars])
