"""Cost: the weights, operations and bytes of a model, counted from its sizes."""

from model.analysis.seen import OTHER
from model.analysis.sizes import (
    PARTS,
    LayerCost,
    Shape,
    attention_parameters,
    feedforward_parameters,
    layer_costs,
    memory,
    operations,
    parameters,
)
from viz.figures.cache import bytes_text
from viz.figures.cost import operation_lines, share_bars
from viz.formulas import FORMULAS
from viz.frame import controls, inspector, layout, settings, tables, words
from viz.frame.page import Page
from viz.frame.said import Said
from viz.frame.view import View
from viz.pages.ideas.cost import measured, rule, sized
from viz.pages.ideas.cost.sized import Sized
from viz.runs import counting

LENGTHS = (16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576)
# What of a kind of layer is said, and what that is called.
ORDERS = {
    "operations": "operations, order of",
    "sequential": "steps in sequence",
    "path": "longest path",
}
MEMORY = {
    "weights": "weights, 2 bytes each",
    "training": "while training: weights, gradients, Adam",
    "cache": "KV cache",
    "maps": "all attention maps, were they kept",
}
UNCOUNTED = (
    "Operations of this model are not counted: not every token meets each of its matrices once."
)


def render(view: View) -> None:
    """Draw the page."""
    running = sized.running(view)
    models = [running, *sized.known()]
    chosen, n_tokens = sized.chosen(models, counting.context(view.handle))
    weights = _parameters(chosen, models)
    _operations(chosen, n_tokens)
    _memory(chosen, n_tokens)
    layers = _kinds_of_layers(chosen, n_tokens)
    csv_files = measured.section(view, running.shape)
    inspector.source(
        "model.analysis.sizes.parameters",
        "model.analysis.sizes.attention_parameters",
        "model.analysis.sizes.operations",
        "model.analysis.sizes.pass_operations",
        "model.analysis.sizes.memory",
        "model.analysis.sizes.layer_costs",
    )
    inspector.export(
        view,
        {
            "Weights": lambda: tables.csv(weights),
            "Kinds of layers": lambda: tables.csv([vars(layer) for layer in layers]),
            **csv_files,
        },
    )


# --- weights ----------------------------------------------------------------------------------


def _parameters(chosen: Sized, models: list[Sized]) -> dict[str, list]:
    """The weights of each model by its parts, and in all; the numbers of the table."""
    shown = models if chosen in models else [models[0], chosen, *models[1:]]
    counts = [dict.fromkeys((*PARTS, OTHER), 0) | parameters(one.shape) for one in shown]
    parts = [part for part in counts[0] if part in PARTS or any(each[part] for each in counts)]
    by_part = {part: [each[part] for each in counts] for part in parts}
    names = [one.name for one in shown]
    layout.show_chart(share_bars(by_part, names), key="shares")
    _totals(chosen)
    numbers = {**by_part, "all": [sum(each.values()) for each in counts]}
    written = {part: [f"{n:,}" for n in column] for part, column in numbers.items()}
    words.table({"model": names, **written})
    said = (f"{one.name}: {one.source}" for one in shown if one.source)
    words.caption(f"Sizes as in: {'; '.join(said)}.")
    shape = chosen.shape
    if isinstance(shape, Shape) and shape.latent is None and shape.experts is None:
        rule.table(shape)
    return {"model": names, **numbers}


def _totals(chosen: Sized) -> None:
    """The weights of the chosen model, of one block, and what the rule of thumb makes of it."""
    shape = chosen.shape
    if isinstance(shape, Shape):
        counts = {
            "active per token": sum(parameters(shape, only_active=True).values()),
            "attention of one layer": attention_parameters(shape),
            "one MLP of a dense layer": feedforward_parameters(shape),
        }
    else:
        counts = {f"{kind.replace('_', '-')}, first layer": n for kind, n in shape.first.items()}
    facts = [(f"{n:,}", what) for what, n in counts.items()]
    total = sum(parameters(shape).values())
    words.facts([(f"{total:,}", f"weights of {chosen.name}"), *facts])
    inspector.formula("model.analysis.sizes.parameters", FORMULAS["Parameters"])


