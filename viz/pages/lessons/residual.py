"""Why the residual: gradients through many blocks, with the sum and without it, measured here."""

from model.analysis.depth import DEPTHS, KINDS
from viz import formulas_lessons as formulas
from viz.figures.depth import gradient_lines
from viz.frame import controls, gradual, inspector, layout, tables, words
from viz.frame.page import Page
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


def render(view: View) -> None:
    """Draw the page."""
    with layout.slim_row("residual"):
        depth = controls.select(DEPTH, width=110)
        seed = controls.number(SEED)
    work = gradual.kept(MEASURING, seed, lambda: depths.measuring(seed))
    gradual.draw(
        work,
        lambda: _figures(work, depth),
        lambda: f"{len(work.found)} of {work.n_networks} networks.",
    )
    words.ask(
        "At which of the depths does the network without the sum lose its gradient? Compare the "
        "layers of a shallow network with those of a deep one.",
        see="depth-layers",
        **{DEPTH.name: "8"},
    )
    formula = formulas.through_residual()
    inspector.formula("model.blocks.Block", formula.latex, formula.reference)
    _in_the_model(view)
    inspector.source(
        "model.analysis.depth.gradient_lengths",
        "model.analysis.depth.drawn_block",
        "model.blocks.Block",
        "model.analysis.depth.own_gradients",
        "model.tap.Gradients",
    )
    inspector.export(view, _tables(work))


def _tables(work: Measuring) -> inspector.Tables:
    """All networks that are measured, one row each."""
    if not work.found:
        return {}
    rows = [[NAMES[kind], depth, *lengths] for (kind, depth), lengths in work.found.items()]
    columns = ["network", "blocks", *range(max(DEPTHS) + 1)]
    return {
        "Gradients by depth": lambda: tables.frame_csv(tables.matrix_frame(rows, columns=columns))
    }


def _figures(work: Measuring, depth: int) -> None:
    left, right = layout.two_up("residual")
    with left:
        first = {NAMES[kind]: work.first(kind) for kind in KINDS}
        chart = gradient_lines(DEPTHS, first, "Gradient at the first block", "blocks")
        layout.show_chart(chart, key="depth-first")
    with right:
        layers = {NAMES[kind]: work.layers(kind, depth) for kind in KINDS}
        title = f"Gradient by layer, {depth} blocks"
        chart = gradient_lines(range(depth + 1), layers, title, "before block")
        layout.show_chart(chart, key="depth-layers")


def _in_the_model(view: View) -> None:
    """The gradient of the loss on this sentence, layer by layer."""
    n_layers = view.config.n_layers
    layout.section(
        "The same in the model",
        f"The gradient of the loss on this sentence before each of its {n_layers} blocks.",
        "The loss is the mean of −ln p of each next token. Its gradient is taken with respect to "
        "the stream of all tokens, before each block and after the last.",
    )
    if len(view.ids) < 2:
        words.notice("A loss needs a next token: type a sentence of at least 2 tokens.")
        return
    found = depths.own(view.handle, view.ids)
    name = f"{view.handle.name}, {PLACEMENTS[view.config.norm_placement]}"
    title = "Gradient of the loss by layer"
    chart = gradient_lines(range(n_layers + 1), {name: found}, title, "before block")
    layout.show_chart(chart, key="depth-own")
    formula = formulas.gradient_of_loss()
    inspector.formula("model.tap.Gradients", formula.latex, formula.reference)
    if "weights" in view.offers:
        words.ways(
            [
                words.Way(
                    "Transformer block",
                    "What one block adds, step by step.",
                    page="Transformer block",
                )
            ]
        )


PAGE = Page(
    "Why the residual?",
    ":material/low_priority:",
    "How much of a gradient reaches the first block, with the residual sum and without it?",
    "Networks of this project’s own blocks, as they are drawn before any training: 8 tokens "
    "of 32 numbers, 4 heads, 64 neurons with ReLU, weights of variance 1 / inputs, the same "
    "for all kinds and depths. What is differentiated is the output along a random direction, "
    "for 8 random inputs; a length is their geometric mean. Without the sum, a sublayer’s "
    "output takes the place of its input.",
    render,
    needs=("decoder", "residuals"),
)
