"""Why the residual: gradients through many blocks, with the sum and without it, measured here."""

from functools import partial

import numpy as np

from model.analysis.depth import DEPTHS, KINDS, Kind
from viz.digits import digits
from viz.figures.depth import gradient_lines
from viz.formulas import FORMULAS
from viz.frame import controls, gradual, inspector, layout, scenes, tables
from viz.frame.page import Numbers, Page
from viz.frame.settings import DEPTH, SEED
from viz.frame.view import View
from viz.runs import depths
from viz.runs.depths import Measuring

MEASURING = "gradients-by-depth"  # of this visitor
PLACEMENTS = {"pre": "pre-norm", "post": "post-norm"}
NAMES = {
    kind: f"{PLACEMENTS[kind.placement]}, {'with' if kind.has_residual else 'without'} the sum"
    for kind in KINDS
}


def _networks(name: str, view: View) -> Numbers:
    """The gradient at the first block by depth, or by layer at one depth, as far as measured."""
    is_by_layer = name == "layers"
    with scenes.to_set():
        depth = controls.select(DEPTH, width=110) if is_by_layer else max(DEPTHS)
        seed = controls.number(SEED)
    work = gradual.kept(MEASURING, seed, lambda: depths.measuring(seed))
    places, title, x = DEPTHS, "Gradient at the first block", "blocks"
    if is_by_layer:
        places, title, x = range(depth + 1), f"Gradient by layer, {depth} blocks", "before block"

    def lengths(kind: Kind) -> np.ndarray:
        return work.layers(kind, depth) if is_by_layer else work.first(kind)

    def figure() -> None:
        chart = gradient_lines(places, {NAMES[kind]: lengths(kind) for kind in KINDS}, title, x)
        layout.show_chart(chart, key=f"depth-{name}")

    gradual.draw(work, figure, lambda: f"{len(work.lengths)} of {work.n_networks} networks.")
    inspector.formula("model.blocks.Block", FORMULAS["Gradient with the sum and without"])
    if work.lengths:
        inspector.export(view, {"Gradients by depth": partial(_csv, work)})
    if not work.is_done:
        return {}
    numbers = {"blocks": str(depth)}
    for which, has_sum in {"with": True, "without": False}.items():
        first, *_, last = (digits(float(x)) for x in lengths(Kind("pre", has_sum)))
        numbers |= {f"first {which}": first, which: last}
    return numbers


def _csv(work: Measuring) -> bytes:
    """All networks that are measured, a row for each block."""
    rows = (
        {"network": NAMES[kind], "blocks": depth, "before block": i, "gradient": length}
        for (kind, depth), found in work.lengths.items()
        for i, length in enumerate(found)
    )
    return tables.csv([*rows])


def _in_the_model(view: View) -> Numbers:
    """The gradient of the loss on this sentence, layer by layer."""
    found = depths.own(view.handle, view.ids)
    name = f"{view.handle.name}, {PLACEMENTS[view.config.norm_placement]}"
    title = "Gradient of the loss by layer"
    chart = gradient_lines(range(len(found)), {name: found}, title, "before block")
    layout.show_chart(chart, key="depth-own")
    inspector.formula("model.tap.Gradients", FORMULAS["Gradient of the loss"])
    return {"first": digits(float(found[0])), "last": digits(float(found[-1]))}


PAGE = Page(
    "Why the residual?",
    ":material/low_priority:",
    "How much of a gradient reaches the first block, with the residual sum and without it?",
    needs=("decoder", "residuals"),
    scenes={
        "depth": partial(_networks, "first"),
        "layers": partial(_networks, "layers"),
        "own": _in_the_model,
    },
    needs_two=("own",),
    source=(
        "model.analysis.depth.gradient_lengths",
        "model.analysis.depth.drawn_block",
        "model.blocks.Block",
        "model.analysis.depth.own_gradients",
        "model.tap.Gradients",
    ),
)
