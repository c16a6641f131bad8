"""Circuit: from an answer back to the words, edge by edge."""

from functools import partial

import numpy as np
import streamlit as st

from model.analysis.metrics import DIFFERENCE, LOGIT
from model.analysis.paths.circuit import Circuit, circuit_of
from model.analysis.paths.edges import Edges
from model.analysis.paths.kept import Curve, Pruning
from model.analysis.paths.words import edge_text, is_part
from model.analysis.question import Question
from model.given import with_words
from model.lines import quoted
from viz.digits import NONE, digits, duration
from viz.frame import answers, controls, gradual, inspector, layout, notices, second, state, words
from viz.frame.given import Two
from viz.frame.page import Page
from viz.frame.said import Said, Word
from viz.frame.settings import (
    CIRCUIT_EDGE,
    CIRCUIT_EDGES,
    CIRCUIT_WHICH,
    ELSEWHERE_1,
    ELSEWHERE_2,
    ELSEWHERE_3,
    METRIC,
)
from viz.frame.view import View
from viz.kit.parts.circuit import circuit_part
from viz.live import component
from viz.runs.circuits import elsewhere, of_random, same_form
from viz.runs.kept import held
from viz.runs.patching import answered

CIRCUIT = "circuit"  # of this visitor
PROMISE = (
    "The picture then shows the way of that word through heads and MLPs to the answer, and how "
    "much each step of it counts."
)
ELSEWHERE = (ELSEWHERE_1, ELSEWHERE_2, ELSEWHERE_3)
CHOICES = {"edges": CIRCUIT_EDGES, "edge": CIRCUIT_EDGE, "which": CIRCUIT_WHICH}


def render(view: View) -> None:
    """Draw the page."""
    asking = second.row()
    two = second.both(view, asking, PROMISE)
    if two is None:
        second.offer_pairs(PAGE.title, "decoder")
        _inspect(view)
        return
    with asking, st.popover("Answer and metric"):
        kinds = METRIC.given(default=DIFFERENCE, options=(DIFFERENCE, LOGIT))
        metric = answers.ask_both(view, two.inputs, kinds)
    question = Question(two.inputs.first, two.inputs.second, metric)
    made_with = (view.handle, question)
    state.only_for(made_with, CIRCUIT_EDGE, CIRCUIT_WHICH)
    work = gradual.kept(CIRCUIT, made_with, lambda: answered(view.handle, question, circuit_of))
    if state.value(CIRCUIT_WHICH) == "pruned" and work.is_done and work.pruning is None:
        _prune(work)
    if work.is_done:
        _refuse_unknown(work)
    figure = partial(_figure, view, two, work)
    gradual.draw(work, figure, lambda: _said(work), CIRCUIT)
    if work.is_done:
        _elsewhere(view, two, work)
    _inspect(view)


def _prune(work: Circuit) -> None:
    """Begin to remove edges, if some circuit keeps the difference."""
    try:
        work.prune()
    except ValueError as error:
        notices.add(f"Nothing removed: {error}.")
        state.put((CIRCUIT_WHICH, "strongest"))


def _refuse_unknown(work: Circuit) -> None:
    """Of an edge or a part that an address names and that is none here, a line."""
    chosen = state.value(CIRCUIT_EDGE)
    edges = np.concatenate([work.strongest.edges, work.pruned.edges]).tolist()
    if chosen and not is_part(chosen) and chosen not in map(edge_text, edges):
        notices.add(f"There is no edge {quoted(chosen)} here; showing none.")
        state.put((CIRCUIT_EDGE, ""))


def _figure(view: View, two: Two, work: Circuit) -> None:
    """The circuit as far as it is."""
    chosen = {name: state.value(setting) for name, setting in CHOICES.items()}
    names = answers.names_of(view)
    key = f"{view.run.key} {two.inputs.second} {work.paths.pair.metric}"
    part = circuit_part(
        view.run.trace,
        two.labels["decoder"][1],
        work,
        names.__getitem__,
        chosen,
        key=key,
        can_prune=True,
    )
    component.show(held(part), on_change=partial(state.take_over, prefix="circuit_"))


