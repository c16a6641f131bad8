"""Diagram: the blocks of the model that runs, with shapes and weights, each a way to its view."""

from collections.abc import Sequence
from dataclasses import replace
from urllib.parse import urlencode

import streamlit as st

from model.analysis.anatomy import Column, Part
from model.parts import STREAMS
from model.trace import Facts
from model.verify.check import Check
from viz import runs
from viz.figures.diagram import Box, Boxes, diagram
from viz.formulas import parts as formulas
from viz.frame import inspector, tables
from viz.frame.page import Page
from viz.frame.said import html_of
from viz.frame.view import View

NORMS = {"layer": "LayerNorm", "rms": "RMSNorm", None: "Norm"}
POSITIONS = {"sinusoidal": "Sinusoidal positions", "learned": "Learned positions"}
ROTATED = {"rope": ", RoPE on queries and keys", "alibi": ", ALiBi on scores"}
FEEDFORWARDS = {"relu": "ReLU", "gelu": "GELU", "gelu_tanh": "GELU (tanh)", "swiglu": "SwiGLU"}
TITLES = {
    "embedding": "Token embedding",
    "patches": "Patch embedding",
    "self_attention": "Self-attention",
    "cross_attention": "Cross-attention",
    "feed_forward": "MLP",
    "add": "Add",
    "scale": "Learned scale",
    "other": "Further weights",
    "class_token": "Class token",
    "unembedding": "Unembedding",
    "softmax": "Softmax",
}
# The view that shows a part, by architecture; those of attention are the same for all.
OUTPUT_VIEWS = {
    "decoder": "Next token",
    "encoder": "Masked language model",
    "encoder_decoder": "Translation",
    "vision": "Vision",
}
DECODERS_VIEWS = {
    "positions": "Positional encoding",
    "final_norm": "Logit lens",
    "unembedding": "Logit lens",
}


def checks(view: View) -> Sequence[Check]:
    """Whether the boxes count every weight of the file, and none twice."""
    return (runs.check_anatomy(view.handle),)


def render(view: View) -> None:
    """Draw the page."""
    has_cross = any(group.kind == "cross" for group in view.run.trace.groups)
    columns = runs.anatomy(view.handle, tuple(map(len, view.run.trace.streams)))
    facts = view.run.trace.facts
    drawn = [_drawn(column, facts, view) for column in columns]
    st.html(diagram(_with_memory(drawn, has_cross=has_cross), html_of))
    inside = [part for sublayer in columns[-1].sublayers for part in sublayer]
    written = formulas.block(
        facts.norm_placement or "pre",
        has_cross=has_cross,
        adds_normed=[part.kind for part in columns[-1].sublayers[-1]].count("norm") > 1,
        at_once=any(x.kind == "feed_forward" and x.reads == STREAMS[0] for x in inside),
    )
    inspector.formula("model.blocks.Block", written)
    inspector.source("model.blocks.Block", "model.architectures.stack.Stack")
    inspector.export(view, {"Parts": lambda: _table(columns, facts)}, has_charts=False)


def _with_memory(columns: Sequence[Boxes], *, has_cross: bool) -> Sequence[Boxes]:
    """The columns, the encoder's with what leaves it on top where the decoder attends to it."""
    if not has_cross:
        return columns
    encoder, *others = columns
    last = (encoder.after or encoder.sublayers[-1])[-1]
    memory = Box("memory", "Encoder's output", "to cross-attention in every layer", last.shape, "")
    return [replace(encoder, after=[*encoder.after, memory]), *others]


def _drawn(column: Column, facts: Facts, view: View) -> Boxes:
    """One stack."""

    def boxes(parts: Sequence[Part]) -> list[Box]:
        return [_box(part, facts, view) for part in parts]

    stream = view.run.trace.stream(column.name)
    unit = "patches" if stream.kind == "patches" else "tokens"
    return Boxes(
        column.name.capitalize(),
        f"{len(stream):,} {unit}",
        boxes(column.before),
        [boxes(sublayer) for sublayer in column.sublayers],
        f"× {column.n_layers:,} layers",
        boxes(column.after),
    )


def _box(part: Part, facts: Facts, view: View) -> Box:
    """A box of the diagram, a link to the view that shows it."""
    shape = " × ".join(f"{size:,}" for size in part.shape)
    title, detail = _title(part, facts), _detail(part, facts)
    return Box(part.kind, title, detail, shape, _weights(part.counts), _address(part, facts, view))


def _weights(counts: Sequence[int]) -> str:
    """How many weights a part has, in a block each layer's; empty where it has none."""
    found = [n for n in counts if n]
    if not found:
        return ""
    least, most = min(found), max(found)
    said = f"{least:,} weights" if least == most else f"{least:,} – {most:,} weights"
    if len(found) == len(counts):
        return said
    is_shared = found == [counts[0]]
    return f"{said}{' for all' if is_shared else f' in {len(found)} of'} {len(counts)} layers"


