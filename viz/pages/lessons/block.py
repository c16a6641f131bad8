"""The block: one token's vector through one block of the running model, step by step."""

from collections.abc import Sequence

import numpy as np
import streamlit as st

from model.analysis import block as blocks
from model.analysis.block import Inside
from model.analysis.cosine import cosine_similarity
from model.verify.check import Check
from viz.digits import digits
from viz.figures import block as figures
from viz.formulas import lessons as formulas
from viz.frame import controls, inspector, layout, scenes, words
from viz.frame.page import Numbers, Page
from viz.frame.said import Word
from viz.frame.settings import BLOCK_NORM, TOKEN
from viz.frame.view import View
from viz.labels import token_labels
from viz.pages.lessons import residual
from viz.pages.lessons.residual import PLACEMENTS
from viz.runs.blocks import inside as run_inside

ALLOWED = 1e-5
KINDS = {"layer": "LayerNorm", "rms": "RMSNorm", "batch": "BatchNorm"}
FUNCTIONS = {"relu": "ReLU", "gelu": "GELU", "gelu_tanh": "GELU, tanh", "swiglu": "SiLU"}


def _inside(view: View) -> Inside:
    return run_inside(view.handle, view.ids, view.layer)


def _checks(view: View) -> Sequence[Check]:
    return [Check(name, error, ALLOWED) for name, error in blocks.identities(_inside(view)).items()]


def _token(view: View) -> tuple[int, Numbers]:
    """The chosen token, and what the words call it and the layer."""
    with scenes.to_set():
        token = controls.token(TOKEN, view.tokens, len(view.tokens) - 1, "last")
    return token, {"layer": f"L{view.layer}", "token": Word(token_labels(view.tokens)[token])}


def _length(vector: np.ndarray, places: int = 0) -> str:
    return digits(float(np.linalg.norm(vector)), places)


# --- step by step -----------------------------------------------------------------------------


def _names(found: Inside) -> list[str]:
    """What the steps of a block are called, in their order; a sum says of which it is."""
    at = {step.name: str(number) for number, step in enumerate(found.order, start=1)}
    return [
        f"{at[step.name]} {step.kind}"
        + (" " + " + ".join(at[part] for part in step.of) if step.kind == "sum" else "")
        for step in found.order
    ]


def _steps(view: View) -> Numbers:
    """The token's vector after each step of the block, and how long it is."""
    found, (token, said) = _inside(view), _token(view)
    values, names = found.of_token(token), _names(found)
    lengths, kinds = (
        np.linalg.norm(values.astype(np.float64), axis=-1),
        [x.kind for x in found.order],
    )
    title = f"Token {token} through block L{view.layer}"
    chart = figures.length_bars(lengths, names, kinds, f"{title}: the length of its vector")
    layout.show_chart(chart, key="block-lengths")
    with st.expander("Every number of it"):
        layout.show_chart(figures.step_map(values, names, title), key="block-steps")
    if found.placement:
        before, between, after = (
            float(np.linalg.norm(found.values[name][token])) for name in blocks.STREAM[::2]
        )
        formula = formulas.block(found.placement, (before, between, after))
        inspector.formula("model.blocks.Block", formula)
    numbers = {"before": _length(found.values["resid_pre"][token])}
    for part, name in blocks.SUBLAYERS.items():
        both = np.stack(found.added(part, token))
        cosine = float(cosine_similarity(both)[0, 1])
        numbers |= {name: _length(both[0]), f"{name} cosine": digits(cosine, 2)}
    return {**said, **numbers}


def _blocks(view: View) -> Numbers:
    """The same token's stream through all blocks."""
    token, said = _token(view)
    residuals = view.run.trace.residuals
    stream, attention, feed_forward = (
        np.array([np.linalg.norm(getattr(x, name)[token]) for x in residuals])
        for name in ("resid_pre", "attn_out", "ffn_out")
    )
    stream = np.append(stream, np.linalg.norm(residuals[-1].resid_post[token]))
    added = {"attention": attention, "MLP": feed_forward}
    charts = [
        figures.heights(stream, added, n, "Length, block by block") for n in range(len(stream))
    ]
    plays = [charts[i] for i in scenes.turns(len(charts))]
    layout.show_chart(charts[-1], key="block-heights", plays=plays)
    more = [f"L{layer}" for layer in np.flatnonzero(feed_forward > attention)]
    ends = {"first": digits(float(stream[0]), 0), "last": digits(float(stream[-1]), 0)}
    is_known = np.isfinite(feed_forward + attention).all()
    return {**said, **ends, "more": (", ".join(more) or "none") if is_known else None}


