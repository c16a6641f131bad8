"""Ablation: take it away. Parts of the model off, and the run beside the run as it was."""

from model.analysis.ablation import EVERYTHING, MEAN, OTHER, SURVEYED, ZERO, part_of
from viz.digits import digits
from viz.formulas import experiments as formulas
from viz.frame import answers, controls, inspector, layout, memory, settings, state, words
from viz.frame.page import Page
from viz.frame.view import View
from viz.pages.experiments.ablation import costs, effect, pruning
from viz.pages.experiments.ablation.shared import (
    WORDS,
    Experiment,
    answer_of,
    experiment_of,
    name_of,
    toggled,
)
from viz.runs import ablating, heads


def render(view: View) -> None:
    """Draw the page."""
    way, position = _controls(view)
    experiment = experiment_of(view, way)
    costs.section(experiment)
    _say_what_is_off(experiment)
    _facts(experiment, position)
    costs.at_positions(experiment)
    effect.section(experiment, position)
    if {"neurons", "parts"} <= view.offers:
        effect.neurons(experiment, position)
    pruning.section(experiment)
    _inspect(experiment)


def _controls(view: View) -> tuple[str, int]:
    """What stands in for what is off, and the position whose answer is shown."""
    trace = view.run.trace
    takes_text = "text" in view.offers and len(trace.streams) == 1
    surveyed = (SURVEYED,) if heads.survey(view.handle) else ()
    options = (ZERO, MEAN, *surveyed, *((OTHER,) if takes_text else ()))
    with layout.slim_row("ablation"):
        way = controls.select(
            settings.STANDS_IN.given(options=options, words=WORDS.__getitem__), width=200
        )
        if way == OTHER:
            controls.text(settings.SECOND.given(label="Other sentence"))
        position = answers.position_of(view)
        controls.button("off", "none", "All on", "restart_alt")
        if "weights" in view.offers:
            controls.button("off", "all", "Everything off", "power_settings_new")
    pressed = memory.pressed("off")
    if pressed is not None:
        state.put((settings.OFF, [EVERYTHING] if pressed == "all" else []))
    neuron = memory.pressed(effect.ANY)
    if neuron is not None:
        sizes = ablating.sizes(view.handle, trace)
        off = state.value(settings.OFF.given(sizes=sizes))
        state.put((settings.OFF, list(toggled(off, neuron))))
    return way, position


def _say_what_is_off(experiment: Experiment) -> None:
    view = experiment.view
    if experiment.is_everything:
        left = (
            "the bias of the unembedding alone makes the answer"
            if "vision" in view.offers  # whose unembedding has one
            else "the unembedding has no bias, so all answers are equally probable"
        )
        words.notice(f"Everything is off. Nothing is left of the model: {left}.")
    elif experiment.off:
        sizes = ablating.sizes(view.handle, view.run.trace)
        names = [name_of(part_of(text, sizes), view.run.trace) for text in experiment.off]
        words.notice(f"Off, set to {WORDS[experiment.way]}: {', '.join(names)}.")
        if experiment.way == MEAN:
            mean = ablating.mean_of(view.handle, view.run)
            words.caption(f"The mean of a part is over {mean}; that of an edge over its row.")
    else:
        words.caption("Nothing is off. Click a cell of a map to switch that part off.")


def _facts(experiment: Experiment, position: int) -> None:
    view, edited, judged = experiment.view, experiment.edited, experiment.judged
    before, after = experiment.whole_loss, float(experiment.after.mean())
    change = after - before
    names = answers.names_of(view)
    logits = [answers.logits_of(run)[position] for run in (view.run, edited)]
    most_likely = [int(row.argmax()) for row in logits]
    said = [
        [answer_of(view, i, names), f" {digits(answers.probability_of(run, position, i), 4)}"]
        for run, i in zip((view.run, edited), most_likely, strict=True)
    ]
    whole = (f"{digits(before, 3)} nats", f"mean loss of each {judged.targets.name}")
    best = (said[0], "most likely, with its probability")
    if not experiment.off:
        words.facts([whole, best])
        return
    facts = [
        whole,
        (f"{digits(after, 3)} nats", "mean loss with parts off"),
        (f"{'+' if change > 0 else ''}{digits(change, 3)} nats", "change of the mean loss"),
        best,
    ]
    if logits[1].min() < logits[1].max():  # not where nothing is left
        facts.append((said[1], "most likely with parts off"))
    words.facts(facts)


def _inspect(experiment: Experiment) -> None:
    name = "model.analysis.ablation.edits_of"
    written = formulas.ablation(experiment.way)
    inspector.enter("What is off")
    inspector.formula(name, written)
    after = float(experiment.after.mean())
    inspector.formula(name, formulas.cost_with_numbers(after, experiment.whole_loss))
    inspector.source(
        name,
        "model.analysis.interventions.run_rows",
        "model.analysis.ablation.single_costs",
        "model.analysis.ablation.estimated_costs",
        "model.analysis.ablation.pruned",
    )
    if experiment.off:
        inspector.checked("The run with parts off", experiment.edited.checking.result)
    inspector.export(experiment.view, {})


PAGE = Page(
    "Ablation",
    ":material/content_cut:",
    "Take a part of the model away: click a head, and see what the answer loses.",
    "A head, a neuron, a whole sublayer or one edge from a query to a key is set to zero, to "
    "its mean over the tokens of this input, a head to its mean over held-out text, or to "
    "what another sentence has there. The model then runs again, all of it. The maps say what "
    "each part costs: the mean loss with that part alone at zero minus that of the whole "
    "model, estimated from one backward pass and then exact, one run for each. Orange: without "
    "it the loss is higher, the part helps on this input. Blue: the loss is lower. "
    "That a part costs little here says nothing of other texts.",
    render,
    needs=("answers", "edits"),
)
