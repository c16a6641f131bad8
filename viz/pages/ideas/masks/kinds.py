"""Each kind of mask as matrix, formula, receptive field and cost, and the model under it."""

import numpy as np
import streamlit as st

from model.analysis.mask_kinds import TWO_SIDED, n_pairs, source_of
from model.analysis.masking import layers_to_reach
from model.analysis.probabilities import next_token_losses
from viz.digits import digits
from viz.figures.masks import (
    EVERY_PAIR,
    cost_curves,
    receptive_field_curve,
    receptive_field_map,
)
from viz.figures.token_maps import mask_map, pattern_map
from viz.formulas import share_with_numbers, with_causal
from viz.frame import inspector, layout, words
from viz.frame.view import View
from viz.pages.ideas.masks.shared import (
    NAMES,
    Chosen,
    choose,
    choose_kind,
    in_words,
    is_of_config,
    run_under,
)
from viz.runs import Run

LENGTHS = (4, 8, 16, 32, 64, 128, 256, 512)


def draw(view: View) -> None:
    """Draw the view."""
    with layout.slim_row("mask"):
        chosen = choose(view, choose_kind(view))
    run = run_under(view, chosen, chosen.mask)
    _matrix_and_pattern(view, chosen, run)
    with st.container(key="said-of-mask"):  # as many parts below it, whatever there is to say
        filled = "Filled: may attend; hatched: masked."
        words.paragraph(f"{in_words(chosen)} {_trained(view, chosen)} {filled}")
        _say_loss(view, chosen, run)
    source = source_of(chosen.kind)
    inspector.formula(source)
    if chosen.kind in TWO_SIDED and chosen.sizes.is_causal:
        inspector.formula(source, with_causal(source))
    layers = layers_to_reach(chosen.mask)
    _receptive_field(view, layers, run)
    _cost(view, chosen)
    inspector.checked(chosen.name, run.checking.result)
    inspector.source(source, "model.analysis.masking.layers_to_reach")
    inspector.export(view, {})


def _trained(view: View, chosen: Chosen) -> str:
    """Whether the mask is the one of the config, or happens to be the same over these tokens."""
    if chosen.is_own and is_of_config(view.config, chosen):
        return "The model was trained with this mask."
    if chosen.is_own:
        return "Over these tokens it is the mask that the model was trained with."
    return "The model was not trained with this mask; it runs under it here."


def _matrix_and_pattern(view: View, chosen: Chosen, run: Run) -> None:
    record, tokens = run.trace.attention[view.layer], run.trace.tokens
    left, right = layout.two_up("mask")
    with left:
        chart = mask_map(chosen.mask, tokens, f"The mask: {chosen.name}")
        layout.show_chart(chart, key="mask")
    with right:
        title = f"{view.head_name} of this model under it"
        chart = pattern_map(record.pattern[view.head], record.mask, tokens, title)
        layout.show_chart(chart, key="pattern")


def _say_loss(view: View, chosen: Chosen, run: Run) -> None:
    """The loss under this mask and under the model's own, where they differ."""
    own, here = (
        next_token_losses(view.run.trace.logits, view.run.trace.ids),
        next_token_losses(run.trace.logits, run.trace.ids)[: len(view.tokens) - 1],
    )
    if not len(own) or chosen.is_own:
        return
    leakage = (
        " Under this one there is label leakage: tokens attended to their own targets, so it is "
        "not a measure of how well the model predicts."
        if np.triu(chosen.mask, 1).any()
        else ""
    )
    words.notice(
        f"Loss on this sentence: {digits(own.mean())} nats per token under the model's own "
        f"mask, {digits(here.mean())} under this one.{leakage}"
    )


def _receptive_field(view: View, layers: np.ndarray, run: Run) -> None:
    tokens = run.trace.tokens
    n_layers, n_tokens = view.config.n_layers, len(view.tokens)
    layout.section(
        "Receptive field by depth",
        "How many layers it takes until one token can influence another.",
        "In one layer a token can be influenced by those it may attend to, in the next also by "
        "those these had attended to. So a token can be influenced by any other that a path "
        "through the mask leads to, one step per layer.",
    )
    last = layers[n_tokens - 1]  # of the sentence; pad tokens come after it
    sizes = [int(((last >= 0) & (last <= n)).sum()) for n in range(max(n_layers, last.max()) + 1)]
    after_all = sizes[min(n_layers, len(sizes) - 1)]
    longest, n_never = int(layers.max()), int((layers < 0).sum())
    left, right = layout.two_up("reach")
    with left:
        layout.show_chart(receptive_field_map(layers, tokens, n_layers), key="reach")
    with right:
        layout.show_chart(receptive_field_curve(sizes, n_layers, n_tokens), key="known")
    inspector.formula("model.analysis.masking.layers_to_reach")
    never = f"; {n_never:,} of {layers.size:,} pairs never are" if n_never else ""
    words.notice(
        f"After {n_layers:,} layers, all this model has, the last token can be influenced by "
        f"{after_all:,} of {n_tokens:,} tokens. Every reachable pair is connected within "
        f"{longest:,} layer{'' if longest == 1 else 's'}{never}."
    )


def _cost(view: View, chosen: Chosen) -> None:
    layout.section(
        "Cost",
        "Each pair that may attend costs a product of d_head numbers in every head and layer.",
        "With a window their number grows with the length n, with or without global tokens; else "
        "with its square.",
    )
    kinds = dict.fromkeys(("causal", "sliding_window", "prefix", "global_tokens", chosen.kind))
    kinds.pop("everything", None)  # which is all pairs
    pairs = {NAMES[kind]: [n_pairs(kind, chosen.sizes, n) for n in LENGTHS] for kind in kinds}
    pairs[EVERY_PAIR] = [n * n for n in LENGTHS]
    strong = EVERY_PAIR if chosen.kind == "everything" else chosen.name
    layout.show_chart(cost_curves(LENGTHS, pairs, strong), key="cost")
    inspector.formula(
        source_of(chosen.kind), share_with_numbers(int(chosen.mask.sum()), len(chosen.ids))
    )
