"""Cheaper attention: fewer pairs, a running sum, fewer directions; and the exact one in tiles."""

from collections.abc import Callable, Mapping

import numpy as np

from model.analysis.cheaper import (
    MASKS,
    WAYS,
    Difference,
    Head,
    Sizes,
    difference,
    errors_by_size,
    multiplications,
    positive_map,
    running_sum,
    sizes_tried,
)
from viz import formulas_cheaper as formulas
from viz.digits import digits
from viz.figures.cheaper import error_lines
from viz.figures.token_maps import pattern_map
from viz.frame import controls, inspector, layout, words
from viz.frame.inspector import Tables
from viz.frame.page import Page
from viz.frame.said import Said
from viz.frame.settings import CHEAPER, CHEAPER_VIEW, GLOBAL, KEPT_RANK, WINDOW
from viz.frame.view import View
from viz.pages.lessons.cheaper import tiles

OWN_WINDOW = WINDOW.given(label="Window w", default=4, high=512)
OWN_GLOBAL = GLOBAL.given(label="Global g", default=1)
ALLOWED_ERROR = 1e-5  # of the running sum against its weights


def render(view: View) -> None:
    """Draw the page."""
    with layout.beside_heading():
        shown = controls.segments(CHEAPER_VIEW)
    head = Head.of(view.record, view.head)
    csv_files = DRAW[shown](view, head)
    _ways_on()
    inspector.source(
        "model.analysis.cheaper.global_mask",
        "model.analysis.cheaper.linear_weights",
        "model.analysis.cheaper.running_sum",
        "model.analysis.cheaper.low_rank_weights",
        "model.analysis.tiles.over_tiles",
    )
    inspector.export(view, csv_files)


def _fewer(view: View, head: Head) -> Tables:
    """What each way with fewer pairs or directions loses."""
    with layout.slim_row("cheaper"):
        way = controls.segments(CHEAPER)
        sizes = Sizes(*map(controls.number, (OWN_WINDOW, OWN_GLOBAL, KEPT_RANK)))
    found = {name: WAYS[name](head, sizes) for name in WAYS}
    _maps(view, head, way, sizes, found[way])
    _errors(view, head, way, sizes, found)
    words.ask(
        "Many heads leave weight on the first token. How much of a window’s error does one global "
        "token take away?",
        see="cheaper-errors",
        **{CHEAPER.name: "global", WINDOW.name: "4", GLOBAL.name: "1"},
    )
    return {}


def _in_words(way: str, sizes: Sizes) -> str:
    return {
        "window": f"w = {sizes.window}",
        "global": f"w = {sizes.window}, g = {sizes.n_global}",
        "linear": "–",
        "low_rank": f"r = {sizes.rank}",
    }[way]


def _maps(view: View, head: Head, way: str, sizes: Sizes, weights: np.ndarray) -> None:
    """The exact weights beside those of the chosen way."""
    apart = difference(head, weights)
    mask, name = MASKS[way](head, sizes), CHEAPER.words(way)
    left, right = layout.two_up("cheaper")
    with left:
        chart = pattern_map(view.pattern, head.mask, view.tokens, f"{view.head_name} exact")
        layout.show_chart(chart, key="cheaper-exact")
    with right:
        title = f"{name}: error of z {digits(apart.error, 3)}"
        layout.show_chart(pattern_map(weights, mask, view.tokens, title), key="cheaper-way")
    formula = formulas.way(way, *sizes)
    source = f"model.analysis.cheaper.{way}_weights"
    inspector.formula(source, formula.latex, formula.reference)


def _errors(
    view: View, head: Head, way: str, sizes: Sizes, found: Mapping[str, np.ndarray]
) -> None:
    """A row for each way, and the error of each at other sizes."""
    left, right = layout.two_up("cheaper-errors")
    with left:
        _by_size(head, way, sizes)
    with right:
        _table(head, sizes, {name: difference(head, found[name]) for name in found})
        words.caption(
            "Error: ‖z′ − z‖ / ‖z‖ over all tokens. Moved: weight that sits on other keys, mean "
            "over rows. Multiplications of this head on this text, for scores and z: on a short "
            "text a running sum is dearer. Low rank has the directions that come closest to the "
            "products of this very text; they shorten each product and leave all pairs."
        )
        if {"biased", "capped", "sunk"} & {*view.record.stages}:
            words.notice("Linear attention goes without this model’s bias, soft cap and sink.")
        if head.is_causal:
            summed = running_sum(positive_map(head.q), positive_map(head.k), head.v)
            error = float(np.abs(summed - found["linear"] @ head.v).max() / np.abs(summed).max())
            inspector.check(
                error <= ALLOWED_ERROR,
                "linear attention as a running sum gives the z of its weights, max error "
                f"{error:.1e} (allowed {ALLOWED_ERROR:.0e}).",
            )


def _table(head: Head, sizes: Sizes, apart: Mapping[str, Difference]) -> None:
    columns: dict[str, list[Said]] = {
        "way": ["exact"],
        "set by": ["–"],
        "error": ["0"],
        "moved": ["0"],
        "multiplications": [f"{multiplications(head, 'exact', sizes):,}"],
    }
    for way, found in apart.items():
        row: tuple[Said, ...] = (
            CHEAPER.words(way),
            _in_words(way, sizes),
            digits(found.error),
            digits(found.moved),
            f"{multiplications(head, way, sizes):,}",
        )
        for cells, cell in zip(columns.values(), row, strict=True):
            cells.append(cell)
    words.table(columns, texts=("set by",))


def _by_size(head: Head, way: str, sizes: Sizes) -> None:
    """How the error falls as each way keeps more."""
    errors = {CHEAPER.words(name): errors_by_size(head, name, sizes) for name in WAYS}
    chart = error_lines(sizes_tried(len(head.q)), errors, CHEAPER.words(way))
    layout.show_chart(chart, key="cheaper-errors")


def _ways_on() -> None:
    words.ways(
        [
            words.Way("Masks", "The whole model under a window and global tokens.", page="Masks"),
            words.Way("Cost", "What pairs cost, and how long a whole pass takes.", page="Cost"),
        ]
    )


DRAW: dict[str, Callable[[View, Head], Tables]] = {
    "fewer": _fewer,
    "tiles": tiles.section,
}
PAGE = Page(
    "Cheaper attention",
    ":material/speed:",
    "Exact attention compares all n² pairs. What is lost with fewer?",
    "A window keeps the last w tokens of each query, and global tokens stay visible to all. "
    "Linear attention puts φ(q)·φ(k) in place of e^(q·k): then sums over earlier tokens can be "
    "carried along, and no pair is ever computed. Low rank compares r directions of q and k in "
    "place of all. Each is put here into a head trained for exact attention; a model trained "
    "with one of them would adapt to it. Linformer’s projection along the text (Wang et al. "
    "2020) mixes later tokens into earlier ones, so a head that looks back only cannot use it.",
    render,
    needs=("decoder",),
)
