"""Cost: the weights, operations and bytes of a model, counted from its sizes."""

import tomllib
from dataclasses import dataclass

from model.analysis.sizes import (
    PARTS,
    Experts,
    Latent,
    LayerCost,
    Shape,
    attention_parameters,
    feedforward_parameters,
    layer_costs,
    memory,
    operations,
    parameters,
    shape_of,
)
from model.verify.independent import LONGEST_NAME
from viz import formulas_cost as formulas
from viz.digits import digits
from viz.figures.cost import operation_lines, share_bars
from viz.formulas import Formula
from viz.frame import ASSETS, controls, inspector, layout, notices, screen, settings, tables, words
from viz.frame.numbers import Said, count, size
from viz.frame.view import View
from viz.live.chart.data import Origin
from viz.runs import counting

TITLE = "Cost"
ICON = ":material/scale:"
NEEDS = ("decoder", "text", "vocabulary")

OWN = "your own"
LENGTHS = (16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576)
COUNTED_TOKENS = 32  # of the run that torch counts
MEMORY = {
    "weights": "weights, 2 bytes each",
    "training": "while training: weights, gradients, Adam",
    "cache": "KV cache",
    "maps": "all attention maps, were they kept",
}


@dataclass(frozen=True)
class Sized:
    """A model by its sizes, and where the independent count has it."""

    name: str
    shape: Shape
    table: str
    place: str
    source: str = ""

    def address(self, what: str, n_tokens: int | None = None) -> str:
        """Of an array: `what` is parameters, operations or memory; the last two by tokens."""
        tokens = "" if n_tokens is None else f".{n_tokens}"
        return f"{self.table}.{what}{tokens}.{self.place}"


def render(view: View) -> None:
    """Draw the page."""
    layout.heading(
        ICON,
        TITLE,
        "What a Transformer costs follows from its sizes: count it.",
        "Weights and operations of matrix products, to the unit; norms, softmax and activations "
        "take operations too, and are left out as usual. The sizes of published models are "
        "published; ours are those of the model above. Type your own, and all of it follows.",
    )
    running = _running(view)
    known = _known()
    chosen, n_tokens = _chosen([running, *known])
    notices.show()
    _parameters(view, chosen, [running, *known])
    _operations(view, chosen, n_tokens)
    _memory(view, chosen, n_tokens)
    rows = _kinds_of_layers(chosen, n_tokens)
    _counted(view, running)
    inspector.source(
        "model.analysis.sizes.parameters",
        "model.analysis.sizes.attention_parameters",
        "model.analysis.sizes.operations",
        "model.analysis.sizes.memory",
        "model.analysis.sizes.layer_costs",
    )
    inspector.export(
        view,
        {
            "Weights": lambda: _weights_csv([running, *known, chosen]),
            "Kinds of layers": lambda: tables.frame_csv(tables.frame([vars(row) for row in rows])),
        },
    )


def _formula(name: str, formula: Formula) -> None:
    inspector.formula(f"model.analysis.sizes.{name}", formula.latex, formula.reference)


# --- which model ------------------------------------------------------------------------------


def _known() -> list[Sized]:
    """The models of assets/known_shapes.toml."""
    text = (ASSETS / "known_shapes.toml").read_text(encoding="utf-8")
    return [_published(place, entry) for place, entry in enumerate(tomllib.loads(text)["model"])]


def _published(place: int, entry: dict) -> Sized:
    sizes = {key: value for key, value in entry.items() if key not in ("name", "source")}
    if "latent" in sizes:
        sizes["latent"] = Latent(**sizes["latent"])
    if "experts" in sizes:
        sizes["experts"] = Experts(**sizes["experts"])
    return Sized(entry["name"], Shape(**sizes), "shapes", str(place), entry["source"])


def _by_sizes(name: str, shape: Shape, source: str = "") -> Sized:
    """A model without experts or latents: its address has all of its sizes."""
    switches = (shape.norm_vectors, shape.biases, shape.gated, shape.tied, shape.final_norm)
    sizes = (shape.n_layers, shape.d_model, shape.n_heads, shape.n_kv_heads, shape.d_head,
             shape.d_ff, shape.vocab_size, shape.positions)  # fmt: skip
    place = ".".join(map(str, (*sizes, "".join(str(int(x)) for x in switches))))
    return Sized(name, shape, "shape", place, source)


def _running(view: View) -> Sized:
    shape = shape_of(view.config, view.config.vocab_size)
    return _by_sizes(view.model, shape, "the model above")


def _chosen(found: list[Sized]) -> tuple[Sized, int]:
    """The model to count, and for how many tokens."""
    names = (*(one.name for one in found), OWN)
    with layout.slim_row("cost"):
        name = controls.select(settings.SHAPE.given(options=names, default=names[0]), width=260)
        n_tokens = controls.number(settings.COST_TOKENS)
    if name == OWN:
        return _by_sizes(OWN, _own()), n_tokens
    return next(one for one in found if one.name == name), n_tokens


