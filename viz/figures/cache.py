"""The cache as charts: keys or values as they enter it, and the time they save."""

from collections.abc import Mapping, Sequence

import numpy as np

from viz.charts.chart import (
    Axis,
    Cells,
    Chart,
    Frame,
    Hidden,
    Line,
    Pen,
    Rule,
    from_zero,
    tokens,
)

MOST_LAYERS = 8
UNITS = ("bytes", "kB", "MB", "GB", "TB")
RAISED = str.maketrans("0123456789.-", "⁰¹²³⁴⁵⁶⁷⁸⁹·⁻")
TICKS = [digit * 10.0**power for power in range(-4, 7) for digit in (1, 2, 5)]
MILLISECONDS = Axis("milliseconds", is_log=True, ticks=TICKS)


def bytes_text(n_bytes: float) -> str:
    """Bytes as people write them, in powers of 1000 with three digits: 9.66 GB."""
    unit = 0
    while n_bytes >= 999.5 and unit < len(UNITS) - 1:
        n_bytes, unit = n_bytes / 1000, unit + 1
    return f"{n_bytes:.3g} {UNITS[unit]}" if n_bytes < 999.5 else f"{n_bytes:,.0f} {UNITS[unit]}"


def cache_map(
    lengths: np.ndarray, n_cached: int, n_prefill: int, text: Sequence[str], title: str
) -> Chart:
    """Length of each token's key or value in each layer, (L, T); what is not cached is hatched.

    Of many layers some are drawn, from the first to the last. Colours keep their meaning while the
    cache fills. A line marks the end of the prefill, a frame the tokens that the last step brought.
    """
    layers = np.unique(np.linspace(0, len(lengths) - 1, MOST_LAYERS).round().astype(int))
    title = title if len(layers) == len(lengths) else f"{title}, {len(layers)} of its layers"
    lengths = lengths[layers]
    n_layers, n_tokens = lengths.shape
    empty = np.broadcast_to(np.arange(n_tokens) >= n_cached, lengths.shape)
    cells = Cells(lengths, from_zero("length", lengths), Hidden(empty, "empty: not computed yet"))
    first = 0 if n_cached == n_prefill else n_cached - 1
    brought = [Frame((0, n_layers - 1), (first, n_cached - 1))] if n_cached else []
    is_left = n_prefill > n_tokens / 2
    words = "prefill ends" if is_left else "decoding starts here"
    ends = [Rule("x", n_prefill - 0.5, words, ("left" if is_left else "right", "above"))]
    marks = [cells, *(ends if n_prefill < n_tokens else []), *brought]
    return Chart(
        title, tokens("token", text), Axis("layer", names=[f"L{i}" for i in layers]), marks
    )


def timing_lines(
    lines: Mapping[str, Mapping[int, float]],
    fits: Mapping[str, tuple[float, float]],
    fitted_from: int,
    title: str,
) -> Chart:
    """Milliseconds of one more token by text length, one line per way, both axes logarithmic.

    lines: seconds by length. fits: exponent and factor of a line's power, for those that have
    one, drawn dotted from `fitted_from` tokens on.
    """
    marks: list[Line] = []
    for ink, (name, seconds) in enumerate(lines.items()):
        sizes, times = np.array(list(seconds)), 1000 * np.array(list(seconds.values()))
        marks.append(Line(sizes, times, name, Pen(ink)))
        if name in fits:
            power, factor = fits[name]
            far = sizes[sizes >= fitted_from].astype(float)
            label = f"∝ n{f'{power:.2f}'.translate(RAISED)}"
            dotted = Pen(ink, "dot", symbol=None)
            marks.append(Line(far, 1000 * factor * far**power, label, dotted, quiet=True))
    every = sorted({n for seconds in lines.values() for n in seconds})
    x = Axis("tokens in the text", kind="count", is_log=True, ticks=every)
    return Chart(title, x, MILLISECONDS, marks)
