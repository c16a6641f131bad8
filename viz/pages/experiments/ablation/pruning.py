"""How many heads can go: greedy pruning, step by step, stoppable."""

import numpy as np
import streamlit as st

from model.analysis.ablation import n_prunable
from viz.digits import digits
from viz.figures.ablation import pruning_curve
from viz.frame import layout, memory, notices, words
from viz.pages.experiments.ablation.shared import Experiment, name_of
from viz.runs import ablating

TICK_SECONDS, PAUSE_SECONDS = 0.15, 0.05
RISE = 0.05  # of the loss, up to which heads can go
PRUNING = "pruning"


def section(experiment: Experiment) -> None:
    """The button and the curve."""
    layout.section(
        "How many heads can go?",
        "One head after the other is set to zero: each time the one whose loss is smallest then.",
        "Greedy pruning, as Michel et al. 2019 and Voita et al. 2019 do it on whole test sets; "
        "here it is on this one input, so that more heads can go than on all texts together.",
    )
    view = experiment.view
    made_with = view.run.key
    found: ablating.Pruning | None = memory.remembered(PRUNING, made_with)
    is_running = found is not None and found.is_running
    draw = notices.guarded(lambda: _prune_on(experiment, made_with))
    st.fragment(draw, run_every=PAUSE_SECONDS if is_running else None)()


def _prune_on(experiment: Experiment, made_with: object) -> None:
    """The button, the curve so far, and while it runs the next steps."""
    found: ablating.Pruning | None = memory.remembered(PRUNING, made_with)
    running = found if found is not None and found.is_running else None
    pressed = _button(found)
    if running is not None and pressed:
        running.is_running = False
    elif pressed:
        view = experiment.view
        begun = ablating.pruning(view.handle, view.run, experiment.judged.targets)
        memory.remember(PRUNING, made_with, begun)
    elif running is not None:
        running.advance(TICK_SECONDS)
        st.progress(running.progress, f"{len(running.steps)} of {running.n} heads are off")
    if found is not None and found.steps:
        _curve(experiment, found)
    if pressed or (running is not None and not running.is_running):
        notices.run_again()  # the clock of the fragment starts or stops with the whole page


def _button(found: ablating.Pruning | None) -> bool:
    if found is not None and found.is_running:
        return st.button("Stop", icon=":material/stop:")
    label = "Prune heads" if found is None else "Prune again"
    return st.button(label, icon=":material/content_cut:", type="primary")


def _curve(experiment: Experiment, found: ablating.Pruning) -> None:
    whole, steps = experiment.whole_loss, found.steps
    losses = np.array([whole, *(step.loss for step in steps)])
    trace = experiment.view.run.trace
    names = ["none", *(name_of(step.part, trace) for step in steps)]
    n = n_prunable(whole, steps, RISE)
    is_known = n < len(steps) or len(steps) == found.n
    title = "Mean loss by how many heads are off"
    layout.show_figure(
        pruning_curve(losses, names, (1 + RISE) * whole, experiment.view.colors, title),
        key="pruning",
        alt=f"{title}. Mean loss in nats by the number of heads that are off, from "
        f"{digits(whole, 3)} with none to {digits(float(losses[-1]), 3)} with {len(steps)}.",
    )
    words.caption(
        f"The first head to go is {name_of(steps[0].part, trace)}. Of {found.n} heads "
        f"{'' if is_known else 'at least '}{n} can go before the loss rises by 5%."
    )
