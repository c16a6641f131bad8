"""Diagram: the blocks of the model that runs, with shapes and weights, each a way to its view."""

from collections.abc import Sequence
from dataclasses import replace
from urllib.parse import urlencode

import streamlit as st

from model.analysis.anatomy import Column, Part
from model.config import BlockConfig, TextConfig, VisionConfig
from model.verify.check import Check
from viz import formulas, runs
from viz.figures.diagram import Box, Boxes, diagram
from viz.frame import inspector, layout, notices, tables
from viz.frame.said import html_of
from viz.frame.view import View

TITLE = "Diagram"
ICON = ":material/account_tree:"
NEEDS = ("weights",)

NORMS = {"layer": "LayerNorm", "rms": "RMSNorm"}
POSITIONS = {"sinusoidal": "Sinusoidal positions", "learned": "Learned positions"}
ROTATED = {"rope": ", RoPE on queries and keys", "alibi": ", ALiBi on scores"}
FEEDFORWARDS = {"relu": "ReLU", "gelu": "GELU", "gelu_tanh": "GELU (tanh)", "swiglu": "SwiGLU"}
TITLES = {
    "embedding": "Token embedding",
    "patches": "Patch embedding",
    "self_attention": "Self-attention",
    "cross_attention": "Cross-attention",
    "feed_forward": "Feed-forward",
    "add": "Add",
    "class_token": "Class token",
    "unembedding": "Unembedding",
    "softmax": "Softmax",
}
# The view that shows a part, by architecture; those of attention are the same for all.
OUTPUT_VIEWS = {
    "decoder": "Next token",
    "encoder": "Encoder",
    "encoder_decoder": "Translation",
    "vision": "Vision",
}
DECODERS_VIEWS = {"positions": "Positions", "final_norm": "Logit lens", "unembedding": "Logit lens"}


def checks(view: View) -> Sequence[Check]:
    """Whether the boxes count every weight of the file, and none twice."""
    return (runs.check_anatomy(view.handle),)


def render(view: View) -> None:
    """Draw the page."""
    layout.heading(
        ICON,
        TITLE,
        "The model that runs, block by block, from its input at the foot to its output on top.",
        "Drawn from the model's config and its weights, for the sentence above. A box names a step "
        "of the forward pass, the shape of what leaves it (rows × columns) and how many weights it "
        "has. A line beside a box goes round it: the residual connection. Click a box to see it at "
        "work.",
    )
    notices.show()
    has_cross = any(group.kind == "cross" for group in view.run.trace.groups)
    columns = runs.anatomy(view.handle, tuple(map(len, view.run.trace.streams)))
    config = runs.checkpoint(view.handle).config
    drawn = [_drawn(column, config, view) for column in columns]
    st.html(diagram(_with_memory(drawn, has_cross=has_cross), html_of))
    written = formulas.block(config.norm_placement, has_cross=has_cross)
    inspector.formula("model.blocks.Block", written.latex, written.reference)
    inspector.source("model.blocks.Block", "model.architectures.stack.Stack")
    inspector.export(view, {"Parts": lambda: _table(columns, config)}, has_charts=False)


def _with_memory(columns: Sequence[Boxes], *, has_cross: bool) -> Sequence[Boxes]:
    """The columns, the encoder's with what leaves it on top where the decoder attends to it."""
    if not has_cross:
        return columns
    encoder, *others = columns
    last = (encoder.after or encoder.sublayers[-1])[-1]
    memory = Box("memory", "Encoder's output", "to cross-attention in every layer", last.shape, "")
    return [replace(encoder, after=[*encoder.after, memory]), *others]


def _drawn(column: Column, config: BlockConfig, view: View) -> Boxes:
    """One stack."""

    def boxes(parts: Sequence[Part]) -> list[Box]:
        return [_box(part, config, view) for part in parts]

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


