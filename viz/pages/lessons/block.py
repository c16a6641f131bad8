"""The block: one token's vector through one block of the running model, step by step."""

import numpy as np

from model.analysis import block as blocks
from model.analysis.block import Inside, Norm
from model.analysis.cosine import cosine_similarity
from model.verify.check import Check
from viz import formulas_lessons as formulas
from viz.digits import digits
from viz.figures import block as figures
from viz.frame import controls, inspector, layout, links, state, verdicts, words
from viz.frame.page import Page
from viz.frame.settings import BLOCK_COLOUR, BLOCK_NORM, LAYER, TOKEN
from viz.frame.view import View
from viz.runs.blocks import inside as run_inside

ALLOWED = 1e-5
# Both usual places of a block's norms: what its steps are called, in their order.
STEPS = {
    "pre": (
        "1 stream", "2 norm", "3 attention", "4 sum 1 + 3", "5 norm", "6 feed-forward",
        "7 sum 4 + 6",
    ),
    "post": (
        "1 stream", "2 attention", "3 sum 1 + 2", "4 norm", "5 feed-forward", "6 sum 4 + 5",
        "7 norm",
    ),
}  # fmt: skip
PLACEMENTS = {"pre": "pre-norm", "post": "post-norm"}
KINDS = {"layer": "LayerNorm", "rms": "RMSNorm", "batch": "BatchNorm"}
FUNCTIONS = {"relu": "ReLU", "gelu": "GELU", "gelu_tanh": "GELU, tanh", "swiglu": "SiLU"}


def render(view: View) -> None:
    """Draw the page."""
    with layout.slim_row("block"):
        token = controls.token(TOKEN, view.tokens, len(view.tokens) - 1, "last")
        controls.select(BLOCK_COLOUR, width=200)
    found = run_inside(view.handle, view.ids, view.layer)
    _steps(view, found, token)
    words.ask(
        "Each block adds to the stream. Where is it longer, before the first block or before the "
        "last? Guess before you look.",
        see="block-heights",
        **{LAYER.name: str(view.config.n_layers - 1)},
    )
    _norms(found, token)
    _neurons(found, token)
    _placements(found)
    _all_blocks(view, token)
    inspector.source(
        "model.blocks.Block",
        "model.norms.layer_norm",
        "model.norms.rms_norm",
        "model.analysis.block.batch_norm",
        "model.feedforward.FeedForward",
        "model.analysis.block.run_inside",
    )
    inspector.export(view, {})


# --- step by step -----------------------------------------------------------------------------


def _names(found: Inside) -> list[str]:
    """What the steps of a block are called, in their order; a sum says of which it is."""
    at = {step.name: str(number) for number, step in enumerate(found.order, start=1)}
    return [
        f"{at[step.name]} {step.kind}"
        + (" " + " + ".join(at[part] for part in step.of) if step.kind == "sum" else "")
        for step in found.order
    ]


def _steps(view: View, found: Inside, token: int) -> None:
    values, names = found.of_token(token), _names(found)
    lengths = np.linalg.norm(values.astype(np.float64), axis=-1)
    left, right = layout.two_up("block-steps", (3, 2))
    with left:
        title, is_shared = f"Token {token} through block L{view.layer}", state.value(BLOCK_COLOUR)
        chart = figures.step_map(values, names, title, is_shared=is_shared == "one")
        layout.show_chart(chart, key="block-steps")
    with right:
        layout.show_chart(figures.length_bars(lengths, names), key="block-lengths")
    words.caption(_added(found, token))
    checks = [Check(name, error, ALLOWED) for name, error in blocks.identities(found).items()]
    columns = layout.two_up("block-identities")
    half = (len(checks) + 1) // 2
    for column, some in zip(columns, (checks[:half], checks[half:]), strict=True):
        with column:
            verdicts.properties(some)
    if found.placement:
        before, between, after = (
            float(lengths[found.steps.index(name)])
            for name in ("resid_pre", "resid_mid", "resid_post")
        )
        formula = formulas.block(found.placement, (before, between, after))
        inspector.formula("model.blocks.Block", formula.latex, formula.reference)


