"""What each part costs: maps of estimates, which become exact while one looks."""

from collections.abc import Sequence

import numpy as np

from model.analysis.ablation import Part
from model.trace import Trace
from model.worked_out import WorkedOut
from viz.charts.chart import Axis, signed
from viz.digits import or_none
from viz.figures.attribution import Estimates, head_axes, part_map
from viz.frame import gradual, layout, settings, state, words
from viz.frame.view import View
from viz.pages.experiments.ablation.shared import Experiment, name_of
from viz.runs import ablating

RANKING = "ranking"


def section(experiment: Experiment) -> None:
    """The maps of heads and of sublayers."""
    ranking = begun(experiment)
    gradual.fill(ranking.filling, lambda: _costs(experiment, ranking))


def begun(experiment: Experiment) -> ablating.Ranking:
    """The ranking of this input, as far as it has got; begun where there is none."""
    view = experiment.view

    def begin() -> ablating.Ranking:
        heads = ablating.heads(view.handle, view.run)
        found = experiment.ranking([*heads, *ablating.sublayers(view.handle, view.run)])
        found.filling.is_running = not isinstance(view.record.pattern, WorkedOut)  # it takes long
        return found

    return gradual.kept(RANKING, view.run.key, begin)


def _costs(experiment: Experiment, ranking: ablating.Ranking) -> None:
    """Both maps, and what they say."""
    left, right = layout.two_up("costs")
    with left:
        _cost_map(experiment, ranking, [part for part in ranking.parts if part.unit is not None])
    with right:
        _sublayer_map(experiment, ranking, [part for part in ranking.parts if part.unit is None])
    _say_ranking(experiment.view, ranking)


def _cost_map(experiment: Experiment, ranking: ablating.Ranking, parts: Sequence[Part]) -> None:
    trace = experiment.view.run.trace
    rows = list(dict.fromkeys(row_of(part) for part in parts))
    n_heads = 1 + max(part.unit or 0 for part in parts)
    by_place = {(rows.index(row_of(part)), part.unit or 0): part for part in parts}
    names = [row_name(row, trace) for row in rows]
    chosen = (experiment.view.site.stack, experiment.view.site.address.rpartition(".")[2])
    own = (*chosen, experiment.view.layer)
    _map(
        experiment,
        ranking,
        by_place,
        head_axes(names, n_heads),
        ("head-costs", "Cost of each head: click one"),
        (rows.index(own), experiment.view.head),
    )


def _sublayer_map(experiment: Experiment, ranking: ablating.Ranking, parts: Sequence[Part]) -> None:
    trace = experiment.view.run.trace
    kinds = {"attn": "attention", "cross_attn": "cross", "ffn": "feed-forward"}
    columns = [module for module in kinds if any(part.module == module for part in parts)]
    rows = list(dict.fromkeys((part.stack, "attn", part.layer) for part in parts))
    by_place = {
        (rows.index((part.stack, "attn", part.layer)), columns.index(part.module)): part
        for part in parts
    }
    names = [row_name(row, trace) for row in rows]
    axes = (
        Axis("layer", names=names),
        Axis("sublayer", names=[kinds[name] for name in columns]),
    )
    _map(
        experiment,
        ranking,
        by_place,
        axes,
        ("sublayer-costs", "Cost of each sublayer: click one"),
        None,
    )


def _map(
    experiment: Experiment,
    ranking: ablating.Ranking,
    by_place: dict[tuple[int, int], Part],
    axes: tuple[Axis, Axis],
    shown: tuple[str, str],
    chosen: tuple[int, int] | None,
) -> None:
    """One map of costs; a click switches that part."""
    key, title = shown
    shape = len(axes[0].names or ()), len(axes[1].names or ())
    grid, guessed, estimated = np.full(shape, np.nan), np.full(shape, np.nan), np.zeros(shape, bool)
    cost = ranking.costs
    guesses = dict(zip(ranking.parts, ranking.filling.estimate, strict=True))
    for place, part in by_place.items():
        grid[place], guessed[place] = cost[part], guesses[part]
        estimated[place] = part in ranking.estimated
    off = [place for place, part in by_place.items() if part.text in experiment.off]

    def switch(row: int, column: int) -> None:
        if part := by_place.get((row, column)):
            ranking.filling.point(ranking.parts.index(part))
            state.put((settings.OFF, list(experiment.toggled(part.text))))

    chart = part_map(
        axes,
        grid,
        signed("cost", grid, "nats"),
        title,
        chosen=chosen,
        off=off,
        estimates=Estimates(estimated, guessed, "not there, or not computed yet"),
    )
    layout.show_chart(chart, key=key, on_pick=switch)


def row_of(part: Part) -> tuple[str, str, int]:
    """The layer a part is in, of its kind of attention."""
    return part.stack, part.module, part.layer


def row_name(row: tuple[str, str, int], trace: Trace) -> str:
    """A layer as it is named on screen."""
    stack, module, layer = row
    first = "encoder " if len(trace.streams) > 1 and stack == "encoder" else ""
    return f"{first}L{layer}{' cross' if module == 'cross_attn' else ''}"


def _say_ranking(view: View, ranking: ablating.Ranking) -> None:
    """Which of the heads costs most, and which least, as far as is known."""
    heads = {part: value for part, value in ranking.costs.items() if part.unit is not None}

    def said(part: Part) -> str:
        return f"{name_of(part, view.run.trace)} ({or_none(heads[part], 3)} nats)"

    most, least = max(heads, key=heads.__getitem__), min(heads, key=heads.__getitem__)
    words.caption(
        f"{'' if ranking.filling.is_done else 'So far: '}The head that costs most is "
        f"{said(most)}, the one that costs least {said(least)}."
    )
