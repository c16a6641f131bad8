"""Each kind of mask as matrix, formula, receptive field and cost, and the model under it."""

import numpy as np

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
from viz.formulas.parts import share_with_numbers, with_causal
from viz.frame import inspector, layout, scenes, words
from viz.frame.page import Numbers
from viz.frame.view import View
from viz.pages.ideas.masks.shared import NAMES, Chosen, choose, in_words, run_under
from viz.runs import Run

LENGTHS = (4, 8, 16, 32, 64, 128, 256, 512)


def draw(view: View) -> Numbers:
    """A mask, and a head of the model under it."""
    chosen = _chosen(view)
    run = run_under(view, chosen, chosen.mask)
    record, tokens = run.trace.attention[view.layer], run.trace.tokens
    title = f"{view.head_name} of this model under it"
    layout.show_charts(
        {
            "mask": mask_map(chosen.mask, tokens, f"The mask: {chosen.name}"),
            "pattern": pattern_map(record.pattern[view.head], record.mask, tokens, title),
        }
    )
    _say_loss(view, chosen, run)
    inspector.checked(chosen.name, run.checking.result)
    trained = "" if chosen.is_own else "not "
    return {"mask": in_words(chosen), "trained": trained}


def _chosen(view: View) -> Chosen:
    """The mask that is chosen, with its formula."""
    with scenes.to_set():
        chosen = choose(view)
    source = source_of(chosen.kind)
    inspector.formula(source)
    if chosen.kind in TWO_SIDED and chosen.sizes.is_causal:
        inspector.formula(source, with_causal(source))
    inspector.source(source)
    return chosen


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


def draw_reach(view: View) -> Numbers:
    """How many layers it takes until one token can influence another."""
    chosen = _chosen(view)
    layers, n_layers = layers_to_reach(chosen.mask), view.config.n_layers
    n_tokens = len(view.tokens)
    last = layers[n_tokens - 1]  # of the sentence; pad tokens come after it
    sizes = [int(((last >= 0) & (last <= n)).sum()) for n in range(max(n_layers, last.max()) + 1)]
    longest, n_never = int(layers.max()), int((layers < 0).sum())
    tokens = run_under(view, chosen, chosen.mask).trace.tokens
    layout.show_charts(
        {
            "reach": receptive_field_map(layers, tokens, n_layers),
            "known": receptive_field_curve(sizes, n_layers, n_tokens),
        },
        reach=[receptive_field_map(layers, tokens, n_layers, n) for n in scenes.turns(longest + 1)],
    )
    inspector.formula("model.analysis.masking.layers_to_reach")
    inspector.source("model.analysis.masking.layers_to_reach")
    never = f"; {n_never:,} of {layers.size:,} pairs never are" if n_never else ""
    return {
        "mask": in_words(chosen),
        "layers": _layers(n_layers),
        "reached": f"{sizes[min(n_layers, len(sizes) - 1)]:,} of {n_tokens:,}",
        "longest": f"{_layers(longest)}{never}",
    }


def _layers(n: int) -> str:
    """So many layers."""
    return f"{n:,} layer{'' if n == 1 else 's'}"


def draw_cost(view: View) -> Numbers:
    """How many pairs each kind of mask has as the text grows."""
    chosen = _chosen(view)
    kinds = dict.fromkeys(("causal", "sliding_window", "prefix", "global_tokens", chosen.kind))
    kinds.pop("everything", None)  # which is all pairs
    pairs = {NAMES[kind]: [n_pairs(kind, chosen.sizes, n) for n in LENGTHS] for kind in kinds}
    pairs[EVERY_PAIR] = [n * n for n in LENGTHS]
    strong = EVERY_PAIR if chosen.kind == "everything" else chosen.name
    layout.show_chart(cost_curves(LENGTHS, pairs, strong), key="cost")
    n_open, n = int(chosen.mask.sum()), len(chosen.ids)
    inspector.formula(source_of(chosen.kind), share_with_numbers(n_open, n))
    return {"name": chosen.name, "pairs": f"{n_open:,} of {n * n:,}"}
