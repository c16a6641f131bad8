"""How many heads can go: greedy pruning, step by step, stoppable."""

import numpy as np

from model.analysis.ablation import n_prunable
from viz.figures.ablation import pruning_curve
from viz.frame import gradual, layout, words
from viz.pages.experiments.ablation.shared import RISE, Experiment, name_of
from viz.runs import ablating

PRUNING = "pruning"
BUTTON = gradual.Button("Remove heads", "Remove again", "content_cut")


def section(experiment: Experiment) -> None:
    """The button and the curve."""
    layout.section(
        "How many heads can go?",
        "One head after the other is set to zero: each time the one whose loss is smallest then.",
        "Michel et al. 2019 and Voita et al. 2019, who call it pruning, do it on whole test sets; "
        "here it is on this one input, so that more heads can go than on all texts together.",
    )
    view, targets = experiment.view, experiment.judged.targets
    gradual.when_asked(
        PRUNING,
        view.run.key,
        lambda: ablating.pruning(view.handle, view.run, targets),
        BUTTON,
        lambda work: f"{len(work.steps)} of {work.n} heads are off",
        lambda work: _curve(experiment, work),
    )


def _curve(experiment: Experiment, found: ablating.Pruning) -> None:
    whole, steps = experiment.whole_loss, found.steps
    if not steps:
        return
    losses = np.array([whole, *(step.loss for step in steps)])
    trace = experiment.view.run.trace
    names = ["none", *(name_of(step.part, trace) for step in steps)]
    n = n_prunable(whole, steps, RISE)
    is_known = n < len(steps) or len(steps) == found.n
    title = "Mean loss by how many heads are off"
    chart = pruning_curve(losses, names, (1 + RISE) * whole, title)
    layout.show_chart(chart, key="pruning")
    words.caption(
        f"The first head to go is {name_of(steps[0].part, trace)}. Of {found.n} heads "
        f"{'' if is_known else 'at least '}{n} can go before the loss rises by 5%."
    )
