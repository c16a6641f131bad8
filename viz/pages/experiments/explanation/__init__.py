"""Explanation: what attention weighs, beside what the answer loses without it."""

from collections.abc import Mapping

import numpy as np

from model.analysis.exact import spearman
from model.analysis.explanation import HEAVY, LIGHT
from model.analysis.metrics import Metric
from model.analysis.paths.words import edge_text
from model.given import Input
from model.names import head_name
from viz.digits import digits, equals, or_none
from viz.figures.attribution import Estimates
from viz.figures.explanation import arrow_scatter
from viz.formulas import FORMULAS
from viz.formulas import patching as formulas
from viz.frame import answers, controls, gradual, inspector, layout, notices, state, words
from viz.frame.given import One, kind_on
from viz.frame.page import Page
from viz.frame.settings import ARROW, ARROWS_OF, MEASURE, METRIC, OTHER_TOKEN
from viz.frame.view import View
from viz.pages.experiments.explanation import tokens
from viz.pages.experiments.explanation.shared import Shown
from viz.runs.explaining import Explaining, explain

EXPLAINING, RUN = "explaining", "explained"  # of this visitor
CANDIDATES = 10
GRADES = (0.3, 0.8)  # of a rank correlation, between hardly, partly and almost
CROSS = "decoder.cross_attn"
NAMED = {
    "idle": "much weight, least effect",
    "strong": "little weight, most effect",
    "against": "much weight, removal helps most",
    "chosen": "chosen",
}


def render(view: View) -> None:
    """Draw the page."""
    with layout.slim_row("explanation"):
        one = kind_on(view).one(view)
        group = _group(view)
        query = _query(view, one, group)
        metric = _metric(view, one, (group, query))
        measure = controls.segments(MEASURE)
    work = _work(view, (one.given, metric, group, query))
    shown, had_arrows = Shown(view, one, group, query, metric, work), work.has_arrows

    def figures() -> None:
        if work.has_arrows and not had_arrows:
            notices.run_again()  # what stands below has its numbers now
        _arrows(shown, measure)

    gradual.draw(work, figures, lambda: _said(work))
    _one(shown)
    if work.is_done:
        _named(shown)
        tokens.section(shown)
    _inspect(shown)


def _said(work: Explaining) -> str:
    """How far the edges have come, and once all are removed how far the tokens have."""
    said = gradual.said_of(work.filling, work.is_running, "Hollow")
    if not work.has_arrows or work.is_done:
        return said
    tokens = np.concatenate([work.token_effects, work.flows])
    n_done = int(np.isfinite(tokens).sum())
    doing = "Working out" if work.is_running else "Stopped at"
    return f"{said} {doing} what each token is worth: {n_done} of {tokens.size} numbers."


def _metric(view: View, one: One, arrows: tuple[str, int]) -> Metric:
    """What is asked of the prediction, drawn as controls; `arrows` are the group and the query."""
    logits = answers.logits_at(view, one.given, one.position)
    best = (-logits).argsort(kind="stable")[:CANDIDATES].tolist()
    state.only_for((one.given, one.position, view.model, arrows), ARROW)
    return answers.ask(view, one.position, (best[0], best[1 % len(best)]), best, METRIC)


def _group(view: View) -> str:
    """Which heads' arrows: a choice where a model attends in several ways."""
    titles = {found.name: found.title for found in view.run.trace.groups}
    names = list(titles)
    if len(names) == 1:
        return names[0]
    setting = ARROWS_OF.given(default=CROSS, options=names, words=titles.__getitem__)
    return controls.select(setting, width=250)


def _query(view: View, one: One, name: str) -> int:
    """Which token attends: what predicts, and where all tokens attend to all a choice."""
    if name != "encoder.attn":
        return one.position
    labels, asked, called = one.labels["encoder"], one.position, "predicts"
    if len(one.labels) > 1:  # the source predicts nothing: what is attended to most does most
        cross = [x.pattern[:, one.position] for x in view.run.trace.group(CROSS).records]
        asked, called = int(np.mean(cross, axis=(0, 1)).argmax()), "attended to most"
    return controls.token(OTHER_TOKEN.given(label="Arrows from"), labels, asked, called)


def _work(view: View, asked: tuple[Input, Metric, str, int]) -> Explaining:
    def begin() -> Explaining:
        found = explain(view.handle, *asked)
        found.is_running = gradual.begins_unasked(view, len(found.filling.exact))
        return found

    return gradual.kept(EXPLAINING, (view.handle, asked), begin)


# --- arrows -----------------------------------------------------------------------------------


def _arrows(shown: Shown, measure: str) -> None:
    """The scatter, and beside it what it says: how the measures rank the arrows."""
    left, right = layout.two_up("arrows")
    with left:
        _scatter(shown, measure)
    with right:
        rho = _correlations(shown)
        words.notice(_conclusion(shown, measure, *rho[measure]))
        _table(rho)


def _scatter(shown: Shown, measure: str) -> None:
    work = shown.work
    chosen = {"chosen": shown.chosen}  # which makes it exact
    effects, shape = work.effects.ravel(), work.effects.shape
    telling = (work.telling if work.has_arrows else {}) | chosen
    marked = {
        NAMED[name]: int(np.ravel_multi_index(arrow, shape)) for name, arrow in telling.items()
    }
    more = {MEASURE.words(name): values.ravel() for name, values in shown.measures.items()}
    what = MEASURE.words(measure)
    values, keys = more.pop(what), np.indices(shape)[2].ravel()
    none = np.full(effects.size, np.nan)
    estimates = Estimates(~work.filling.is_known, none, beside={"key": keys, **more})
    unit = "nats" if shown.metric.kind == "loss" else "logits"
    title = f"{effects.size:,} edges of {shown.asks}"
    points = values, effects
    chart = arrow_scatter(points, shown.names, marked, estimates, (title, what, unit))

    def look_at(_: int, number: int) -> None:
        arrow = np.unravel_index(number, shape)
        state.put((ARROW, edge_text(list(map(int, arrow)))))

    layout.show_chart(chart, key="arrows", on_pick=look_at)


