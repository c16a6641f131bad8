"""What each part costs, alone and at each position: estimates, which become exact meanwhile."""

from dataclasses import replace
from functools import partial

import numpy as np

from model.analysis.ablation import Part
from viz.charts.chart import Axis, numbered, signed
from viz.digits import digits
from viz.figures.attribution import Estimates, head_axes, part_map
from viz.frame import answers, controls, gradual, layout, memory, words
from viz.pages.experiments.ablation.shared import RISE, Experiment, layer_name, name_of
from viz.runs import ablating

RANKING, POSITIONS, BUTTON = "ranking", "position-ranking", "positions"
SUBLAYERS = {"attn": "attention", "cross_attn": "cross", "ffn": "MLP"}


def section(experiment: Experiment) -> None:
    """The maps of heads and of sublayers, which begin to be exact by themselves."""
    view = experiment.view

    def begin() -> ablating.Ranking:
        heads = ablating.heads(view.handle, view.run)
        found = experiment.ranking([*heads, *ablating.sublayers(view.handle, view.run)])
        n_cells = len(found.filling.exact)
        found.filling.is_running = gradual.begins_unasked(view, n_cells)
        return found

    ranking = gradual.kept(RANKING, view.run.key, begin)
    gradual.fill(ranking.filling, lambda: _costs(experiment, ranking))


def _costs(experiment: Experiment, ranking: ablating.Ranking) -> None:
    """Both maps, and what they say."""
    trace = experiment.view.run.trace
    left, right = layout.two_up("costs")
    with left:
        heads = [part for part in ranking.parts if part.unit is not None]
        rows = list(dict.fromkeys(layer_name(part, trace) for part in heads))
        places = {(rows.index(layer_name(part, trace)), part.unit or 0): part for part in heads}
        axes = head_axes(rows, 1 + max(part.unit or 0 for part in heads))
        site = experiment.view.site
        own = Part(site.stack, site.address.rpartition(".")[2], site.layer)
        chosen = (rows.index(layer_name(own, trace)), experiment.view.head)
        shown = ("head-costs", "Cost of each head: click one")
        _map(experiment, ranking, places, axes, shown, chosen)
    with right:
        sublayers = [part for part in ranking.parts if part.unit is None]
        modules = [name for name in SUBLAYERS if any(part.module == name for part in sublayers)]
        layer_of = {part: layer_name(replace(part, module="attn"), trace) for part in sublayers}
        rows = list(dict.fromkeys(layer_of.values()))
        places = {
            (rows.index(layer), modules.index(part.module)): part
            for part, layer in layer_of.items()
        }
        columns = Axis("sublayer", names=[SUBLAYERS[name] for name in modules])
        shown = ("sublayer-costs", "Cost of each sublayer: click one")
        _map(experiment, ranking, places, (Axis("layer", names=rows), columns), shown)
    _say_ranking(experiment, ranking)


def _map(
    experiment: Experiment,
    ranking: ablating.Ranking,
    parts: dict[tuple[int, int], Part],
    axes: tuple[Axis, Axis],
    shown: tuple[str, str],
    chosen: tuple[int, int] | None = None,
) -> None:
    """One map of costs, of parts by their place; `shown` are its key and title. Clicks switch."""
    key, title = shown
    shape = len(axes[0].names or ()), len(axes[1].names or ())
    grid, guessed, estimated = np.full(shape, np.nan), np.full(shape, np.nan), np.zeros(shape, bool)
    filling, numbers = ranking.filling, {part: i for i, part in enumerate(ranking.parts)}
    values, known = filling.values, filling.is_known
    for place, part in parts.items():
        number = numbers[part]
        grid[place], guessed[place] = values[number], filling.estimate[number]
        estimated[place] = not known[number]
    off = [place for place, part in parts.items() if part.text in experiment.off]

    def switch(row: int, column: int) -> None:
        if part := parts.get((row, column)):
            filling.point(numbers[part])
            experiment.switch(part)

    estimates = Estimates(estimated, guessed, "not there, or not computed yet")
    chart = part_map(
        axes,
        grid,
        signed("cost", grid, "nats"),
        title,
        chosen=chosen,
        off=off,
        estimates=estimates,
    )
    layout.show_chart(chart, key=key, on_pick=switch)


def _say_ranking(experiment: Experiment, ranking: ablating.Ranking) -> None:
    """What can be spared, which part is needed most, and which hinders, as far as is known."""
    trace, whole = experiment.view.run.trace, experiment.whole_loss
    known = {part: value for part, value in ranking.costs.items() if np.isfinite(value)}
    heads = {part: value for part, value in known.items() if part.unit is not None}
    others = {part: value for part, value in known.items() if part.unit is None}
    if not heads or not others:
        return

    def said(part: Part) -> str:
        cost = ranking.costs[part]
        return f"{name_of(part, trace)} ({'+' if cost > 0 else ''}{digits(cost, 3)} nats)"

    n_spared = sum(value < RISE * whole for value in heads.values())
    most, least = max(heads, key=heads.__getitem__), min(heads, key=heads.__getitem__)
    falls = "falls most" if heads[least] < 0 else "rises least"
    words.notice(
        f"{'' if ranking.filling.is_done else 'So far: '}{n_spared} of {len(heads)} heads can be "
        f"spared one at a time: the mean loss of {digits(whole, 3)} nats then rises by less than "
        f"{RISE:.0%}. It rises most without {said(most)} and {falls} without {said(least)}; of "
        f"whole sublayers most without {said(max(others, key=others.__getitem__))}."
    )


def at_positions(experiment: Experiment) -> None:
    """What each head of the chosen layer costs at each query: a button, and the map it begins."""
    view = experiment.view
    site, n_heads, n_queries = view.site, view.record.n_heads, view.record.q.shape[1]
    made_with = (view.run.key, view.attention, view.layer)
    ranking: ablating.Ranking | None = memory.remembered(POSITIONS, made_with)
    if memory.pressed(BUTTON):
        layer = Part(site.stack, site.address.rpartition(".")[2], site.layer)
        every = np.ndindex(n_heads, n_queries)
        parts = [replace(layer, unit=head, query=query) for head, query in every]
        ranking = experiment.ranking(parts)
        memory.remember(POSITIONS, made_with, ranking)
    if ranking is None:
        name = f"Cost of the heads of L{view.layer} at each position"
        controls.button(BUTTON, "begin", name, "grid_on")
        return
    parts = {divmod(i, n_queries): part for i, part in enumerate(ranking.parts)}
    queries = answers.labels_of(view.run.trace.stream(view.record.queries))
    axes = numbered("head", "H", n_heads), Axis("position", names=queries, numbered=True)
    shown = ("position-costs", f"Cost of each head of L{view.layer} at one position alone")
    draw = partial(_map, experiment, ranking, parts, axes, shown)
    gradual.fill(ranking.filling, draw, key="gradual-positions")