def _added(found: Inside, token: int) -> str:
    """How long what each sublayer adds is, and which way it points."""
    said = []
    for part, name in blocks.SUBLAYERS.items():
        added, before = found.added(part, token)
        length = float(np.linalg.norm(added))
        cosine = cosine_similarity(np.stack([added, before]))[0, 1]
        said.append(
            f"{name} adds a vector of length {digits(length, 1)} at cosine {digits(cosine, 2)}"
        )
    return f"To the stream before it, {' and '.join(said)}."


# --- norms ------------------------------------------------------------------------------------


def _norms(found: Inside, token: int) -> None:
    row = layout.section(
        "Norms",
        "The same vectors under three norms; this model has "
        + " and ".join(dict.fromkeys(KINDS[norm.kind] for norm in found.norms.values()))
        + ".",
        "LayerNorm and RMSNorm work on each token alone: all numbers of a vector are divided by "
        "one number, so on the left its points lie on a line. BatchNorm works on each dimension "
        "across the batch, here the tokens of the sentence: every dimension has a line of its own, "
        "and what a token becomes depends on the others, even on later ones.",
    )
    with row:
        part = controls.segments(BLOCK_NORM, has_label=True)
    name = found.main_norms.get(part)
    if name is None:
        words.notice(f"{blocks.SUBLAYERS[part].capitalize()} has no norm that was found.")
        return
    norm, given = found.norms[name], found.given(name)
    after = {kind: blocks.normed(given, kind, norm.eps) for kind in KINDS}
    left, right = layout.two_up("block-norms")
    with left:
        _before_and_after(given[token], after, token)
    with right:
        _gain(norm)
    _statistics(norm, given[token])


def _before_and_after(before: np.ndarray, after: dict[str, np.ndarray], token: int) -> None:
    shown = {KINDS[kind]: values[token] for kind, values in after.items()}
    chart = figures.norm_scatter(before, shown, f"Token {token}, before and after")
    layout.show_chart(chart, key="block-norm")


def _gain(norm: Norm) -> None:
    """Gain, and the offset where there is one."""
    weights = {"gain": norm.gain} | ({"offset": norm.offset} if blocks.has_offset(norm) else {})
    chart = figures.gain_bars(weights, f"Learned {' and '.join(weights)} of the norm")
    layout.show_chart(chart, key="block-gain")


def _statistics(norm: Norm, before: np.ndarray) -> None:
    numbers = blocks.statistics(before, norm.eps)
    mean, deviation, root = (digits(x, 2) for x in numbers)
    words.caption(
        f"Of this vector: mean {mean}, deviation {deviation}, root mean square {root}. LayerNorm "
        "subtracts the first and divides by the second, RMSNorm divides by the third."
    )
    formula = formulas.norm(norm.kind, *numbers, has_offset=blocks.has_offset(norm))
    inspector.formula(f"model.norms.{norm.kind}_norm", formula.latex, formula.reference)


# --- neurons ----------------------------------------------------------------------------------


