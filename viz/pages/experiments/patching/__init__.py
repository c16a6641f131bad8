"""Patching: one value of one run, put into another, brings the answer back or does not."""

from itertools import groupby

import numpy as np
import streamlit as st

from model.analysis.exact import spearman
from model.analysis.metrics import DIFFERENCE
from model.analysis.patching import GRIDS, OVER_HEADS, Patched, begin
from model.analysis.question import Question
from model.names import head_name
from viz.charts.chart import Axis, numbered
from viz.digits import digits, or_none
from viz.figures.attribution import Estimates, part_map
from viz.figures.patching import RECOVERED, estimate_scatter
from viz.formulas import FORMULAS
from viz.formulas import patching as formulas
from viz.frame import answers, controls, gradual, inspector, layout, links, second, state, words
from viz.frame.page import Page
from viz.frame.said import Piece, Said, Word
from viz.frame.settings import METRIC, OTHER_DIGIT, PATCH, PATCH_STACK, RESTORE
from viz.frame.view import View
from viz.pages.experiments.patching.shared import TITLES, Shown
from viz.runs.patching import answered

PATCHING = "patching"  # of this visitor
ALLOWED = 1e-5
PROMISE = (
    "The maps then show at which layer and which word the first sentence’s value alone brings "
    "its answer back."
)
CALLED = {  # a value, by the grid it is of and its column
    "resid_pre": "stream, position {}",
    "attn_out": "attention, position {}",
    "ffn_out": "MLP, position {}",
    OVER_HEADS: "H{}",
}


def render(view: View) -> None:
    """Draw the page."""
    asking = second.row()
    two = second.both(view, asking, PROMISE)
    if two is None:
        if view.run.trace.main.ids is not None:
            second.offer_pairs(PAGE.title)
        _formulas()
        _inspect(view)
        return
    both = two.inputs
    state.only_for((both.first, both.second, view.model), PATCH)
    with asking:
        stack = controls.segments(PATCH_STACK) if len(two.labels) > 1 else next(iter(two.labels))
        with st.popover("Answer and metric"):
            metric = answers.ask_both(view, both, METRIC.given(default=DIFFERENCE))
            is_forward = controls.select(RESTORE) == RESTORE.default
    question = Question(both.first, both.second, metric, stack)
    question = question.turned if is_forward else question
    _patch(Shown(view, two, question, _work(view, question), is_forward))


def _work(view: View, question: Question) -> Patched:
    """The patching that answers it, begun or gone on with."""

    def begun() -> Patched:
        found = answered(view.handle, question, begin)
        filling = found.filling
        is_small = gradual.begins_unasked(view, len(filling.exact))
        filling.is_running = is_small and not filling.is_done
        return found

    return gradual.kept(PATCHING, (view.handle, question), begun)


def _patch(shown: Shown) -> None:
    work = shown.work
    if not work.kept.gap:
        _pair(shown)
        n = shown.kind
        words.notice(
            f"Both {n}s give the same number, but for rounding: there is nothing to recover. "
            f"Change the second {n}."
        )
        return
    gradual.fill(work.filling, lambda: _grids(shown))
    _pair(shown)
    _cell(shown)
    if work.filling.is_done:
        _estimates(shown)
        _check(shown)
    _inspect(shown.view)


def _pair(shown: Shown) -> None:
    """Both sentences, where the answer is asked, and the metric of each as it is."""
    left, right = layout.two_up("pair", (3, 2))
    with left:
        if shown.view.run.trace.main.ids is None:
            words.caption(
                f"First the picture above, second test digit {state.value(OTHER_DIGIT)}. Across: "
                "[CLS] and the patches, row by row."
            )
        else:
            labels = next(iter(shown.two.labels.values()))
            second.draw_rows(*labels, f"The answer is asked {shown.two.place}.")
    with right:
        name, kept = answers.name_of(shown.view, shown.question.metric), shown.work.kept
        ends = (kept.of_source, kept.of_base)
        ends = zip(("first", "second"), ends if shown.is_forward else ends[::-1], strict=True)
        words.facts([(digits(x), f"{name}, {which} {shown.kind}") for which, x in ends])


