"""Cheaper attention: fewer pairs, a running sum, fewer directions; and the exact one in tiles."""

import math

import numpy as np

from model.analysis.cheaper import (
    MASKS,
    WAYS,
    Head,
    Sizes,
    difference,
    errors_by_size,
    multiplications,
    positive_map,
    running_sum,
    sizes_tried,
)
from model.analysis.tiles import LENGTHS, map_bytes, over_tiles, running_bytes, seen
from viz.digits import digits
from viz.figures.cache import bytes_text
from viz.figures.cheaper import error_lines, memory_lines, output_bars, tile_bars
from viz.figures.token_maps import pattern_map
from viz.formulas import cheaper as formulas
from viz.frame import controls, inspector, layout, scenes, words
from viz.frame.page import Numbers, Page
from viz.frame.said import Said
from viz.frame.settings import CHEAPER, GLOBAL, KEPT_RANK, TILE_SIZE, TILES_DONE, TOKEN, WINDOW
from viz.frame.view import View

OWN_WINDOW = WINDOW.given(label="Window w", default=4, high=512)
OWN_GLOBAL = GLOBAL.given(label="Global g", default=1)
ALLOWED_ERROR = 1e-5  # as in model.verify


KEEPS = {OWN_WINDOW: ("window", "global"), OWN_GLOBAL: ("global",), KEPT_RANK: ("low_rank",)}


def _chosen(*, shows_all: bool = False) -> tuple[str, Sizes]:
    """The way that is chosen, and how much each keeps, to be set of those that are shown."""
    with scenes.to_set():
        way = controls.segments(CHEAPER)
        sizes = [
            controls.number(setting, is_off=not (shows_all or way in ways))
            for setting, ways in KEEPS.items()
        ]
    return way, Sizes(*sizes)


def _fewer(view: View) -> Numbers:
    """The exact weights beside those of the chosen way."""
    head, (way, sizes) = Head.of(view.record, view.head), _chosen()
    weights, mask = WAYS[way](head, sizes), MASKS[way](head, sizes)
    apart, name = difference(head, weights), CHEAPER.words(way)
    error, exact = digits(apart.error, 3), f"{view.head_name} exact"
    charts = {
        "cheaper-exact": pattern_map(view.pattern, head.mask, view.tokens, exact),
        "cheaper-way": pattern_map(weights, mask, view.tokens, f"{name}: error of z {error}"),
    }
    layout.show_charts(charts)
    formula = formulas.way(way, *sizes)
    source = f"model.analysis.cheaper.{way}_weights"
    inspector.formula(source, formula)
    return {"way": name, "error": error, "moved": digits(apart.moved, 3)}


def _errors(view: View) -> Numbers:
    """How the error falls as each way keeps more, and a row for each at the chosen sizes."""
    head, (chosen, sizes) = Head.of(view.record, view.head), _chosen(shows_all=True)
    errors = {CHEAPER.words(way): errors_by_size(head, way, sizes) for way in WAYS}
    chart = error_lines(sizes_tried(len(head.q)), errors, CHEAPER.words(chosen))
    layout.show_chart(chart, key="cheaper-errors")
    found = {way: WAYS[way](head, sizes) for way in WAYS}
    apart = [difference(head, weights) for weights in found.values()]
    columns: dict[str, list[Said]] = {
        "way": ["exact", *errors],
        "error": ["0", *(digits(x.error) for x in apart)],
        "moved": ["0", *(digits(x.moved) for x in apart)],
        "multiplications": [f"{multiplications(head, x, sizes):,}" for x in ("exact", *WAYS)],
    }
    words.table(columns)
    if head.is_causal:
        summed = running_sum(positive_map(head.q), positive_map(head.k), head.v)
        error = float(np.abs(summed - found["linear"] @ head.v).max() / np.abs(summed).max())
        inspector.check(
            error <= ALLOWED_ERROR,
            "linear attention as a running sum gives the z of its weights, max error "
            f"{error:.1e} (allowed {ALLOWED_ERROR:.0e}).",
        )
    lacks = {"biased", "capped", "sunk"} & {*view.record.stages}
    without = " Linear attention goes without this model’s bias, soft cap and sink."
    return {"head": view.head_name, "left out": without if lacks else ""}


def _tiles(view: View) -> Numbers:
    """One query's row in tiles: its scores, and its output so far beside the exact one."""
    record, mask = view.record, view.record.mask_of(view.head)
    with scenes.to_set():
        at = TOKEN.given(label="Query")
        query = controls.token(at, view.tokens, len(view.tokens) - 1, "last")
        size, keys = controls.number(TILE_SIZE), np.flatnonzero(mask[query])
        n_tiles, n_done = math.ceil(len(keys) / size), 1
        if n_tiles > 1:
            n_done = int(controls.slider(TILES_DONE.given(high=n_tiles)))
    scores, exact = record.scores[view.head][query, keys], record.z[view.head][query]
    sink = -math.inf if record.sinks is None else float(record.sinks[view.head])
    states = over_tiles(scores, record.v[record.kv_head(view.head)][keys], size, sink)
    now, last = states[n_done - 1], states[-1]
    tokens = [view.tokens[key] for key in keys]
    maxima = np.array([state.maximum for state in states[:n_done]])
    title = f"Output after {n_done} of {n_tiles} tiles"
    charts = {
        "tile-scores": tile_bars(scores, tokens, maxima, size),
        "tile-output": output_bars(now.output, exact, title),
    }
    layout.show_charts(charts)
    inspector.formula("model.analysis.tiles.over_tiles", formulas.tiles(now.maximum, now.total))
    error = float(np.abs(last.output - exact).max() / np.abs(exact).max())
    inspector.check(
        error <= ALLOWED_ERROR,
        f"the output after all tiles is the head’s own z, max error {error:.1e} (allowed "
        f"{ALLOWED_ERROR:.0e}).",
    )
    return {
        "tiles": f"{n_done} of {n_tiles}",
        "maximum": digits(now.maximum),
        "sum": digits(now.total),
        "seen": digits(seen(now, last)),
        "error": f"{error:.1e}",
    }


def _memory(view: View) -> Numbers:
    """Bytes of a layer's maps and of what tiles keep in their place."""
    n_heads, context = view.config.n_heads, view.config.max_seq_len
    kept = {"maps, n²": map_bytes, "running maximum and sum, n": running_bytes}
    sizes = {name: np.array([of(n_heads, n) for n in LENGTHS], float) for name, of in kept.items()}
    layout.show_chart(memory_lines(LENGTHS, sizes, context), key="tile-memory")
    inspector.formula("model.analysis.tiles.map_bytes", formulas.memory(n_heads, context))
    return {
        "heads": str(n_heads),
        "tokens": f"{LENGTHS[-1]:,}",
        "maps": bytes_text(map_bytes(n_heads, LENGTHS[-1])),
        "sums": bytes_text(running_bytes(n_heads, LENGTHS[-1])),
    }


PAGE = Page(
    "Cheaper attention",
    ":material/speed:",
    "Exact attention compares all n² pairs. What is lost with fewer?",
    needs=("decoder",),
    scenes={"fewer": _fewer, "errors": _errors, "tiles": _tiles, "memory": _memory},
    wide=("fewer", "tiles"),
    needs_two=("fewer", "errors"),
    source=(
        "model.analysis.cheaper.global_mask",
        "model.analysis.cheaper.linear_weights",
        "model.analysis.cheaper.running_sum",
        "model.analysis.cheaper.low_rank_weights",
        "model.analysis.tiles.over_tiles",
    ),
)