def _box(part: Part, config: BlockConfig, view: View) -> Box:
    """A box of the diagram, a link to the view that shows it."""
    shape = " × ".join(f"{size:,}" for size in part.shape)
    weights = f"{part.n_parameters:,} weights" if part.n_parameters else ""
    href = _address(part, config, view)
    return Box(part.kind, _title(part, config), _detail(part, config), shape, weights, href)


def _title(part: Part, config: BlockConfig) -> str:
    if part.kind in ("norm", "final_norm"):
        return ("Final " if part.kind == "final_norm" else "") + NORMS[config.norm]
    return POSITIONS[config.position] if part.kind == "positions" else TITLES[part.kind]


def _detail(part: Part, config: BlockConfig) -> str:
    """What a part does in this model, in a few words."""
    if part.kind == "self_attention":
        shared = f", {config.n_kv_heads} KV heads" if config.n_kv_heads < config.n_heads else ""
        return f"{_heads(config)}{shared}{ROTATED.get(config.position, '')}{_mask(part, config)}"
    if part.kind == "cross_attention":
        return f"{_heads(config)}; keys and values of the encoder's output"
    if part.kind == "feed_forward":
        activation = FEEDFORWARDS[config.feedforward]
        return f"{config.d_model} → {config.d_ff} → {config.d_model}, {activation}"
    if isinstance(config, TextConfig):
        return _detail_of_text(part, config)
    if isinstance(config, VisionConfig):
        return _detail_of_pictures(part, config)
    return ""


def _heads(config: BlockConfig) -> str:
    return f"{config.n_heads} heads of {config.d_head}"


def _mask(part: Part, config: BlockConfig) -> str:
    """The mask of a stack; an encoder has none."""
    if part.group.startswith("encoder"):
        return ", no mask"
    return f", {getattr(config, 'mask', 'causal').replace('_', ' ')} mask"


def _detail_of_text(part: Part, config: TextConfig) -> str:
    if part.kind == "embedding":
        scale = f", × √{config.d_model}" if config.scale_embeddings else ""
        shared = "" if part.n_parameters else ", the encoder's"
        return f"{config.vocab_size:,} tokens{scale}{shared}"
    if part.kind == "unembedding" and config.tied_embeddings:
        return "the token embedding, transposed"
    return f"over {config.vocab_size:,} tokens" if part.kind == "softmax" else ""


def _detail_of_pictures(part: Part, config: VisionConfig) -> str:
    if part.kind == "patches":
        return f"{config.patch_size} × {config.patch_size} pixels each, [CLS] before them"
    if part.kind == "class_token":
        return "the row of [CLS] alone"
    return f"over {config.n_classes} classes" if part.kind == "softmax" else ""


def _address(part: Part, config: BlockConfig, view: View) -> str:
    """What an address changes to for the view of a part; empty where there is none."""
    if part.group:
        return urlencode({"page": "Attention", "model": view.model, "attention": part.group})
    if part.kind == "softmax" and config.architecture in OUTPUT_VIEWS:
        return urlencode({"page": OUTPUT_VIEWS[config.architecture]})
    if part.kind == "embedding":
        return urlencode({"page": "Tokens"})
    if config.architecture == "decoder" and part.kind in DECODERS_VIEWS:
        return urlencode({"page": DECODERS_VIEWS[part.kind]})
    return ""


def _table(columns: Sequence[Column], config: BlockConfig) -> bytes:
    """One line for each part, in the order of the forward pass."""
    rows = []
    for column in columns:
        inside = [part for sublayer in column.sublayers for part in sublayer]
        for times, parts in ((1, column.before), (column.n_layers, inside), (1, column.after)):
            rows += [
                {
                    "stack": column.name,
                    "layers": times,
                    "part": _title(part, config),
                    "detail": _detail(part, config),
                    "rows": part.shape[0],
                    "columns": part.shape[1],
                    "weights": part.n_parameters,
                }
                for part in parts
            ]
    return tables.frame_csv(tables.frame(rows))