# --- norms ------------------------------------------------------------------------------------


def _norms(view: View) -> Numbers:
    """One vector under three norms, and what the model's own norm has learned."""
    found, (token, said) = _inside(view), _token(view)
    with scenes.to_set():
        part = controls.select(BLOCK_NORM, width=180)
    name = found.main_norms.get(part)
    if name is None:
        words.notice(f"No norm of {BLOCK_NORM.words(part)} was found.")
        return {}
    norm, given = found.norms[name], found.given(name)
    after = {KINDS[kind]: blocks.normed(given, kind, norm.eps)[token] for kind in KINDS}
    weights = {"gain": norm.gain} | ({"offset": norm.offset} if blocks.has_offset(norm) else {})
    title = f"Learned {' and '.join(weights)} of the norm"
    charts = {
        "block-norm": figures.norm_scatter(given[token], after, f"Token {token}, before and after"),
        "block-gain": figures.gain_bars(weights, title),
    }
    layout.show_charts(charts)
    numbers = blocks.statistics(given[token], norm.eps)
    formula = formulas.norm(norm.kind, *numbers, has_offset="offset" in weights)
    inspector.formula(f"model.norms.{norm.kind}_norm", formula)
    return {
        **said,
        "norm": KINDS[norm.kind],
        "before": _length(given[token]),
        "after": _length(found.values[name][token]),
        "placement": PLACEMENTS[found.placement],
    }


# --- neurons ----------------------------------------------------------------------------------


def _neurons(view: View) -> Numbers:
    """The neurons on the function that bends them, and how much each is active."""
    found, (token, said) = _inside(view), _token(view)
    kind, is_gated = found.function, "gate" in found.values
    if "activation" not in found.values:
        words.notice("The neurons of this MLP were not found.")
        return {}
    activation = found.values["activation"][token]
    left, right = layout.two_up("block-neurons")
    if kind:
        before = found.values["pre_activation"][token]
        after = found.values["gate"][token] if is_gated else activation
        reach = blocks.reach_of(before)
        usual = [kind if kind.startswith(name) else name for name in blocks.USUAL]
        curves = {FUNCTIONS[name]: blocks.curve(name, reach) for name in usual}
        title = "Neurons on their function"
        chart = figures.activation_points(curves, FUNCTIONS[kind], (before, after), title)
        with left:
            layout.show_chart(chart, key="block-function")
        formula = formulas.neurons(kind, is_gated=is_gated)
        inspector.formula("model.feedforward.FeedForward", formula)
    with right if kind else left:
        chart = figures.neuron_bars(activation, "Activation of each neuron")
        layout.show_chart(chart, key="block-neurons")
    return {
        **said,
        "neurons": f"{len(activation):,}",
        "function": FUNCTIONS.get(kind, "a function that was not found"),
        "largest": str(min(blocks.N_LARGEST, len(activation))),
        "share": digits(100 * blocks.concentration(activation), 0),
    }


PAGE = Page(
    "Transformer block",
    ":material/view_agenda:",
    "What does a layer do besides attention?",
    needs=("decoder", "blocks"),
    checks=_checks,
    scenes={
        "steps": _steps,
        "blocks": _blocks,
        "norms": _norms,
        "neurons": _neurons,
        "gradients": residual.gradients,
    },
    wide=("norms", "neurons", "gradients"),
    needs_two=("gradients",),
    source=(
        "model.blocks.Block",
        "model.norms.layer_norm",
        "model.norms.rms_norm",
        "model.analysis.block.batch_norm",
        "model.feedforward.FeedForward",
        "model.analysis.block.run_inside",
        *residual.SOURCE,
    ),
)