def _correlations(shown: Shown) -> dict[str, tuple[float, float]]:
    """How each measure ranks the arrows as their removal does: by size, and with its direction.

    NaN until every arrow was removed, and where all are alike.
    """
    effects = shown.work.effects
    if not shown.work.has_arrows:
        return dict.fromkeys(shown.measures, (np.nan, np.nan))
    return {
        name: (spearman(np.abs(x), np.abs(effects)), spearman(x, effects))
        for name, x in shown.measures.items()
    }


def _conclusion(shown: Shown, measure: str, size: float, direction: float) -> str:
    """Whether the measure explains, in words for both correlations."""
    if not shown.work.has_arrows:
        n = shown.work.effects.size
        return f"Whether it explains the answer is known once all {n:,} edges were removed."
    if np.isnan([size, direction]).any():
        return "All edges are alike here: there is nothing to rank."
    ranks = _graded(size, ("hardly", "partly", "almost"))
    tells = _graded(abs(direction), ("next to nothing", "something", "nearly all"))
    return (
        f"Here {MEASURE.words(measure)} ranks edges {ranks} as their removal does "
        f"(ρ {equals(size, 2)}), and says {tells} of whether an edge helps or harms the answer "
        f"(ρ {equals(direction, 2)})."
    )


def _graded(rho: float, grades: tuple[str, str, str]) -> str:
    """A rank correlation in words: below 0.3, below 0.8, or more."""
    return grades[int(np.searchsorted(GRADES, rho, side="right"))]


def _table(rho: Mapping[str, tuple[float, float]]) -> None:
    """The correlations of all measures."""
    heads = ("ρ with |effect|", "ρ with effect")
    columns = {head: [or_none(x[i], 3) for x in rho.values()] for i, head in enumerate(heads)}
    words.table({"measure": [MEASURE.words(name) for name in rho], **columns})
    words.caption(
        "ρ: Spearman’s rank correlation over all edges; 1, both rank them alike, 0, the one says "
        "nothing of the other. With |effect|: does a larger one change more? With effect: does it "
        "also say in which direction?"
    )


def _named(shown: Shown) -> None:
    """The arrows that weight and effect part on, each a link to its head."""
    work = shown.work
    weights, effects = work.measured.weights, work.effects
    ways = [
        words.Way(
            shown.said(arrow),
            f"{NAMED[name]}: weight {digits(float(weights[arrow]), 3)}, effect "
            f"{digits(float(effects[arrow]), 3)}.",
            query=shown.link(arrow),
        )
        for name, arrow in work.telling.items()
    ]
    if ways:
        words.ways(ways)
    words.caption(
        f"Much is a weight of {HEAVY} or more, little one of {LIGHT} or less. Effect: what is lost "
        "without the edge; below 0, without it the answer gains."
    )


def _one(shown: Shown) -> None:
    """The chosen arrow's numbers."""
    arrow, work = shown.chosen, shown.work
    effect = float(work.filling.exact.reshape(work.effects.shape)[arrow])
    layout.section(
        "One edge",
        "Click a point to look at another.",
        "Gradient × attention is what the removal would change "
        "if the metric were linear in the weight.",
    )
    layer, head, key = arrow
    asker, to = f"{shown.asker} ({shown.query})", f"{shown.labels[key]} ({key})"
    words.pair(asker, to, f"{head_name(layer, head)}:")
    words.facts(
        [
            *((digits(float(x[arrow])), MEASURE.words(name)) for name, x in shown.measures.items()),
            (or_none(effect), "lost without it"),
            (digits(work.measured.value), answers.name_of(shown.view, shown.metric)),
        ]
    )
    removals = "model.analysis.explanation.removals"
    inspector.formula(removals, FORMULAS["Edge removed"])
    if np.isfinite(effect):
        inspector.formula(removals, formulas.removed_with_numbers(work.measured.value, effect))
    for formula in (FORMULAS["Value-weighted norm"], FORMULAS["Gradient × attention"]):
        inspector.formula("model.analysis.explanation.measure", formula)


def _inspect(shown: Shown) -> None:
    inspector.source(
        "model.analysis.explanation.removals",
        "model.analysis.exact.Filling",
        "model.analysis.explanation.measure",
        "model.analysis.flow.rollout",
        "model.analysis.flow.flow",
        "model.analysis.input_gradients.integrated",
    )
    inspector.export(shown.view, {})


PAGE = Page(
    "Explanation",
    ":material/quiz:",
    "Is attention explanation? Each edge’s weight against what the answer loses without it.",
    "An edge is one weight of one head: here those by which what predicts attends — the last "
    "token, a blank, the class token of a picture — or another token that is chosen. Each is "
    "removed alone, in a run of its own: its weight is 0, the others of its row stay as they "
    "are. Jain & Wallace (2019) found that weights say little about what matters, Wiegreffe & "
    "Pinter (2019) that it depends on what is asked. What a removal changes is not all that an "
    "edge does: several may carry the same, and the loss of one is made up for by another.",
    render,
    needs=("answers", "edits", "projections", "embeddings"),
    opens_inspector=False,
)
