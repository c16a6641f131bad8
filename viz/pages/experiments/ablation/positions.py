"""What each head of a layer costs at each position: heads × positions, when a person asks."""

import numpy as np

from model.analysis.ablation import Part
from viz.figures.attribution import Marked, part_map
from viz.figures.heatmap import Axis, Hidden
from viz.frame import answers, controls, gradual, layout, memory, settings, state
from viz.labels import unique
from viz.live import component
from viz.pages.experiments.ablation.shared import Experiment
from viz.runs import ablating

POSITIONS, BUTTON = "position-ranking", "positions"


def section(experiment: Experiment) -> None:
    """A button, and the map as far as it is known."""
    view = experiment.view
    made_with = (view.run.key, view.attention, view.layer)
    found: ablating.Ranking | None = memory.remembered(POSITIONS, made_with)
    if memory.pressed(BUTTON):
        found = experiment.ranking(_parts(experiment))
        memory.remember(POSITIONS, made_with, found)
    if found is None:
        name = f"Cost of the heads of L{view.layer} at each position"
        controls.button(BUTTON, "begin", name, "grid_on")
        return
    gradual.fill(found.filling, lambda: _costs(experiment, found), key="gradual-positions")


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
    view = experiment.view
    n_heads, n_queries = view.record.n_heads, view.record.q.shape[1]
    values = found.filling.values.reshape(n_heads, n_queries)
    known, missing = found.filling.is_known.reshape(n_heads, n_queries), np.isnan(values)
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
            marked=Marked(None, off, ~known),
            hidden=Hidden(missing, "not computed yet") if missing.any() else None,
        ),
        key="position-costs",
        alt=f"{title}, in nats: {int(known.sum())} of {known.size} are exact, the others "
        "estimates.",
        on_pick=switch,
    )