def _title(part: Part, facts: Facts) -> str:
    if part.kind in ("norm", "final_norm"):
        return ("Final " if part.kind == "final_norm" else "") + NORMS[part.norm]
    if part.kind == "positions":
        return POSITIONS.get(facts.position or "", "Positional encoding")
    return TITLES[part.kind]


def _detail(part: Part, facts: Facts) -> str:
    """What a part does in this model, in a few words."""
    if part.kind == "self_attention":
        return f"{_heads(part)}{_rotated(part, facts)}{_mask(part, facts)}"
    if part.kind == "cross_attention":
        return f"{_heads(part)}; keys and values of the encoder's output"
    if part.kind == "feed_forward":
        return _feed_forward(part, facts)
    if part.kind == "embedding":
        scale = f", {part.detail}" if part.detail else ""
        shared = "" if part.n_parameters else ", the encoder's"
        return f"{facts.vocab_size:,} tokens{scale}{shared}"
    if part.kind == "unembedding" and facts.tied_embeddings:
        return "the token embedding, transposed"
    if part.kind == "class_token":
        return "the row of [CLS] alone"
    if part.kind == "softmax":
        return f"over {part.shape[-1]:,} {'classes' if facts.predicts == 'class' else 'tokens'}"
    return part.detail


def _feed_forward(part: Part, facts: Facts) -> str:
    """Its width, where one matrix makes what it writes, its function, and what else it reads."""
    d_model = part.shape[-1]
    found = [
        f"{d_model:,} → {part.width:,} → {d_model:,}" if part.width else "",
        FEEDFORWARDS.get(facts.feedforward or "", ""),
        "beside attention: both read the same" if part.reads == STREAMS[0] else "",
    ]
    return ", ".join(filter(None, found))


def _heads(part: Part) -> str:
    """How many heads of what size, least and most where layers differ."""
    n, shared, size = (
        " – ".join(map(str, sorted({min(found), max(found)})))
        for found in zip(*(x[:3] for x in part.heads), strict=True)
    )
    return f"{n} heads of {size}{f', {shared} KV heads' if shared != n else ''}"


def _rotated(part: Part, facts: Facts) -> str:
    """What positions do in attention; some layers may turn queries and keys, and others not."""
    n_turned = sum(heads.is_turned for heads in part.heads)
    if facts.position or not n_turned:
        return ROTATED.get(facts.position or "", "")
    return f"{ROTATED['rope']} in {n_turned} of {len(part.heads)} layers"


def _mask(part: Part, facts: Facts) -> str:
    """The mask of a stack; an encoder has none. Layers may differ in how far they look back."""
    windows = [heads.window for heads in part.heads if heads.window]
    if part.group.startswith("encoder") and not windows:
        return ", no mask"
    if not windows or len(windows) == len(part.heads):
        return f", {(facts.mask or 'causal').replace('_', ' ')} mask"
    return f", a window of {max(windows):,} in {len(windows)} of {len(part.heads)} layers"


def _address(part: Part, facts: Facts, view: View) -> str:
    """What an address changes to for the view of a part; empty where there is none."""
    if part.group:
        return urlencode({"page": "Attention", "model": view.model, "attention": part.group})
    if part.kind == "softmax" and facts.architecture in OUTPUT_VIEWS:
        return urlencode({"page": OUTPUT_VIEWS[facts.architecture]})
    if part.kind == "embedding":
        return urlencode({"page": "Tokens"})
    if facts.architecture == "decoder" and part.kind in DECODERS_VIEWS:
        return urlencode({"page": DECODERS_VIEWS[part.kind]})
    return ""


def _table(columns: Sequence[Column], facts: Facts) -> bytes:
    """One line for each part, in the order of the forward pass."""
    rows = [
        {
            "stack": column.name,
            "layers": len(part.counts),
            "part": _title(part, facts),
            "detail": _detail(part, facts),
            "rows": part.shape[0] if part.shape else None,
            "columns": part.shape[1] if part.shape else None,
            "weights in all layers": part.n_parameters,
        }
        for column in columns
        for part in column.parts
    ]
    return tables.csv(rows)


PAGE = Page(
    "Diagram",
    ":material/account_tree:",
    "The model that runs, block by block, from its input at the foot to its output on top.",
    "Drawn from what the model is built of, for the sentence above. A box names a step "
    "of the forward pass, the shape of what leaves it (rows × columns) and how many weights it "
    "has. A line beside a box goes round it: the residual connection. Click a box to see it at "
    "work.",
    render,
    needs=("blocks",),
    checks=checks,
)
