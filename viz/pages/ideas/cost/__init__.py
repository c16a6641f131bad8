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
from viz import formulas_cost as formulas
from viz.figures.cache import bytes_text
from viz.figures.cost import operation_lines, share_bars
from viz.formulas import Formula
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
    known = sized.known()
    chosen, n_tokens = sized.chosen([running, *known], counting.context(view.handle))
    _parameters(chosen, [running, *known])
    _operations(chosen, n_tokens)
    _memory(chosen, n_tokens)
    rows = _kinds_of_layers(chosen, n_tokens)
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
            "Weights": lambda: _weights_csv([running, *known, chosen]),
            "Kinds of layers": lambda: tables.csv([vars(row) for row in rows]),
            **csv_files,
        },
    )


def _formula(name: str, formula: Formula) -> None:
    inspector.formula(f"model.analysis.sizes.{name}", formula.latex, formula.reference)


# --- weights ----------------------------------------------------------------------------------


def _parameters(chosen: Sized, found: list[Sized]) -> None:
    shown = found if chosen in found else [found[0], chosen, *found[1:]]
    counts = [_by_part(one) for one in shown]
    parts = [part for part in counts[0] if part in PARTS or any(each[part] for each in counts)]
    by_part = {part: [each[part] for each in counts] for part in parts}
    layout.show_chart(share_bars(by_part, [one.name for one in shown]), key="shares")
    _totals(chosen)
    columns: dict[str, list[Said]] = {"model": [one.name for one in shown]}
    for part in parts:
        columns[part] = [f"{each[part]:,}" for each in counts]
    columns["all"] = [_total(one) for one in shown]
    words.table(columns)
    said = (f"{one.name}: {one.source}" for one in shown if one.source)
    words.caption(f"Sizes as in: {'; '.join(said)}.")
    shape = chosen.shape
    if isinstance(shape, Shape) and shape.latent is None and shape.experts is None:
        rule.table(shape)


def _by_part(one: Sized) -> dict[str, int]:
    return dict.fromkeys((*PARTS, OTHER), 0) | parameters(one.shape)


def _total(one: Sized) -> str:
    return f"{sum(parameters(one.shape).values()):,}"


def _totals(chosen: Sized) -> None:
    """The weights of the chosen model, of one block, and what the rule of thumb makes of it."""
    shape = chosen.shape
    if isinstance(shape, Shape):
        found = {
            "active per token": sum(parameters(shape, only_active=True).values()),
            "attention of one layer": attention_parameters(shape),
            "one MLP of a dense layer": feedforward_parameters(shape),
        }
    else:
        found = {f"{kind.replace('_', '-')}, first layer": n for kind, n in shape.first.items()}
    facts = [(f"{n:,}", what) for what, n in found.items()]
    words.facts([(_total(chosen), f"weights of {chosen.name}"), *facts])
    _formula("parameters", formulas.PARAMETERS)


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
    found = {n: operations(chosen.shape, n) for n in LENGTHS}
    if not found[LENGTHS[0]]:
        words.notice(UNCOUNTED)
        return
    names = list(found[LENGTHS[0]])
    by_part = {name: [found[n][name] for n in LENGTHS] for name in names}
    layout.show_chart(operation_lines(LENGTHS, by_part, chosen.name), key="operations")
    here = operations(chosen.shape, n_tokens)
    total = sum(here.values())
    words.facts(
        [
            (f"{total:,}", f"for one {_one_of(chosen)} of {n_tokens:,}"),
            *((f"{here[name]:,}", name) for name in names),
        ]
    )
    _formula("operations", formulas.OPERATIONS)


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
    found = memory(chosen.shape, n_tokens)
    words.facts(
        [(bytes_text(found[name]), text) for name, text in MEMORY.items() if found.get(name)]
    )
    _formula("memory", formulas.MEMORY)


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
    _formula("layer_costs", formulas.LAYERS)
    return rows


def _weights_csv(found: list[Sized]) -> bytes:
    rows = [
        {"model": one.name, **_by_part(one), "all": sum(parameters(one.shape).values())}
        for one in dict.fromkeys(found)
    ]
    return tables.csv(rows)


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
