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
from viz.frame.numbers import Number, Piece, Word, head, number, word
from viz.frame.view import View
from viz.live import component
from viz.live.chart.data import Origin
from viz.pages.experiments.ablation.costs import row_name, row_of
from viz.pages.experiments.ablation.shared import beside_costs, name_of, origin_of
from viz.pages.look_inside.arrows import Finding, Shown, copied, heaviest, token_of
from viz.runs import Run, ablating, attributing, blanks, costing
from viz.runs.beside import Beside
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
        "line is the largest, or the smallest, of all there are, and says by which measure.",
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
        found = scan(view.handle, view.run, ablating.judged(view.run, true_ids))
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
    edited = _without(shown, part)
    rises = work.judged.losses(edited.trace) - work.before
    worst = int(rises.argmax())
    return (
        [*_head(shown, part, "costs.heads", "max"), " costs most"],
        [
            "Without it the mean loss rises by ",
            _rise(shown, edited, cost),
            " nats; most at “",
            _target(shown, worst),
            "”, by ",
            number(
                edited,
                f"{work.judged.rise}[{worst}]=max",
                float(rises[worst]),
                _signed(rises[worst]),
            ),
            ".",
        ],
        shown.link("Ablation", off=part.text),
    )


def _idlest(shown: Shown) -> Finding:
    """The head whose removal changes least."""
    work = shown.scan
    place = int(np.abs(work.costs).argmin())
    part, cost = work.parts[place], float(work.costs[place])
    return (
        [*_head(shown, part, "costs.sizes.heads", "min"), " does least"],
        [
            "Without it the mean loss changes by ",
            _rise(shown, _without(shown, part), cost),
            " nats, less than without any other head.",
        ],
        shown.link("Ablation", off=part.text),
    )


def _head(shown: Shown, part: Part, address: str, which: str) -> list[Piece]:
    """The name of a head that is said to have the most or the least of all costs."""
    trace, found = shown.view.run.trace, _beside(shown)
    if len(trace.streams) > 1 or found is None:
        return [name_of(part, trace)]
    rows = list(dict.fromkeys(map(row_of, shown.scan.parts)))
    return head(found, address, (rows.index(row_of(part)), part.unit or 0), which)


def _rise(shown: Shown, edited: Run, cost: float) -> Number:
    return number(edited, shown.scan.judged.mean_rise, cost, _signed(cost))


def _signed(value: float) -> str:
    return digits(value, 5 if abs(value) < 0.001 else 3)


def _without(shown: Shown, part: Part) -> Run:
    edited = shown.scan.without(part)
    memory.keep_alive(f"{SCAN}-{part.text}", edited)
    return edited


def _target(shown: Shown, place: int) -> str | Word:
    """What is predicted at a place of the losses: a token, or the class."""
    judged, trace = shown.scan.judged, shown.view.run.trace
    at = judged.places[place]
    if at >= 0:
        return token_of(shown, trace.main, at)
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
    layer = number(view.run, f"found.settled_layer.{last}", row - 1, str(row - 1))
    where: list[Piece] = ["after L", layer] if row else ["before the first layer"]
    probability = float(lens.probs[row, last, 0])
    return (
        ["The answer is there ", *where],
        [
            "After ",
            number(view.run, f"found.settled.{last}", row, str(row)),
            f" of {len(lens.ids) - 1} layers the logit lens has “",
            word(view.run, f"lens.words[{row},{last},0]", answer),
            "” as the most likely next token, and keeps it: p = ",
            number(view.run, f"lens.falling[{row},{last},0]", probability, digits(probability, 3)),
            ".",
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
        origin=_origin(shown) if work.is_done else (),
    )


def _origin(shown: Shown) -> Origin:
    """Independent runs without each head."""
    return origin_of(_beside(shown), "costs.heads", float(shown.scan.before.mean()))


def _beside(shown: Shown) -> Beside | None:
    """The same costs by independent runs."""
    view, work = shown.view, shown.scan
    return beside_costs(view, work.judged, "heads", costing.heads(view.handle, view.run))


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
