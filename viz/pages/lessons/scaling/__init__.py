"""Scaling: how large a model and how much text a compute pays for, by two laws and by our own."""

from collections.abc import Callable, Iterable

import numpy as np

from model.analysis.scaling import (
    COMPUTES,
    KNOWN_RUNS,
    LAWS,
    OCTAVES,
    PRINTED,
    REFITTED,
    Choice,
    chosen,
    iso_compute,
)
from viz import formulas_scaling as formulas
from viz.digits import digits
from viz.figures.scaling import best_sizes, equal_compute
from viz.formulas import Formula
from viz.frame import controls, inspector, layout, words
from viz.frame.inspector import Tables
from viz.frame.page import Page
from viz.frame.settings import SCALING_COMPUTE, SCALING_LAW, SCALING_TIMES, SCALING_VIEW
from viz.frame.view import View
from viz.pages.lessons.scaling import own
from viz.pages.lessons.scaling.quantities import in_words

BILLION = 1e9
GIVEN = {"printed": PRINTED, "refitted": REFITTED}


def render(view: View) -> None:
    """Draw the page."""
    with layout.beside_heading():
        shown = controls.segments(SCALING_VIEW)
    exported = DRAW[shown](view)
    inspector.source(
        "model.analysis.scaling.Parametric",
        "model.analysis.scaling.kaplan_loss",
        "model.analysis.scaling.kaplan_size",
        "model.analysis.scaling_fit.fit",
    )
    inspector.export(view, exported)


def _laws(_: View) -> Tables:
    """The question, and what every law answers."""
    with layout.slim_row("scaling"):
        tenths = round(10 * controls.slider(SCALING_COMPUTE))
        name = controls.select(SCALING_LAW, width=220)
    compute = 10 ** (tenths / 10)
    here = chosen(LAWS[name], compute)
    _sizes(compute, here)
    words.notice(_answer(compute, dict.fromkeys((name, "kaplan"))))
    _by_law(tenths)
    _show_formula(name, here)
    return {}


def _answer(compute: float, names: Iterable[str]) -> str:
    """What twice the compute pays for best, by these laws."""
    said = []
    for name in names:
        once, twice = (chosen(LAWS[name], times * compute) for times in (1, 2))
        more = [twice.size / once.size, twice.tokens / once.tokens]
        said.append(
            f"{digits(more[0], 2)} times the parameters and {digits(more[1], 2)} times the text by "
            f"{SCALING_LAW.words(name)}"
        )
    return f"Twice the compute pays best for {'; for '.join(said)}."


def _one_compute(_: View) -> Tables:
    """Loss of larger and smaller models than the best, for one compute."""
    with layout.slim_row("scaling"):
        tenths = round(10 * controls.slider(SCALING_COMPUTE))
        octave = controls.steps(SCALING_TIMES)
        name = controls.select(SCALING_LAW, width=220)
    here = chosen(LAWS[name], 10 ** (tenths / 10), octave)
    _here(name, tenths, octave, here)
    _equal(name, tenths, octave, here)
    words.ask(
        "Gopher took 10^23.76 operations and has 280 billion parameters, about four times the best "
        "size by the refitted law. What did that cost in loss?",
        see="scaling-equal",
        **{
            SCALING_COMPUTE.name: "23.8",
            SCALING_TIMES.name: "2",
            SCALING_LAW.name: "refitted",
        },
    )
    return {}


def _sizes(compute: float, here: Choice) -> None:
    """Lines of all laws, and models that were really trained."""
    names = [f"{run.name}, {digits(run.parameters / BILLION, 0)}" for run in KNOWN_RUNS]
    computes = np.array([run.compute for run in KNOWN_RUNS])
    sizes = np.array([run.parameters for run in KNOWN_RUNS])
    laws = {law.name: law.best_size(COMPUTES) for law in LAWS.values()}
    chart = best_sizes(COMPUTES, laws, (names, computes, sizes), (compute, here.size))
    layout.show_chart(chart, key="scaling-sizes")
    known = (f"{run.name} {digits(run.parameters / BILLION, 0)}" for run in KNOWN_RUNS)
    words.caption(
        f"Diamonds: published models and their parameters in billions. {', '.join(known)}."
    )


def _equal(name: str, tenths: int, octave: int, here: Choice) -> None:
    """Loss of all sizes at this compute, at a tenth and at ten times of it."""
    law = LAWS[name]
    assert law.loss is not None  # the laws to choose from have one
    curves, best = [], []
    powers = [tenths - 10, tenths, tenths + 10]
    for power in powers:
        compute = 10 ** (power / 10)
        sizes = float(law.best_size(np.array(compute))) * 2.0**OCTAVES
        curves.append((f"10^{digits(power / 10, 1)}", sizes, iso_compute(law.loss, compute, sizes)))
        best.append(chosen(law, compute))
    at_best = np.array([one.size for one in best]), np.array([one.loss for one in best])
    title = f"Loss at equal compute, {SCALING_LAW.words(name)}"
    chart = equal_compute(curves, at_best, (here.size, here.loss), title)
    layout.show_chart(chart, key="scaling-equal")
    _show_formula(name, here)