def _own() -> Shape:
    """The sizes a person typed; where they cannot go together, one line and the nearest that can.

    Heads share KV heads evenly, so of these the largest number that divides is taken.
    """
    with layout.slim_row("own-sizes"):
        n_layers, d_model, d_ff = (
            controls.number(x)
            for x in (settings.OWN_LAYERS, settings.OWN_WIDTH, settings.OWN_FEEDFORWARD)
        )
        n_heads, n_kv_heads, d_head = (
            controls.number(x)
            for x in (settings.OWN_HEADS, settings.OWN_KV_HEADS, settings.OWN_D_HEAD)
        )
    with layout.slim_row("own-rest"):
        vocab_size = controls.number(settings.OWN_VOCABULARY)
        positions = controls.number(settings.OWN_POSITIONS)
        is_gpt = controls.select(settings.OWN_KIND, width=330) == "gpt"
        is_tied = controls.select(settings.OWN_TIED, width=150) == "tied"
    shared = max(x for x in range(1, min(n_kv_heads, n_heads) + 1) if n_heads % x == 0)
    if shared != n_kv_heads:
        words.notice(
            f"{n_heads} heads cannot share {n_kv_heads} KV heads evenly; counted with {shared}."
        )
    return Shape(
        n_layers=n_layers,
        d_model=d_model,
        n_heads=n_heads,
        n_kv_heads=shared,
        d_head=d_head,
        d_ff=d_ff,
        vocab_size=vocab_size,
        positions=positions,
        norm_vectors=2 if is_gpt else 1,
        biases=is_gpt,
        gated=not is_gpt,
        tied=is_tied,
    )


# --- weights ----------------------------------------------------------------------------------


def _parameters(view: View, chosen: Sized, found: list[Sized]) -> None:
    shown = found if chosen in found else [chosen, *found]
    counts = [parameters(one.shape) for one in shown]
    layout.show_figure(
        share_bars(
            {part: [each[part] for each in counts] for part in PARTS},
            [one.name for one in shown],
            view.colors,
        ),
        key="shares",
        origin=_origin_of_shares(view, [one for one in shown if one.table == "shape"]),
        alt="Share of each part in the weights. "
        + "; ".join(
            f"{one.name}: {', '.join(f'{p} {n / sum(c.values()):.1%}' for p, n in c.items() if n)}"
            for one, c in zip(shown, counts, strict=True)
        )
        + ".",
    )
    _totals(view, chosen)
    columns: dict[str, list[Said]] = {"model": [one.name for one in shown]}
    for place, part in enumerate(PARTS):
        columns[part] = [
            count(view.run, f"{one.address('parameters')}[{place}]", each[part])
            for one, each in zip(shown, counts, strict=True)
        ]
    columns["all"] = [_total(view, one) for one in shown]
    words.table(columns)
    said = (f"{one.name}: {one.source}" for one in shown if one.source)
    words.caption(f"Sizes as in: {'; '.join(said)}.")


def _origin_of_shares(view: View, own: list[Sized]) -> Origin:
    """Where an independent run has the shares of models by their sizes, and of all known."""
    address = f"shape.shares.{'.'.join(one.place for one in own)}"
    if len(address) > LONGEST_NAME:
        return ()
    return screen.origin(view.run, {(i, "x"): f"{address}[{i}]" for i in range(len(PARTS))})


def _total(view: View, one: Sized) -> Said:
    total = sum(parameters(one.shape).values())
    return count(view.run, f"{one.address('parameters')}[{len(PARTS)}]", total)


def _totals(view: View, chosen: Sized) -> None:
    """The weights of the chosen model, of one block, and what the rule of thumb makes of it."""
    shape = chosen.shape
    active = sum(parameters(shape, only_active=True).values())
    address = chosen.address("parameters")
    words.facts(
        [
            (_total(view, chosen), f"weights of {chosen.name}"),
            (count(view.run, f"{address}[{len(PARTS) + 1}]", active), "met by one token"),
            (f"{attention_parameters(shape):,}", "attention of one layer"),
            (f"{feedforward_parameters(shape):,}", "one feed-forward, or one dense layer’s"),
        ]
    )
    if shape.latent is None and shape.experts is None:
        rule, block = 12 * shape.d_model**2, _block(shape)
        words.caption(
            f"The rule 12 · d_model² gives {rule:,} weights a block (4 of them attention, 8 the "
            f"feed-forward); here it is {block:,}, {block / shape.d_model**2:.2f} · d_model². "
            "Where a text says 6 · d_model², it has left out half: the feed-forward alone is 8."
        )
    _formula("parameters", formulas.PARAMETERS)


