"""Why a block adds: gradients through many blocks with the sum and without it, and in the model."""

from functools import partial

from model.analysis.depth import DEPTHS, KINDS, Kind
from viz.charts.chart import Chart
from viz.digits import digits
from viz.figures.depth import gradient_lines
from viz.formulas import FORMULAS
from viz.frame import controls, gradual, inspector, layout, scenes, tables
from viz.frame.page import Numbers
from viz.frame.settings import SEED
from viz.frame.view import View
from viz.runs import depths
from viz.runs.depths import Measuring

MEASURING = "gradients-by-depth"  # of this visitor
PLACEMENTS = {"pre": "pre-norm", "post": "post-norm", "": "neither"}
NAMES = {
    kind: f"{PLACEMENTS[kind.placement]}, {'with' if kind.has_residual else 'without'} the sum"
    for kind in KINDS
}
SOURCE = (
    "model.analysis.depth.gradient_lengths",
    "model.analysis.depth.drawn_block",
    "model.analysis.depth.own_gradients",
    "model.tap.Gradients",
)


def gradients(view: View) -> Numbers:
    """The gradient at the first block by depth of networks as far as measured; by layer here."""
    with scenes.to_set():
        seed = controls.number(SEED)
    work = gradual.kept(MEASURING, seed, lambda: depths.measuring(seed))
    in_model, numbers = _in_the_model(view)

    def figures() -> None:
        measured = {NAMES[kind]: work.first(kind) for kind in KINDS}
        title = "At the first block, by depth of the network"
        by_depth = gradient_lines(DEPTHS, measured, title, "blocks")
        layout.show_charts({"depth-first": by_depth, "depth-own": in_model})

    gradual.draw(work, figures, lambda: f"{len(work.lengths)} of {work.n_networks} networks.")
    inspector.formula("model.blocks.Block", FORMULAS["Gradient with the sum and without"])
    inspector.formula("model.tap.Gradients", FORMULAS["Gradient of the loss"])
    if work.lengths:
        inspector.export(view, {"Gradients by depth": partial(_csv, work)})
    for which, has_sum in {"with": True, "without": False}.items():
        deepest = float(work.first(Kind("pre", has_sum))[-1])
        numbers[which] = digits(deepest) if work.is_done else None
    return numbers


def _in_the_model(view: View) -> tuple[Chart, dict[str, str | None]]:
    """The gradient of the loss on this sentence, layer by layer."""
    found = depths.own(view.handle, view.ids)
    name = f"{view.handle.name}, {PLACEMENTS[view.config.norm_placement]}"
    title = f"In {view.handle.name}, by layer"
    chart = gradient_lines(range(len(found)), {name: found}, title, "before block")
    return chart, {"first": digits(float(found[0])), "last": digits(float(found[-1]))}


def _csv(work: Measuring) -> bytes:
    """All networks that are measured, a row for each block."""
    rows = (
        {"network": NAMES[kind], "blocks": depth, "before block": i, "gradient": length}
        for (kind, depth), found in work.lengths.items()
        for i, length in enumerate(found)
    )
    return tables.csv([*rows])
