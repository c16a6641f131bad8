"""What each head of a layer costs at each position: heads × positions, when a person asks."""

from model.analysis.ablation import Part
from viz.charts.chart import Axis, numbered, signed
from viz.figures.attribution import Estimates, part_map
from viz.frame import answers, controls, gradual, layout, memory, settings, state
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
    known = found.filling.is_known.reshape(n_heads, n_queries)
    labels = answers.labels_of(view.run.trace.stream(view.record.queries))
    places = {part: divmod(i, n_queries) for i, part in enumerate(found.parts)}
    off = [place for part, place in places.items() if part.text in experiment.off]

    def switch(head: int, query: int) -> None:
        part = found.parts[head * n_queries + query]
        state.put((settings.OFF, list(experiment.toggled(part.text))))

    chart = part_map(
        (numbered("head", "H", n_heads), Axis("position", names=labels, numbered=True)),
        values,
        signed("cost", values, "nats"),
        f"Cost of each head of L{view.layer} at one position alone",
        off=off,
        estimates=Estimates(~known, found.filling.estimate.reshape(values.shape)),
    )
    layout.show_chart(chart, key="position-costs", on_pick=switch)