# --- operations and bytes ---------------------------------------------------------------------


def _operations(chosen: Sized, n_tokens: int) -> None:
    layout.section(
        "Operations",
        "Two for each weight a token meets, and for attention more with every token before it.",
        "A product and a sum for each weight (Kaplan et al. 2020, §2.1). Training takes three "
        "times as many: the backward pass is twice the forward one. The attention line alone grows "
        "with the context: where it crosses the others, a longer text costs more than a larger "
        "model.",
    )
    here = operations(chosen.shape, n_tokens)
    if not here:
        words.notice(UNCOUNTED)
        return
    counts = [operations(chosen.shape, n) for n in LENGTHS]
    by_part = {name: [each[name] for each in counts] for name in here}
    layout.show_chart(operation_lines(LENGTHS, by_part, chosen.name), key="operations")
    facts = [(f"{n:,}", name) for name, n in here.items()]
    of = f"for one {_one_of(chosen)} of {n_tokens:,}"
    words.facts([(f"{sum(here.values()):,}", of), *facts])
    inspector.formula("model.analysis.sizes.operations", FORMULAS["Operations"])


def _one_of(chosen: Sized) -> str:
    """What operations are counted of, in words."""
    if isinstance(chosen.shape, Shape) and chosen.shape.patch:
        return "patch"
    return "token each of source and target" if chosen.shape.n_encoder_layers else "token"


def _memory(chosen: Sized, n_tokens: int) -> None:
    layout.section(
        "Memory",
        f"For one text of {n_tokens:,} tokens, values of two bytes.",
        "Training with Adam takes 16 bytes a weight before any activation: two for it and two for "
        "its gradient in half precision, and twelve for a full copy and two moments (Rajbhandari "
        "et al. 2020, §3.1). All maps of attention are n² numbers a head; FlashAttention computes "
        "them in tiles and keeps none (Dao et al. 2022).",
    )
    bytes_of = memory(chosen.shape, n_tokens)
    words.facts(
        [(bytes_text(bytes_of[name]), text) for name, text in MEMORY.items() if bytes_of.get(name)]
    )
    inspector.formula("model.analysis.sizes.memory", FORMULAS["Memory"])


def _kinds_of_layers(chosen: Sized, n_tokens: int) -> tuple[LayerCost, ...]:
    d_model = chosen.shape.d_model
    layout.section(
        "Attention, recurrence, convolution",
        f"One layer for {n_tokens:,} tokens of {d_model:,} numbers each.",
        "The orders of Vaswani et al. 2017, table 1, with every constant taken as one: to compare "
        "how they grow, not to count. Steps wait for each other; a path is the longest way from "
        "one token to another.",
    )
    with layout.slim_row("layers"):
        kernel = controls.number(settings.KERNEL)
        window = controls.number(settings.WINDOW.given(label="Window r", default=128))
    rows = layer_costs(n_tokens, d_model, kernel, window)
    columns: dict[str, list[Said]] = {"layer": [row.name for row in rows]}
    for what, name in ORDERS.items():
        columns[name] = [f"{getattr(row, what):,.0f}" for row in rows]
    words.table(columns)
    inspector.formula("model.analysis.sizes.layer_costs", FORMULAS["Kinds of layers"])
    return rows


PAGE = Page(
    "Cost",
    ":material/scale:",
    "What a Transformer costs follows from its sizes: count it.",
    "Weights and operations of matrix products, to the unit; norms, softmax and activations "
    "take operations too, and are left out as usual. The sizes of published models are "
    "published; ours are those of the model above. Type your own, and all of it follows.",
    render,
    needs=("blocks",),
)