def _block(shape: Shape) -> int:
    return attention_parameters(shape) + feedforward_parameters(shape)


# --- operations and bytes ---------------------------------------------------------------------


def _operations(view: View, chosen: Sized, n_tokens: int) -> None:
    layout.section(
        "Operations",
        "Two for each weight a token meets, and for attention more with every token before it.",
        "A product and a sum for each weight (Kaplan et al. 2020, §2.1). Training takes three "
        "times as many: the backward pass is twice the forward one. The attention line alone grows "
        "with the context: where it crosses the others, a longer text costs more than a larger "
        "model.",
    )
    found = {n: operations(chosen.shape, n) for n in LENGTHS}
    names = list(found[LENGTHS[0]])
    layout.show_figure(
        operation_lines(LENGTHS, {p: [found[n][p] for n in LENGTHS] for p in names}, view.colors),
        key="operations",
        origin=screen.origin(
            view.run,
            {(i, "y"): f"{chosen.address('growth')}[{i}]" for i in range(len(names))},
        ),
        alt=f"Operations for one token of {chosen.name} by context. At {LENGTHS[3]:,} tokens: "
        + ", ".join(f"{name} {found[LENGTHS[3]][name]:,}" for name in names)
        + ".",
    )
    here = operations(chosen.shape, n_tokens)
    address = chosen.address("operations", n_tokens)
    total = sum(here.values())
    words.facts(
        [
            (count(view.run, f"{address}[{len(names)}]", total), f"for one token of {n_tokens:,}"),
            *(
                (count(view.run, f"{address}[{place}]", here[name]), name)
                for place, name in enumerate(names)
            ),
        ]
    )
    _formula("operations", formulas.OPERATIONS)


def _memory(view: View, chosen: Sized, n_tokens: int) -> None:
    layout.section(
        "Memory",
        f"For one text of {n_tokens:,} tokens, values of two bytes.",
        "Training with Adam takes 16 bytes a weight before any activation: two for it and two for "
        "its gradient in half precision, and twelve for a full copy and two moments (Rajbhandari "
        "et al. 2020, §3.1). All maps of attention are n² numbers a head; FlashAttention computes "
        "them in tiles and keeps none (Dao et al. 2022).",
    )
    found, address = memory(chosen.shape, n_tokens), chosen.address("memory", n_tokens)
    words.facts(
        [
            (size(view.run, f"{address}[{place}]", found[name]), text)
            for place, (name, text) in enumerate(MEMORY.items())
        ]
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
        window = controls.number(settings.COST_WINDOW)
    rows = layer_costs(n_tokens, d_model, kernel, window)
    words.table(
        {
            "layer": [row.name for row in rows],
            "operations, order of": [f"{row.operations:,.0f}" for row in rows],
            "steps in sequence": [f"{row.sequential:,.0f}" for row in rows],
            "longest path": [f"{row.path:,.0f}" for row in rows],
        }
    )
    _formula("layer_costs", formulas.LAYERS)
    return rows


# --- measured ---------------------------------------------------------------------------------


def _counted(view: View, running: Sized) -> None:
    """What the file has and what torch counts, beside what the sizes say."""
    n = min(COUNTED_TOKENS, view.config.max_seq_len)
    layout.section(
        "Predicted and counted",
        f"The sizes of {view.model} against its file, and against torch’s own counter.",
        f"torch counts the matrix products of one forward pass over {n} tokens while it runs "
        "(torch.utils.flop_counter).",
    )
    predicted = {
        "weights": sum(parameters(running.shape).values()),
        "operations": n * sum(operations(running.shape, n).values()),
    }
    stored, n_bytes = counting.weights(view.handle)
    counted = {"weights": stored, "operations": counting.operations(view.handle, n)}
    words.table(
        {
            "": ["weights", f"operations of {n} tokens"],
            "from the sizes": [f"{predicted[name]:,}" for name in predicted],
            "counted": [f"{counted[name]:,}" for name in predicted],
            "apart": [
                f"{digits(100 * abs(counted[x] - predicted[x]) / counted[x], 2)} %" for x in counted
            ],
        }
    )
    words.caption(f"The file keeps its weights in {n_bytes:,} bytes.")
    inspector.check(
        predicted["weights"] == stored,
        f"weights from the sizes, {predicted['weights']:,} = numbers in the file, {stored:,}.",
    )
    off = abs(counted["operations"] / predicted["operations"] - 1)
    inspector.check(
        off <= 0.05,
        f"operations from the sizes against torch’s counter: {off:.2%} apart (allowed 5 %).",
    )


def _weights_csv(found: list[Sized]) -> bytes:
    rows = [
        {"model": one.name, **parameters(one.shape), "all": sum(parameters(one.shape).values())}
        for one in dict.fromkeys(found)
    ]
    return tables.frame_csv(tables.frame(rows))
