"""What each head of a layer costs at each position: heads × positions, when a person asks."""

import numpy as np
import streamlit as st

from model.analysis.ablation import Part
from viz.figures.attribution import Marked, part_map
from viz.figures.heatmap import Axis, Hidden
from viz.figures.labels import unique
from viz.frame import answers, controls, layout, memory, notices, settings, state
from viz.live import component
from viz.pages.experiments.ablation.shared import Experiment
from viz.runs import ablating

TICK_SECONDS, PAUSE_SECONDS = 0.15, 0.05
POSITIONS, BUTTON = "position-ranking", "positions"


def section(experiment: Experiment) -> None:
    """A button, and the map as far as it is known."""
    view = experiment.view
    made_with = (view.run.key, view.attention, view.layer)
    found: ablating.Ranking | None = memory.remembered(POSITIONS, made_with)
    if memory.pressed(BUTTON) == "begin":
        found = ablating.ranking(
            view.handle, view.run, _parts(experiment), experiment.judged.targets
        )
        memory.remember(POSITIONS, made_with, found)
    if memory.pressed(BUTTON + "-stop") and found is not None:
        found.is_stopped = True
    if found is None:
        name = f"Cost of the heads of L{view.layer} at each position"
        controls.button(BUTTON, "begin", name, "grid_on")
        return
    if found.is_running:
        controls.button(BUTTON + "-stop", "stop", "Stop", "stop")
    draw = notices.guarded(lambda: _costs(experiment, found))
    if found.is_running:
        st.fragment(draw, run_every=PAUSE_SECONDS)()
    else:
        draw()


def _parts(experiment: Experiment) -> list[Part]:
    """Every head of the chosen layer at every query."""
    site, record = experiment.view.site, experiment.view.record
    module = site.address.rpartition(".")[2]
    return [
        Part(site.stack, module, site.layer, head, query)
        for head in range(record.n_heads)
        for query in range(record.q.shape[1])
    ]


def _costs(experiment: Experiment, found: ablating.Ranking) -> None:
    was_running = found.is_running
    if was_running and experiment.is_left:
        notices.run_again()  # a click in a fragment runs the fragment alone
    if was_running:
        found.advance(TICK_SECONDS)
    view = experiment.view
    n_heads, n_queries = view.record.n_heads, view.record.q.shape[1]
    grid = np.full(n_heads * n_queries, np.nan)
    grid[: len(found.losses)] = np.array(found.losses) - experiment.whole_loss
    values, missing = grid.reshape(n_heads, n_queries), np.isnan(grid).reshape(n_heads, -1)
    labels = unique(answers.labels_of(view.run.trace.stream(view.record.queries)))
    places = {part: divmod(i, n_queries) for i, part in enumerate(found.parts)}
    off = [place for part, place in places.items() if part.text in experiment.off]

    def switch(cell: component.Place) -> None:
        head, query = int(str(cell["y"])[1:]), labels.index(str(cell["x"]))
        part = found.parts[head * n_queries + query]
        state.put((settings.OFF, list(experiment.toggled(part.text))))

    title = f"Cost of each head of L{view.layer} at one position alone"
    layout.show_figure(
        part_map(
            (Axis("head", [f"H{head}" for head in range(n_heads)]), Axis("position", labels)),
            values,
            view.colors,
            ("cost (nats)", title),
            marked=Marked(None, off),
            hidden=Hidden(missing, "not computed yet") if missing.any() else None,
        ),
        key="position-costs",
        alt=f"{title}, in nats: {int((~missing).sum())} of {missing.size} are known.",
        on_pick=switch,
    )
    if was_running and not found.is_running:
        notices.run_again()  # the clock of the fragment stops with the whole page