def _conclusion(shown: Shown) -> Said:
    """Where most is recovered, layer by layer, and by which head, as far as is known."""
    filling = shown.work.filling
    shares = {name: np.nan_to_num(x) for name, x in shown.shares(filling.values).items()}
    said: list[Piece] = ["Most of the answer is recovered "]
    places = shares["resid_pre"].argmax(axis=1).tolist()
    for place, some in groupby(enumerate(places), key=lambda at: at[1]):
        layers = [layer for layer, _ in some]
        span = f"L{layers[0]}" + (f" to L{layers[-1]}" if len(layers) > 1 else "")
        comma = "" if len(said) == 1 else ", "
        said += [f"{comma}before {span} at “", Word(shown.columns("resid_pre")[place]), "”"]
    layer, head = divmod(int(shares[OVER_HEADS].argmax()), shares[OVER_HEADS].shape[1])
    name, most = head_name(layer, head), digits(float(shares[OVER_HEADS][layer, head]), 2)
    so_far = "" if filling.is_done else " Estimates are among these."
    return [*said, f". Of the heads, {name} alone recovers most: {most} of it.{so_far}"]


def _grids(shown: Shown) -> None:
    _row(shown, "resid_pre", "attn_out")
    words.notice(_conclusion(shown))
    _row(shown, "ffn_out", "z")


def _row(shown: Shown, *names: str) -> None:
    for column, name in zip(layout.two_up(f"patched-{names[0]}"), names, strict=True):
        with column:
            _grid(shown, name)


def _grid(shown: Shown, name: str) -> None:
    work, chosen = shown.work, shown.chosen
    known, estimate = work.grids(work.filling.is_known)[name], work.filling.estimate
    metrics = work.grids(work.filling.values)[name]
    shares = shown.shares(work.filling.values)[name]
    columns = "head" if name == OVER_HEADS else "position"
    across = Axis(columns, names=shown.columns(name), numbered=columns == "position")
    chart = part_map(
        (numbered("layer", "L", len(shares)), across),
        shares,
        RECOVERED,
        TITLES[name],
        chosen=chosen[1:] if chosen[0] == name else None,
        estimates=Estimates(~known, shown.shares(estimate)[name], beside={"metric": metrics}),
    )

    def look_at(layer: int, column: int) -> None:
        state.put((PATCH, f"{name}.{layer}.{column}"))

    layout.show_chart(chart, key=f"patched-{name.replace('_', '-')}", on_pick=look_at)


# --- one cell ---------------------------------------------------------------------------------


def _cell(shown: Shown) -> None:
    """What the chosen cell is, its numbers, and where to look at it."""
    (name, layer, column), work, kept = shown.chosen, shown.work, shown.work.kept
    number = work.number(*shown.chosen)
    value, guess = float(work.filling.exact[number]), float(work.filling.estimate[number])
    share, guessed = kept.restored(np.array([value, guess])).tolist()
    layout.section(
        f"L{layer} {CALLED[name].format(column)}",
        _says(shown, name),
        "1: this one value is enough to give the whole metric of the sentence it came from. 0: it "
        "changes nothing. Below 0: it moves the metric away from it. Shares of several cells do "
        "not sum to 1, for a value is carried on from cell to cell.",
    )
    words.facts(
        [
            (or_none(value), "metric with this one value"),
            (or_none(share, 3), "fraction recovered"),
            (or_none(guessed, 3), "estimate: gradient × difference"),
        ]
    )
    if not work.filling.is_known[number]:
        words.caption("Its own run has not been made yet: click the cell to have it now.")
    elif name == OVER_HEADS and work.filling.is_done and (layer, column) == shown.strongest:
        words.caption(f"Of all heads, {head_name(layer, column)} changes the metric most.")
    _ways_on(shown, name, layer, column)
    known = work.filling.is_known[number]
    _formulas(formulas.patched_with_numbers(kept.of_base, kept.of_source, value) if known else "")


