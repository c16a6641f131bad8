"""The run with parts off beside the run as it was: a pattern, answers, losses; and neurons."""

import numpy as np

from model.analysis.ablation import Part
from viz.charts.chart import Axis
from viz.digits import digits
from viz.figures.ablation import answer_bars, weight_map
from viz.figures.attribution import named_bars, token_bars
from viz.frame import answers, controls, layout, settings
from viz.pages.experiments.ablation.shared import Experiment, layer_name, name_of
from viz.runs import Run, ablating, attributing

MOST_ANSWERS = 5  # most likely ones, of the run as it was and of the one under the edit
MOST_NEURONS = 10
ANY = "any-neuron"  # the button that switches the neuron that is typed


def section(experiment: Experiment, position: int) -> None:
    """Pattern and answers; with parts off both of both runs, and what each loss changes by."""
    view = experiment.view
    layout.section(
        f"Pattern of {view.head_name}",
        "Click a cell of the pattern as it was to remove that edge.",
        "The head chosen in the bar above. A removed edge has the weight 0 (or what stands in for "
        "it), and the row is not normalised again.",
    )
    left, right = layout.two_up("patterns")
    with left:
        _pattern(experiment, view.run, "As it was", "pattern-before")
    with right:
        if experiment.off:
            _pattern(experiment, experiment.edited, "With parts off", "pattern-after")
        else:
            _answers(experiment, position)
    if experiment.off:
        left, right = layout.two_up("effect")
        with left:
            _answers(experiment, position)
        with right:
            _losses(experiment)


def _pattern(experiment: Experiment, run: Run, title: str, key: str) -> None:
    view = experiment.view
    record = run.trace.record(view.site)
    streams = (run.trace.stream(name) for name in (record.queries, record.keys))
    queries, keys = map(answers.labels_of, streams)
    pattern = record.pattern[view.head]
    spread = float(np.abs(pattern - view.pattern).max())

    def cut(query: int, to: int) -> None:
        site = view.site
        module = site.address.rpartition(".")[2]
        experiment.switch(Part(site.stack, module, site.layer, view.head, query, to))

    is_own = run is view.run
    says = f"Largest difference from the run as it was: {digits(spread, 3)}."
    both, mask = (queries, keys), record.mask_of(view.head)
    chart = weight_map(pattern, both, mask, title, "" if is_own else says)
    layout.show_chart(chart, key=key, on_pick=cut if is_own else None)


def _answers(experiment: Experiment, position: int) -> None:
    view = experiment.view
    names = answers.names_of(view)
    shown = (view.run, experiment.edited) if experiment.off else (view.run,)
    ids: list[int] = []
    for run in shown:
        best = np.argsort(-answers.logits_of(run)[position], kind="stable")[:MOST_ANSWERS]
        ids += [int(i) for i in best if int(i) not in ids]
    probs = [np.array([answers.probability_of(run, position, i) for i in ids]) for run in shown]
    chart = answer_bars([names[i] for i in ids], probs, "Most likely answers")
    layout.show_chart(chart, key="answers")


def _losses(experiment: Experiment) -> None:
    judged, trace = experiment.judged, experiment.view.run.trace
    labels = answers.labels_of(trace.main)
    shown = [labels[place] if place >= 0 else "class" for place in judged.places]
    title = f"Change of the loss of each {judged.targets.name}"
    chart = token_bars(
        shown,
        experiment.after - experiment.before,
        Axis("change of the loss", "nats"),
        title,
        {"as it was": experiment.before, "with parts off": experiment.after},
    )
    layout.show_chart(chart, key="loss-change")


def neurons(experiment: Experiment, position: int) -> None:
    """Neurons that can be switched off: those with the largest shares."""
    view = experiment.view
    layout.section(
        "Neurons",
        "Those with the largest direct share in the answer above; click one to switch it off, or "
        "any other by its number.",
        "The share is that of the page Contributions, in the logit of the most likely answer at "
        "the chosen position, with nothing off. A neuron is off at every position.",
    )
    token = int(answers.logits_of(view.run)[position].argmax())
    run, stack = view.run, view.run.trace.main.name
    shares = attributing.attribution(view.handle, run, run.key, position, token, None).neurons
    order = np.argsort(-np.abs(shares).ravel(), kind="stable")[:MOST_NEURONS]
    places = (divmod(int(place), shares.shape[1]) for place in order)
    parts = [Part(stack, "ffn", layer, neuron) for layer, neuron in places]
    names = [
        f"L{part.layer} N{part.unit}{' off' if part.text in experiment.off else ''}"
        for part in parts
    ]

    def switch(row: int, _: int) -> None:
        experiment.switch(parts[row])

    chart = named_bars(names, shares.ravel()[order], "share in the logit", "Neurons: click one")
    layout.show_chart(chart, key="neurons-off", on_pick=switch)
    _any_neuron(experiment)


def _any_neuron(experiment: Experiment) -> None:
    """A layer, a number, and a button that switches that neuron."""
    view = experiment.view
    sizes = ablating.sizes(view.handle, view.run.trace)
    layers = {
        f"{group.removesuffix('.ffn')}.{layer}": Part(group.removesuffix(".ffn"), "ffn", layer)
        for group, limits in sizes.items()
        if group.endswith(".ffn")
        for layer in range(limits[0])
    }
    names = {name: layer_name(part, view.run.trace) for name, part in layers.items()}
    setting = settings.NEURONS_OF.given(
        options=list(layers), default=f"{view.run.trace.main.name}.0", words=names.__getitem__
    )
    with layout.slim_row("any-neuron"):
        chosen = layers[controls.select(setting, width=170)]
        high = sizes[f"{chosen.stack}.ffn"][1] - 1
        neuron = controls.number(settings.ANY_NEURON.given(high=high))
        part = Part(chosen.stack, "ffn", chosen.layer, neuron)
        is_off = part.text in experiment.off
        label = f"{name_of(part, view.run.trace)} {'on' if is_off else 'off'}"
        controls.button(ANY, part.text, label, "toggle_on" if is_off else "toggle_off")