def _neurons(found: Inside, token: int) -> None:
    activation = found.values.get("activation")
    if activation is None:
        layout.section("Neurons", "The neurons of this feed-forward were not found.")
        return
    activation, kind, is_gated = activation[token], found.function, "gate" in found.values
    layout.section(
        "Neurons",
        f"The feed-forward widens the vector to {len(activation):,} neurons, applies its "
        "activation function to each, and projects back.",
        "The weights of a neuron are a direction: its pre-activation is the dot product of the "
        "token with it. "
        + (
            "What leaves the function is multiplied by a second dot product, its gate."
            if is_gated
            else "What leaves the function is how much the neuron adds of its own output vector."
        ),
    )
    left, right = layout.two_up("block-neurons")
    with left:
        if kind:
            after = found.values.get("gate", found.values["activation"])[token]
            _function(kind, found.values["pre_activation"][token], after)
    with right if kind else left:
        chart = figures.neuron_bars(activation, "Activation of each neuron")
        layout.show_chart(chart, key="block-neurons")
    share = digits(100 * blocks.concentration(activation), 1)
    words.caption(
        f"The {blocks.N_LARGEST} largest neurons have {share} % of the sum of all squares."
    )
    if not kind:
        return
    formula = formulas.neurons(kind, is_gated=is_gated)
    inspector.formula("model.feedforward.FeedForward", formula.latex, formula.reference)


def _function(kind: str, before: np.ndarray, after: np.ndarray) -> None:
    """The model's own function with its neurons, and others."""
    reach = blocks.reach_of(before)
    names = [kind if kind.startswith(name) else name for name in blocks.USUAL]
    curves = {FUNCTIONS[name]: blocks.curve(name, reach) for name in names}
    points, title = (before, after), "Neurons on their function"
    chart = figures.activation_points(curves, FUNCTIONS[kind], points, title)
    layout.show_chart(chart, key="block-function")


# --- where the norms stand --------------------------------------------------------------------


def _placements(found: Inside) -> None:
    """Both orders of steps, and which one this model has."""
    layout.section(
        "Pre-norm or post-norm",
        f"This model is {PLACEMENTS[found.placement]}."
        if found.placement
        else "This model is neither: its own order of steps stands above.",
        "Vaswani et al. 2017 normalise after each sum, so that the stream itself is normalised in "
        "every block and gradients must pass each norm. Xiong et al. 2020 normalise what a "
        "sublayer is given: the stream is a plain sum from the first block to the last, and needs "
        "one norm at its end.",
    )
    titles = {
        kind: f"{name}, this model" if kind == found.placement else name
        for kind, name in PLACEMENTS.items()
    }
    columns = {
        titles[kind]: [step.partition(" ")[2] for step in steps] for kind, steps in STEPS.items()
    }
    places = [str(number) for number in range(1, len(STEPS["pre"]) + 1)]
    words.table({"step": places, **columns}, texts=tuple(columns))


def _all_blocks(view: View, token: int) -> None:
    """The same token's stream through all blocks, and where to go on."""
    layout.section(
        "All blocks",
        f"How long the stream is at token {token} before each block, and what each adds.",
    )
    residuals = view.run.trace.residuals
    lengths = {
        name: np.array([np.linalg.norm(getattr(x, name)[token]) for x in residuals])
        for name in ("resid_pre", "attn_out", "ffn_out")
    }
    stream = np.append(lengths["resid_pre"], np.linalg.norm(residuals[-1].resid_post[token]))
    added = {"attention": lengths["attn_out"], "feed-forward": lengths["ffn_out"]}
    chart = figures.heights(stream, added, "Length, block by block")
    layout.show_chart(chart, key="block-heights")
    words.ways(
        [
            words.Way(
                "Attention",
                "Queries, keys, values and the pattern of each head.",
                query=links.to(view, "Attention"),
            ),
            words.Way(
                "Contributions",
                "What each block adds to one logit.",
                query=links.to(view, "Contributions", token=token),
            ),
            words.Way(
                "Logit lens",
                "What the stream would predict after each block.",
                query=links.to(view, "Logit lens", token=token),
            ),
        ]
    )


PAGE = Page(
    "Transformer block",
    ":material/view_agenda:",
    "Attention and a feed-forward each add to a token’s vector; norms hold its scale.",
    "The residual stream is one vector per token that runs through all blocks. Attention "
    "brings in what other tokens hold, the feed-forward works on each token alone, and each "
    "adds its result to the stream. The steps below are those of the layer chosen above.",
    render,
    needs=("decoder", "blocks"),
)
