"""Findings: the most telling things about one input, each found by a measure, each a link."""

import numpy as np

from model.analysis.ablation import Part
from model.analysis.findings import settled_from
from viz import formulas_experiments as formulas
from viz import runs
from viz.digits import digits
from viz.figures.attribution import Marked, head_axes, part_map
from viz.figures.heatmap import Hidden
from viz.figures.labels import visible
from viz.frame import (
    gradual,
    inspector,
    layout,
    memory,
    notices,
    settings,
    state,
    tables,
    words,
)
from viz.frame.said import Word
from viz.frame.view import View
from viz.live import component
from viz.pages.experiments.ablation.costs import row_name, row_of
from viz.pages.experiments.ablation.shared import name_of
from viz.pages.look_inside.arrows import Finding, Shown, copied, heaviest, token_of
from viz.runs import ablating, attributing, blanks
from viz.runs.finding import Scan, scan

TITLE = "Findings"
ICON = ":material/lightbulb:"
NEEDS = ("weights",)
OPENS_INSPECTOR = False

SCAN = "findings"


def render(view: View) -> None:
    """Draw the page."""
    layout.heading(
        ICON,
        TITLE,
        "What tells most about this input? Found by measures; each line opens its view.",
        "Every head is taken away once, in a run of its own. Nothing here is chosen by hand: each "
        "line is the largest, or the smallest, of all there are, and says by which measure. All is "
        "of this input alone: on a whole text, which Heads measures, a head may do something else.",
    )
    notices.show()
    shown = Shown(view, _scan(view))
    work = shown.scan
    if work.is_done:
        _draw(shown)
    else:
        n = len(work.parts)
        gradual.draw(
            work,
            lambda: _draw(shown),
            lambda: f"{len(work.ranking.losses)} of {n} heads were taken away",
            lambda: f"Stopped: {n - len(work.ranking.losses)} of {n} heads are left.",
        )
    if not work.is_running:  # else what comes would move it
        _inspect(shown)


def _scan(view: View) -> Scan:
    """What is known of this run's heads; begun where nothing is."""
    found: Scan | None = memory.remembered(SCAN, view.run.key)
    if found is None:
        is_encoder = view.run.trace.facts.architecture == "encoder"
        true_ids = blanks.ids_of(view.handle, view.sentence) if is_encoder else None
        found = scan(view.handle, view.asked, ablating.judged(view.run, true_ids))
        memory.remember(SCAN, view.run.key, found)
    return found


def _draw(shown: Shown) -> None:
    left, right = layout.two_up("findings", (2, 3))
    with left:
        _map(shown)
    with right:
        words.findings(_findings(shown))


# --- what was found ---------------------------------------------------------------------------


def _findings(shown: Shown) -> list[Finding]:
    """Everything that is known and applies, the costliest head first."""
    of_heads = [_costliest(shown), _idlest(shown)] if shown.scan.is_done else []
    found = [*of_heads[:1], copied(shown), _settled(shown), heaviest(shown), *of_heads[1:]]
    return [one for one in found if one is not None]


def _costliest(shown: Shown) -> Finding:
    """The head whose removal costs most, and the answer it costs."""
    work = shown.scan
    place = int(work.costs.argmax())
    part, cost = work.parts[place], float(work.costs[place])
    rises = work.judged.losses(work.without(part).trace) - work.before
    worst = int(rises.argmax())
    return (
        f"{_head(shown, part)} costs most",
        [
            f"Without it the mean loss rises by {_signed(cost)} nats; most at “",
            _target(shown, worst),
            f"”, by {_signed(rises[worst])}.",
        ],
        shown.link("Ablation", off=part.text),
    )


def _idlest(shown: Shown) -> Finding:
    """The head whose removal changes least."""
    work = shown.scan
    place = int(np.abs(work.costs).argmin())
    part, cost = work.parts[place], float(work.costs[place])
    return (
        f"{_head(shown, part)} does least",
        f"Without it the mean loss changes by {_signed(cost)} nats, less than without any other "
        "head.",
        shown.link("Ablation", off=part.text),
    )