def _show_formula(name: str, here: Choice) -> None:
    formula = _formula(name, here)
    inspector.formula("model.analysis.scaling.iso_compute", formula.latex, formula.reference)


def _formula(name: str, here: Choice) -> Formula:
    if name in GIVEN:
        at = (here.size, here.tokens, here.loss)
        return formulas.parametric(GIVEN[name], *at, LAWS[name].source)
    return formulas.kaplan(here.size, here.tokens, here.loss)


def _here(name: str, tenths: int, octave: int, here: Choice) -> None:
    """Size, tokens and loss that are chosen, and what the best size would have."""
    best = chosen(LAWS[name], 10 ** (tenths / 10))
    at_best = f", at the best size {digits(best.loss)}" if octave else ""
    words.caption(
        f"The circle: by {SCALING_LAW.words(name)}, 10^{digits(tenths / 10, 1)} operations pay for "
        f"{in_words(here.size)} parameters and {in_words(here.tokens)} tokens: loss "
        f"{digits(here.loss)}{at_best}."
    )
    if name == "kaplan":
        words.caption(
            "Kaplan’s L(N, D) alone is lowest at smaller sizes than the law’s best (the diamonds): "
            "along equal compute its minimum grows as C^0.58. Their 0.73 comes from the other of "
            "their formulas, for loss during training with one schedule (eq. 1.6)."
        )


def _by_law(tenths: int) -> None:
    """What every law says of the compute that is chosen."""
    found = [chosen(law, 10 ** (tenths / 10)) for law in LAWS.values()]
    words.table(
        {
            "law": [law.name for law in LAWS.values()],
            "N grows as C to the": [digits(law.exponent, 3) for law in LAWS.values()],
            "parameters": [in_words(one.size) for one in found],
            "tokens": [in_words(one.tokens) for one in found],
            "tokens per parameter": [digits(one.tokens / one.size, 2) for one in found],
            "loss, nats": ["–" if np.isnan(one.loss) else digits(one.loss) for one in found],
            "source": [law.source for law in LAWS.values()],
        },
        texts=["source"],
    )
    words.caption(
        "Losses of Kaplan and of approach 3 are of other texts and tokenizers: the smaller one "
        "does not win. The approaches are Chinchilla’s; 1 and 2 are drawn through the 67 and 63 "
        "billion parameters that the paper gives for Gopher’s compute. The third as printed asks "
        "for smaller models than the other two: its printed constants are rounded, and the fit "
        "had stopped too early (Besiroglu et al. 2024); fitted again it agrees with them."
    )


def _disagreement(_: View) -> Tables:
    layout.section(
        "Why they disagree",
        "Not about what models do, but about what was counted and how they were trained.",
    )
    words.claims(
        [
            (
                "What counts as size",
                "Kaplan et al. left out embeddings and drew lines through small models, in which "
                "embeddings are much of the whole. Chinchilla’s own law, with parameters counted "
                "as Kaplan et al. did and over their sizes, gives an exponent near theirs "
                "(Pearce & Song 2024). Our own runs can be counted both ways.",
            ),
            (
                "What counts as compute",
                "They left out the operations of the last layer too, which in small models are "
                "many (Porian et al. 2024).",
            ),
            (
                "How long the schedule is",
                "Kaplan et al. took short trainings from the curves of long ones, whose learning "
                "rate had not fallen yet: text seemed to help less than it does (Hoffmann et al. "
                "2022, §2). Porian et al. 2024 find this to matter less than a warm-up that was "
                "too long for small models, and optimizer settings not chosen for each size.",
            ),
        ]
    )
    return {}


DRAW: dict[str, Callable[[View], Tables]] = {
    "laws": _laws,
    "equal": _one_compute,
    "why": _disagreement,
    "own": own.section,
}
PAGE = Page(
    "Scaling",
    ":material/trending_up:",
    "Twice the compute: what is it best spent on?",
    "Two laws answered differently. A scaling law says what loss a model of N parameters reaches "
    "after D tokens; a training takes about C = 6·N·D operations, so for a given C a larger model "
    "sees less text. Kaplan et al. 2020 let the model grow nearly three times as fast as the text "
    "(in powers of C), Hoffmann et al. 2022 (Chinchilla) both alike. Each law’s loss is of its own "
    "text and tokenizer: losses of two laws are not comparable, and Kaplan’s N is without "
    "embeddings.",
    render,
    needs=("decoder",),
)