def _said(work: Circuit) -> str:
    """What is worked on, and how far it is."""
    now, n_all = work.now, f"{work.all.n_all:,}"
    if work.is_done:
        n_kept, n_exact = len(work.all.edges), len(work.strongest.edges)
        is_cut = n_kept < work.all.n_all
        kept = f"; the {n_kept:,} with the largest estimates are kept" if is_cut else ""
        return f"All {n_all} edges are estimated{kept}, the {n_exact:,} strongest exact."
    if isinstance(now, Edges):
        n_layers = len(work.paths.base.q)
        done = round(now.progress * n_layers)
        return f"Step 1 of 3. Edges estimated: {done} of {n_layers} layers"
    if isinstance(now, Curve):
        most = f"{max(now.sizes, default=0):,} of {len(now.edges):,}"
        return f"Step 3 of 3. What the strongest edges keep: up to {most}"
    if isinstance(now, Pruning):
        left = f"; about {duration(now.seconds_left)} left" if 0 < now.progress < 1 else ""
        so_far = f"the {len(now.edges):,} that are left keep F = {digits(now.share, 2)}"
        begins = "Removing edges" if work.is_running else "Removal stopped"
        return f"{begins}: {so_far}{left or '.'}"
    return f"Step 2 of 3. {gradual.said_of(work.strongest, work.is_running, 'Pale')}"


def _elsewhere(view: View, two: Two, work: Circuit) -> None:
    """What the edges that are shown keep on other sentences, and what random ones keep."""
    edges = _shown(work)
    layout.section(
        "On other sentences",
        f"What do the same {len(edges):,} edges keep where other words stand?",
        "In each one more word that both sentences share is another. Its second sentence has the "
        "same words exchanged as above, its answers are what the model makes of these two, and F "
        "is the share of that difference.",
    )
    rows: dict[str, list[Said]] = {"": [], "answer": [], "F": []}
    made = same_form(view.handle, (view.sentence, "".join(two.labels["decoder"][1])))
    columns = layout.two_up("elsewhere")
    with columns[0]:
        texts = [
            controls.text(setting.given(default=text), placeholder="another sentence")
            for setting, text in zip(ELSEWHERE, (*made, "", "", ""), strict=False)
        ]
    for setting, text in zip(ELSEWHERE, texts, strict=True):
        if text.strip():
            _add(rows, setting.label, *_kept(view, work, edges, text))
    _add(rows, "As many edges at random", [""], digits(of_random(work, len(edges)), 2))
    with columns[1]:
        words.table(rows)


def _kept(view: View, work: Circuit, edges: np.ndarray, text: str) -> tuple[Said, str]:
    """Of another sentence what it answers, and F; where there is none, why."""
    names = answers.names_of(view)
    try:
        found = elsewhere(work, edges, view.handle, with_words(view.given, text))
    except ValueError as error:
        return [str(error)], NONE
    own, other = Word(names[found.answer]), Word(names[found.against])
    return ["“", own, "” rather than “", other, "”"], digits(found.share, 2)


def _add(rows: dict[str, list[Said]], *cells: Said) -> None:
    for column, cell in zip(rows.values(), cells, strict=True):
        column.append(cell)


def _shown(work: Circuit) -> np.ndarray:
    """The edges that are looked at."""
    if work.pruning and state.value(CIRCUIT_WHICH) == "pruned":
        return work.pruned.edges
    most = state.number(CIRCUIT_EDGES)
    return work.all.edges[: max(size for size in work.curve.sizes if size <= most)]


def _inspect(view: View) -> None:
    inspector.source(
        "model.analysis.paths.terms.paths",
        "model.analysis.paths.edges.Edges",
        "model.analysis.paths.edges.Exact",
        "model.analysis.paths.kept.kept_only",
        "model.analysis.paths.kept.Pruning",
        "model.analysis.paths.others.on_another",
    )
    inspector.export(view, {}, has_charts=False)


PAGE = Page(
    "Circuit",
    ":material/account_tree:",
    "Which way leads from the words to the answer?",
    "Two texts of equally many tokens are run (path patching, Wang et al. 2023). What a head, an "
    "MLP or a word writes is a term in the stream; an edge is one such term, read by one part: the "
    "q, k or v of a head, an MLP, the answer. Its effect: what the answer loses when this term "
    "alone is the other text’s and all that follows runs again. F is what some edges alone keep "
    "of the difference between both texts, when all others carry the other text.",
    render,
    needs=("answers", "edits", "decoder", "vocabulary", "sums"),
    opens_inspector=False,
)