def _head(shown: Shown, part: Part) -> str:
    return name_of(part, shown.view.run.trace)


def _signed(value: float) -> str:
    return digits(value, 5 if abs(value) < 0.001 else 3)


def _target(shown: Shown, place: int) -> str | Word:
    """What is predicted at a place of the losses: a token, or the class."""
    judged, trace = shown.scan.judged, shown.view.run.trace
    at = judged.places[place]
    if at >= 0:
        return token_of(trace.main, at)
    assert trace.output is not None
    names = attributing.names_of_answers(shown.view.handle, trace.output.shape[-1])
    return names[int(judged.targets.ids[place])]


def _settled(shown: Shown) -> Finding | None:
    """The layer from which the logit lens has the answer; of decoders alone."""
    view = shown.view
    if not view.offers >= {"decoder", "residuals", "vocabulary"}:
        return None
    lens, last = runs.lens(view.handle, view.sentence), len(view.tokens) - 1
    row = settled_from(lens.ids[:, last, 0].tolist())
    answer = visible(runs.vocabulary(view.handle)[int(lens.ids[-1, last, 0])])
    where = f"after L{row - 1}" if row else "before the first layer"
    probability = float(lens.probs[row, last, 0])
    return (
        f"The answer is there {where}",
        [
            f"After {row} of {len(lens.ids) - 1} layers the logit lens has “",
            Word(answer),
            f"” as the most likely next token, and keeps it: p = {digits(probability, 3)}.",
        ],
        shown.link("Logit lens", layer=max(row - 1, 0), after=last),
    )


# --- the map ----------------------------------------------------------------------------------


def _map(shown: Shown) -> None:
    work, trace = shown.scan, shown.view.run.trace
    rows = list(dict.fromkeys(map(row_of, work.parts)))
    n_heads = 1 + max(part.unit or 0 for part in work.parts)
    grid = np.full((len(rows), n_heads), np.nan)
    for part, cost in zip(work.parts, work.costs, strict=True):
        grid[rows.index(row_of(part)), part.unit or 0] = cost
    missing = np.isnan(grid)
    chosen = (shown.view.site.stack, shown.view.site.address.rpartition(".")[2], shown.view.layer)
    title = "Cost of each head: click one"
    layout.show_figure(
        part_map(
            head_axes([row_name(row, trace) for row in rows], n_heads),
            grid,
            shown.view.colors,
            ("cost (nats)", title),
            marked=Marked((rows.index(chosen), shown.view.head), ()),
            hidden=Hidden(missing, "not there, or not computed yet") if missing.any() else None,
        ),
        key="head-costs",
        alt=f"{title} in nats: {int((~missing).sum())} of {len(work.parts)} are known.",
        on_pick=lambda place: _choose(shown, rows, place),
    )


def _choose(shown: Shown, rows: list[tuple[str, str, int]], place: component.Place) -> None:
    """Choose the head whose cell was clicked."""
    trace = shown.view.run.trace
    names = [row_name(row, trace) for row in rows]
    stack, module, layer = rows[names.index(str(place["y"]))]
    group = next(x for x in trace.groups if x.name == f"{stack}.{module}")
    state.put(
        (settings.HEAD_GROUP, group.name),
        (settings.LAYER, layer),
        (settings.HEAD, int(str(place["x"])[1:])),
    )


def _inspect(shown: Shown) -> None:
    work = shown.scan
    name = "model.analysis.ablation.costs"
    written = formulas.ablation("zero")
    inspector.formula(name, written.latex, written.reference)
    inspector.source(
        name,
        "model.analysis.findings.strongest_copy",
        "model.analysis.findings.heaviest_arrow",
        "model.analysis.findings.settled_from",
    )
    costs = work.costs
    inspector.export(
        shown.view,
        {
            "Costs": lambda: tables.frame_csv(
                tables.frame({"head": [part.text for part in work.parts], "cost (nats)": costs})
            )
        },
    )