def _formulas(numbers: str = "") -> None:
    begin = "model.analysis.patching.begin"
    inspector.formula(begin, FORMULAS["Patched"])
    if numbers:
        inspector.formula(begin, numbers)
    inspector.formula("model.analysis.patching.estimated", FORMULAS["Attribution patching"])


def _says(shown: Shown, name: str) -> str:
    came, went = ("first", "second") if shown.is_forward else ("second", "first")
    where = "at all positions" if name == OVER_HEADS else "at this position"
    return f"What does the {came} {shown.kind}’s value recover in the {went}’s run, {where}?"


def _ways_on(shown: Shown, name: str, layer: int, column: int) -> None:
    attention = f"{shown.question.stack}.attn"
    ways = []
    if name == OVER_HEADS:
        query = links.to(shown.view, "Attention", attention=attention, layer=layer, head=column)
        ways.append(words.Way(head_name(layer, column), "What this head attends to.", query=query))
    elif "decoder" in shown.view.offers:
        query = links.to(shown.view, "Logit lens", layer=layer, token=column)
        text = "What this place would predict, layer by layer."
        ways.append(words.Way(f"L{layer}, token {column}", text, query=query))
    if shown.kind == "sentence":
        compared = {"view": "compare", "against": "sentence", **second.in_address()}
        query = links.to(shown.view, "Attention", attention=attention, layer=layer, **compared)
        text = "Attention of both sentences in this layer."
        ways.append(words.Way("Both compared", text, query=query))
    words.ways(ways)


# --- the estimates ----------------------------------------------------------------------------


def _estimates(shown: Shown) -> None:
    layout.section(
        "Attribution patching",
        "One backward pass estimates every cell at once.",
        "Gradient of the metric in the run that values are put into, times the difference of the "
        "values (Nanda 2023; Syed et al. 2023). It is exact where the metric is linear in a value; "
        "norms, softmax and the MLP are not.",
    )
    filling = shown.work.filling
    if np.isnan(filling.estimate).all():
        words.notice("The text is too long for a backward pass: nothing is estimated.")
        return
    exact, estimate = shown.shares(filling.exact), shown.shares(filling.estimate)
    grids = ({TITLES[name]: shares[name] for name in GRIDS} for shares in (exact, estimate))
    layout.show_chart(estimate_scatter(*grids), key="patching-estimate")
    words.table(
        {
            "grid": [TITLES[name] for name in GRIDS],
            "runs": [str(exact[name].size) for name in GRIDS],
            "rank correlation ρ": [
                or_none(spearman(exact[name], estimate[name]), 3) for name in GRIDS
            ],
            "largest error": [
                or_none(float(np.abs(exact[name] - estimate[name]).max()), 3) for name in GRIDS
            ],
        }
    )


# --- the rest ---------------------------------------------------------------------------------


def _check(shown: Shown) -> None:
    first = shown.shares(shown.work.filling.exact)["resid_pre"][0]
    exchanged = np.array([a != b for a, b in zip(*shown.both_labels, strict=True)])
    if shown.view.run.trace.main.ids is None:
        exchanged[1:] = True  # every patch may differ, the class token does not
    error = float(np.abs(first[~exchanged]).max(initial=0.0))
    inspector.check(
        error <= ALLOWED,
        f"before the first layer, patching what both inputs share changes nothing, max error "
        f"{error:.1e}, allowed {ALLOWED:.0e}.",
    )


def _inspect(view: View) -> None:
    inspector.source(
        "model.analysis.patching.begin",
        "model.analysis.branching.Branches",
        "model.analysis.exact.Filling",
        "model.analysis.patching.estimated",
    )
    inspector.export(view, {})


PAGE = Page(
    "Patching",
    ":material/healing:",
    "Does one value bring the answer back?",
    "Activation patching (Vig et al. 2020; Meng et al. 2022; Wang et al. 2023). Two sentences "
    "of equally many tokens are run. Each cell is a further run of its own in which one value "
    "of one sentence replaces that of the other: 0, nothing changes; 1, the whole metric of "
    "the sentence it came from is back. One backward pass estimates all of them; exact runs "
    "follow, the largest estimate first. Click a cell to have it at once.",
    render,
    needs=("answers", "edits"),
    opens_inspector=False,
)
