"""Each kind of mask as matrix, formula, reach over depth, and cost, and the model under it."""

import numpy as np
import streamlit as st

from viz import controls, say, ui
from viz.figures.masks import (
    EVERY_PAIR,
    cost_curves,
    mask_map,
    pattern_map,
    reach_curve,
    reach_map,
)
from viz.formulas import share_with_numbers, with_causal
from viz.pages.masks.shared import NAMES, WORDS, Chosen, choose, choose_kind, mask_csv, run_under
from viz.runs import Run, masks

LENGTHS = (4, 8, 16, 32, 64, 128, 256, 512)


def draw(view: ui.View) -> None:
    """Draw the view."""
    kind = choose_kind(view)
    with ui.row("mask"):
        chosen = choose(view, kind)
    controls.show_complaints()
    run = run_under(view, chosen, chosen.mask)
    tokens = run.trace.tokens
    trained = (
        "The model was trained with this mask."
        if chosen.is_own
        else ("The model was not trained with this mask; it runs under it here.")
    )
    st.markdown(f"{WORDS[chosen.kind]} {trained}")
    _matrix_and_pattern(view, chosen, run)
    source = masks.source(chosen.kind)
    ui.formula(source)
    if chosen.kind in masks.TWO_SIDED and chosen.sizes.is_causal:
        ui.formula(source, with_causal(source))
    layers = masks.reach(chosen.mask)
    _reach(view, layers, tokens)
    _cost(view, chosen)
    ui.checked(f"{chosen.name}", run.checks, "mask")
    ui.source(source, "model.analysis.masking.layers_to_reach")
    ui.export(
        view,
        "masks",
        {
            "Mask": lambda: mask_csv(tokens, chosen.mask),
            "Layers to reach": lambda: ui.table_csv(layers, tokens, tokens, "token \\ knows of"),
            f"Pattern {view.head_name}": lambda: ui.table_csv(
                run.trace.attention[view.layer].pattern[view.head], tokens, tokens, "query \\ key"
            ),
        },
    )


def _matrix_and_pattern(view: ui.View, chosen: Chosen, run: Run) -> None:
    record, tokens = run.trace.attention[view.layer], run.trace.tokens
    left, right = ui.two_up("mask")
    with left:
        ui.show_figure(
            mask_map(chosen.mask, tokens, view.colors, f"The mask: {chosen.name}"),
            key="mask",
            alt=f"The mask: {int((~chosen.mask).sum())} of {chosen.mask.size} cells are hidden.",
        )
    with right:
        ui.show_figure(
            pattern_map(
                record.pattern[view.head],
                record.mask,
                tokens,
                view.colors,
                f"{view.head_name} of this model under it",
            ),
            key="pattern",
            alt=f"Attention weights of {view.head_name} under the mask; each row sums to one.",
        )
    losses = masks.losses(view.run.trace), masks.losses(run.trace)[: len(view.tokens) - 1]
    if len(losses[0]) and not chosen.is_own:
        in_sight = (
            " Under this one some tokens stood in sight of those that had to predict them, so it "
            "is no measure of how well the model predicts."
            if np.triu(chosen.mask, 1).any()
            else ""
        )
        say.notice(
            f"Loss on this sentence: {losses[0].mean():.4f} nats per token under the model's own "
            f"mask, {losses[1].mean():.4f} under this one.{in_sight}"
        )


def _reach(view: ui.View, layers: np.ndarray, tokens: tuple[str, ...]) -> None:
    n_layers = view.run.trace.config.n_layers
    ui.section(
        "How far knowledge travels",
        "One layer brings a token what it may read. The next layer brings what those had read. So "
        "a token can know of any other that a path through the mask leads to, one step a layer.",
    )
    last = layers[len(view.tokens) - 1]  # of the sentence; filler comes behind
    known = [int(((last >= 0) & (last <= n)).sum()) for n in range(max(n_layers, last.max()) + 1)]
    left, right = ui.two_up("reach")
    with left:
        ui.show_figure(
            reach_map(layers, tokens, n_layers, view.colors),
            key="reach",
            alt=f"Layers until each token can know of each other, up to {layers.max()}; "
            f"{int((layers < 0).sum())} pairs never.",
        )
    with right:
        ui.show_figure(
            reach_curve(known, n_layers, len(view.tokens), view.colors),
            key="known",
            alt=f"The last token can know of {known[min(1, len(known) - 1)]} tokens after one "
            f"layer, {known[min(n_layers, len(known) - 1)]} after {n_layers}.",
        )
    ui.formula("model.analysis.masking.layers_to_reach")
    longest, n_never = int(layers.max()), int((layers < 0).sum())
    say.notice(
        f"After {n_layers} layers, all this model has, the last token can know of "
        f"{known[min(n_layers, len(known) - 1)]} of {len(view.tokens)} tokens. The longest way "
        f"takes {longest} layer{'' if longest == 1 else 's'}; for {n_never} of {layers.size} pairs "
        "there is none."
    )


def _cost(view: ui.View, chosen: Chosen) -> None:
    ui.section(
        "What it costs",
        "Each pair that may attend costs a product of d_head numbers in every head and layer. With "
        "a window their number grows with the length n, with or without global tokens; else with "
        "its square.",
    )
    kinds = dict.fromkeys(("causal", "sliding_window", "prefix", "global_tokens", chosen.kind))
    kinds.pop("everything", None)  # which is all pairs
    pairs = {NAMES[kind]: [masks.n_pairs(kind, chosen.sizes, n) for n in LENGTHS] for kind in kinds}
    pairs[EVERY_PAIR] = [n * n for n in LENGTHS]
    ui.show_figure(
        cost_curves(
            LENGTHS,
            pairs,
            EVERY_PAIR if chosen.kind == "everything" else chosen.name,
            view.colors,
        ),
        key="cost",
        alt=f"Attended pairs by length; at {LENGTHS[-1]} tokens "
        + ", ".join(f"{name} {counts[-1]:,}" for name, counts in pairs.items()),
    )
    ui.formula(
        masks.source(chosen.kind), share_with_numbers(int(chosen.mask.sum()), len(chosen.ids))
    )
