"""FlashAttention's idea: one query's row in tiles, and the memory that saves."""

import math

import numpy as np

from model.analysis.cheaper import Head
from model.analysis.tiles import LENGTHS, State, map_bytes, over_tiles, running_bytes, seen
from viz import formulas_cheaper as formulas
from viz.digits import digits
from viz.figures.cache import bytes_text
from viz.figures.cheaper import memory_lines, output_bars, tile_bars
from viz.frame import controls, inspector, layout, words
from viz.frame.inspector import Tables
from viz.frame.settings import TILE_SIZE, TILES_DONE, TOKEN
from viz.frame.view import View

ALLOWED_ERROR = 1e-5  # as in model.verify
MOST_ROWS = 8  # tiles in the table


def section(view: View, head: Head) -> Tables:
    """Exact attention in tiles, and its memory."""
    layout.section(
        "Exact, in tiles",
        "FlashAttention never holds a whole row: a running maximum and a running sum are enough.",
        "It leaves out nothing. Keys come in tiles that fit into fast memory. Where a tile has a "
        "larger score, what was summed before is scaled down by e^(old maximum − new one), so the "
        "output after the last tile is the exact one, up to rounding.",
    )
    with layout.slim_row("tiles"):
        query = controls.token(
            TOKEN.given(label="Query"), view.tokens, len(view.tokens) - 1, "last"
        )
        size_of_tile = controls.number(TILE_SIZE)
        keys = np.flatnonzero(head.mask[query])
        n_tiles = math.ceil(len(keys) / size_of_tile)
        n_done = 1
        if n_tiles > 1:
            n_done = int(controls.slider(TILES_DONE.given(high=n_tiles)))
    record = view.record
    scores, exact = record.scores[view.head][query], record.z[view.head][query]
    values = record.v[record.kv_head(view.head)][keys]
    sink = -math.inf if record.sinks is None else float(record.sinks[view.head])
    states = over_tiles(scores[keys], values, size_of_tile, sink)
    left, right = layout.two_up("tiles")
    with left:
        _scores(view, scores[keys], keys, states[:n_done], size_of_tile)
    with right:
        _output(states, n_done, exact)
    _table(states, n_done)
    _say_how_exact(states[-1], exact, n_done == n_tiles)
    formula = formulas.tiles(states[n_done - 1].maximum, states[n_done - 1].total)
    inspector.formula("model.analysis.tiles.over_tiles", formula.latex, formula.reference)
    _memory(view)
    return {}


def _scores(
    view: View, scores: np.ndarray, keys: np.ndarray, done: list[State], size_of_tile: int
) -> None:
    tokens, maxima = [view.tokens[key] for key in keys], [state.maximum for state in done]
    chart = tile_bars(scores, tokens, np.array(maxima), size_of_tile)
    layout.show_chart(chart, key="tile-scores")


def _output(states: list[State], n_done: int, exact: np.ndarray) -> None:
    title = f"Output after {n_done} of {len(states)} tiles"
    chart = output_bars(states[n_done - 1].output, exact, title)
    layout.show_chart(chart, key="tile-output")


def _table(states: list[State], n_done: int) -> None:
    """What was kept after each of the last tiles that are done."""
    shown = range(max(0, n_done - MOST_ROWS), n_done)

    def column(values: list[float]) -> list[str]:
        return [digits(values[tile]) for tile in shown]

    words.table(
        {
            "after tile": [f"{tile + 1} of {len(states):,}" for tile in shown],
            "maximum m": column([state.maximum for state in states]),
            "sum ℓ": column([state.total for state in states]),
            "weight so far": column([seen(state, states[-1]) for state in states]),
        }
    )


def _say_how_exact(last: State, exact: np.ndarray, is_done: bool) -> None:
    """The output after all tiles against the head's own z, which had its row whole."""
    error = float(np.abs(last.output - exact).max() / np.abs(exact).max())
    ending = "" if is_done else " Move the slider to the end to see it."
    words.caption(
        f"After the last tile the output is the head’s own z up to rounding: error {error:.1e} in "
        f"float32, relative to its largest number.{ending}"
    )
    inspector.check(
        error <= ALLOWED_ERROR,
        f"the output after all tiles is the head’s own z, max error {error:.1e} (allowed "
        f"{ALLOWED_ERROR:.0e}).",
    )


def _memory(view: View) -> None:
    """Bytes of a layer's maps and of what tiles keep in their place."""
    n_heads, context = view.config.n_heads, view.config.max_seq_len
    sizes = {
        "maps, n²": np.array([map_bytes(n_heads, n) for n in LENGTHS], float),
        "running maximum and sum, n": np.array([running_bytes(n_heads, n) for n in LENGTHS], float),
    }
    left, right = layout.two_up("tile-memory", (3, 2))
    with left:
        layout.show_chart(memory_lines(LENGTHS, sizes, context), key="tile-memory")
    with right:
        _memory_table(n_heads)
        words.caption(
            f"By formula, for a layer of {n_heads} heads in float32, beside q, k, v and z, which "
            "both need. Fewer bytes to move is also why tiles are faster on a GPU, though they "
            "multiply as often."
        )
    formula = formulas.memory(n_heads, context)
    inspector.formula("model.analysis.tiles.map_bytes", formula.latex, formula.reference)


def _memory_table(n_heads: int) -> None:
    shown = [0, 4, 8, len(LENGTHS) - 1]
    words.table(
        {
            "tokens": [f"{LENGTHS[i]:,}" for i in shown],
            "maps": [bytes_text(map_bytes(n_heads, LENGTHS[i])) for i in shown],
            "maximum and sum": [bytes_text(running_bytes(n_heads, LENGTHS[i])) for i in shown],
        }
    )
