"""What each token is worth to the answer, by measures that follow attention through all layers."""

import numpy as np

from model.analysis.exact import spearman
from model.analysis.input_gradients import Integrated
from viz.digits import digits, or_none
from viz.figures.explanation import token_rows
from viz.formulas import FORMULAS
from viz.formulas import patching as formulas
from viz.frame import inspector, layout, words
from viz.frame.said import Word
from viz.pages.experiments.explanation.shared import Shown
from viz.runs.explaining import MOST_TOKENS

COMPLETE = 0.01  # of the difference that integrated gradients may miss


def section(shown: Shown) -> None:
    """What each token is worth by measures that follow attention through all layers."""
    work = shown.work
    start = (
        "from a black picture to this one"
        if shown.view.run.trace.main.pixels is not None
        else "from the mean embedding of the vocabulary to the tokens’ own"
    )
    layout.section(
        "From the last token through all layers"
        if "decoder" in shown.view.offers
        else "Through all layers",
        "What each token is worth to the answer, by its removal and by other measures.",
        "Removed: no token attends to it, in any head of any layer, itself included; the rows are "
        "not normalised again. Rollout multiplies the layers’ mean patterns, each mixed with the "
        "residual connection; flow is the largest flow through them (Abnar & Zuidema 2020). "
        f"Integrated gradients go {start} (Sundararajan et al. 2017).",
    )
    if not len(work.token_effects) or work.integrated is None:
        words.notice(
            f"The sentence has {len(shown.tokens)} tokens: single tokens are removed from "
            f"sentences of up to {MOST_TOKENS}."
        )
        return
    of_one_stack = {"rollout": work.rollout, "flow": work.flows} if len(work.flows) else {}
    rows = {
        "removed": work.token_effects,
        "mean weight": work.measured.token_weights,
        **of_one_stack,
        "integrated gradients": work.integrated.attributions,
    }
    chart = token_rows(rows, shown.tokens, "Worth of each token to the answer")
    with layout.unsqueezed("token-worth"):
        layout.show_chart(chart, key="token-worth")
    if not len(work.flows):
        words.caption(
            "Rollout and flow are defined for one stack of layers (Abnar & Zuidema 2020): a "
            "translation, which goes through two, has neither."
        )
    removed, *others = (np.abs(values) for values in rows.values())
    words.table(
        {
            "measure": list(rows)[1:],
            "ρ with |removed|": [or_none(spearman(values, removed), 3) for values in others],
            "largest at": [Word(shown.tokens[int(values.argmax())]) for values in others],
        }
    )
    _completeness(work.integrated)


def _completeness(found: Integrated) -> None:
    """Whether they sum to what they explain."""
    total = float(found.attributions.sum())
    words.facts(
        [
            (digits(total), "sum of the integrated gradients"),
            (digits(found.value - found.baseline), "difference they explain"),
            (f"{digits(100 * found.error, 3)} %", f"completeness error, {found.n_steps} steps"),
        ]
    )
    name, written = "model.analysis.input_gradients.integrated", FORMULAS["Integrated gradients"]
    inspector.formula(name, written)
    inspector.formula(name, formulas.complete_with_numbers(total, found.value, found.baseline))
    inspector.formula("model.analysis.flow.rollout", FORMULAS["Rollout"])
    inspector.check(
        found.error <= COMPLETE,
        f"integrated gradients sum to the difference, error {found.error:.1e} of it, allowed "
        f"{COMPLETE:.0e}.",
    )
