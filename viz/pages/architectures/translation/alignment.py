"""Cross-attention as an alignment, beside one that was made by hand."""

from collections.abc import Callable

import numpy as np

from model.analysis.alignment import (
    Agreement,
    Link,
    agreement,
    merged_to_words,
    rows_of_target,
    strongest_links,
)
from viz.digits import digits
from viz.figures.labels import words_of
from viz.figures.translation import alignment_map, error_rate_map
from viz.frame import inspector, layout, settings, state, tables, words
from viz.frame.pairs import Pair, pair_of, pairs
from viz.frame.view import View
from viz.live.translation.data import CROSS
from viz.runs import translating
from viz.runs.translating import Aligned

Picked = Callable[[np.ndarray], np.ndarray]  # of patterns (L, H, Tq, Tk), one (Tq, Tk)


def section(view: View) -> inspector.Tables:
    """Draw it for this sentence, where it is one of those, and for all of them."""
    layout.section(
        "Agreement with an alignment by hand",
        f"How well does cross-attention align the words of {len(pairs())} sentences?",
        "The German that comes with each sentence is fed in, pieces are merged to words, and each "
        "German word is linked to the English word it attends to most; the end is left out. "
        "Alignment error rate: 1 − 2 · right / (found + by hand), 0 where both agree. All links by "
        "hand are sure ones.",
    )
    name, picked = _picked(view)
    found = _agreement(view, picked)
    words.facts(
        [
            (digits(found.error_rate, 3), f"alignment error rate, {name}"),
            (digits(found.precision, 3), "precision"),
            (digits(found.recall, 3), "recall"),
        ]
    )
    rates = _rates(view)
    left, right = layout.two_up("alignment")
    best = np.unravel_index(int(rates.argmin()), rates.shape)
    with left:
        layout.show_figure(
            error_rate_map(rates, view.colors, "Alignment error rate, all sentences"),
            key="error-rates",
            alt=f"Alignment error rate of {rates.size} heads and means: smallest "
            f"{digits(rates.min(), 3)} in L{best[0]}, largest {digits(rates.max(), 3)}.",
        )
    with right:
        _map(view, name, picked)
    inspector.formula("model.analysis.alignment.agreement")
    inspector.source(
        "model.analysis.alignment.agreement",
        "model.analysis.alignment.merged_to_words",
        "model.analysis.alignment.strongest_links",
    )
    return {"Alignment error rates": lambda: tables.numbers_csv(rates, "layer \\ head")}


def _picked(view: View) -> tuple[str, Picked]:
    """The heads the instrument shows; the mean of all where those attend within one language."""
    over = state.value(settings.SHOWN_HEADS)
    layer, head = view.layer, view.head
    if view.attention != CROSS or over == "all":
        return "mean of all cross-attention", lambda x: x.mean(axis=(0, 1))
    if over == "layer":
        return f"cross-attention, mean of L{layer}", lambda x: x[layer].mean(axis=0)
    return f"cross-attention L{layer} H{head}", lambda x: x[layer, head]


def _words(pattern: np.ndarray, pair: Aligned, *, is_input: bool) -> np.ndarray:
    """A pattern (Tt, Ts) between the words of a pair, (German, English)."""
    rows = list(rows_of_target(len(pair.target), is_input=is_input))
    own = pattern[rows, : len(pair.source)]
    return merged_to_words(own, words_of(pair.target)[0], words_of(pair.source)[0])


def _is_input() -> bool:
    return state.value(settings.ALIGN_BY) == "input"


def _agreement(view: View, picked: Picked) -> Agreement:
    """Over the links of all sentences together."""
    found: set[Link] = set()
    sure: set[Link] = set()
    for number, pair in enumerate(pairs()):
        run = translating.aligned(view.handle, pair.source, pair.target)
        matrix = _words(picked(run.patterns), run, is_input=_is_input())
        found |= {(number, *link) for link in strongest_links(matrix)}
        sure |= {(number, *link) for link in pair.links}
    return agreement(found, sure)


def _rates(view: View) -> np.ndarray:
    """Alignment error rates of all heads and of the mean of each layer, (L, H + 1)."""
    n_layers, n_heads = (
        len(view.run.trace.group(CROSS).records),
        view.run.trace.group(CROSS).n_heads,
    )
    return np.array(
        [
            [_agreement(view, _one(layer, head)).error_rate for head in range(n_heads)]
            + [_agreement(view, _mean(layer)).error_rate]
            for layer in range(n_layers)
        ]
    )


def _one(layer: int, head: int) -> Picked:
    return lambda patterns: patterns[layer, head]


def _mean(layer: int) -> Picked:
    return lambda patterns: patterns[layer].mean(axis=0)


def _map(view: View, name: str, picked: Picked) -> None:
    pair = pair_of(view.sentence)
    if pair is None:
        words.notice("Choose one of the examples to see its words and the links made by hand.")
        return
    run = translating.aligned(view.handle, pair.source, pair.target)
    matrix = _words(picked(run.patterns), run, is_input=_is_input())
    sides = (words_of(run.source)[1], words_of(run.target)[1])
    layout.show_figure(
        alignment_map(matrix, sides, pair.links, view.colors, f"This sentence, {name}"),
        key="alignment",
        alt=_alt(matrix, sides, pair),
    )


def _alt(matrix: np.ndarray, sides: tuple[list[str], list[str]], pair: Pair) -> str:
    found = strongest_links(matrix)
    n_right = len(found & pair.links)
    named = ", ".join(f"{sides[1][j]} to {sides[0][i]}" for i, j in sorted(found)[:12])
    return (
        f"Each German word and the English word it attends to most, {n_right} as by hand: {named}."
    )
