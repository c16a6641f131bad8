"""Cross-attention as an alignment, beside one that was made by hand."""

from dataclasses import dataclass

import streamlit as st

from model.names import head_name
from viz.digits import digits
from viz.figures.translation import alignment_map, error_rate_map
from viz.frame import controls, inspector, layout, settings, state, words
from viz.frame.examples import pair_of, pairs
from viz.frame.view import View
from viz.labels import words_of
from viz.runs import translating
from viz.runs.translating import Picked

CROSS = "decoder.cross_attn"


@dataclass(frozen=True, eq=False)
class Shown:
    """The heads that are shown: their name and their pattern."""

    name: str
    picked: Picked


def section(view: View) -> None:
    """Draw it for this sentence, where it is one of those, and for all of them."""
    layout.section(
        "Agreement with an alignment by hand",
        f"How well does cross-attention align the words of {len(pairs())} sentences?",
        "The German that comes with each sentence is fed in, pieces are merged to words, and each "
        "German word is linked to the English word it attends to most; the end is left out. "
        "Alignment error rate: 1 − 2 · right / (found + by hand), 0 where both agree. All links by "
        "hand are sure ones.",
    )
    with st.container(horizontal=True, key="alignment-by"):
        controls.select(settings.SHOWN_HEADS, width=230)
        controls.select(settings.ALIGN_BY, width=230)
    shown = _shown(view)
    examples = tuple((pair.source, pair.target, tuple(sorted(pair.links))) for pair in pairs())
    is_input = state.value(settings.ALIGN_BY) == "input"
    found = translating.agreement_of(view.handle, examples, shown.picked, is_input=is_input)
    words.facts(
        [
            (digits(found.error_rate, 3), f"alignment error rate, {shown.name}"),
            (digits(found.precision, 3), "precision"),
            (digits(found.recall, 3), "recall"),
        ]
    )
    rates = translating.error_rates(view.handle, examples, is_input=is_input)
    left, right = layout.two_up("alignment")
    with left:
        chart = error_rate_map(rates, "Alignment error rate, all sentences")
        layout.show_chart(chart, key="error-rates")
    with right:
        _map(view, shown, is_input)
    inspector.formula("model.analysis.alignment.agreement")
    inspector.source(
        "model.analysis.alignment.agreement",
        "model.analysis.alignment.merged_to_words",
        "model.analysis.alignment.strongest_links",
    )


def _shown(view: View) -> Shown:
    """The heads that are chosen; the mean of all where those attend within one language."""
    over = state.value(settings.SHOWN_HEADS)
    layer, head = view.layer, view.head
    if view.attention != CROSS or over == "all":
        return Shown("mean of all cross-attention", lambda x: x.mean(axis=(0, 1)))
    if over == "layer":
        return Shown(f"cross-attention, mean of L{layer}", lambda x: x[layer].mean(axis=0))
    return Shown(f"cross-attention {head_name(layer, head)}", lambda x: x[layer, head])


def _map(view: View, shown: Shown, is_input: bool) -> None:
    pair = pair_of(view.sentence)
    if pair is None:
        words.notice("Choose one of the examples to see its words and the links made by hand.")
        return
    run = translating.aligned(view.handle, pair.source, pair.target)
    matrix = translating.between_words(shown.picked(run.patterns), run, is_input=is_input)
    sides = (words_of(run.source)[1], words_of(run.target)[1])
    chart = alignment_map(matrix, sides, pair.links, f"This sentence, {shown.name}")
    layout.show_chart(chart, key="alignment")
