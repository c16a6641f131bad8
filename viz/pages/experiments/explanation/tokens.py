"""What each token is worth to the answer, by measures that follow attention through all layers."""

import numpy as np

from viz import formulas_patching as formulas
from viz.digits import digits
from viz.figures.explanation import token_rows
from viz.frame import inspector, layout, memory, screen, words
from viz.frame.numbers import Piece, Word, number, word
from viz.live.chart.data import Origin
from viz.pages.experiments.explanation.shared import Shown
from viz.runs.explaining import MOST_TOKENS, Explaining

MOST_READ_BACK = 2048  # tokens of the runs along the path of integrated gradients
MOST_OF_TWO = 6000  # of a translation's, a run for each token
MOST_TO_FLOW = 24  # tokens that all attend to all, between which every flow is found once more
COMPLETE = 0.01  # of the difference that integrated gradients may miss


TWO_STACKS = (
    "Rollout and flow are defined for one stack of layers (Abnar & Zuidema 2020): a translation, "
    "which goes through two, has neither."
)


def section(shown: Shown) -> None:
    """What each token is worth by measures that follow attention through all layers."""
    work = shown.work
    start = (
        "from a black picture to this one"
        if shown.is_picture
        else ("from the mean embedding of the vocabulary to the tokens’ own")
    )
    layout.section(
        "From the last token through all layers" if shown.is_decoder else "Through all layers",
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
    rows = _token_measures(work)
    layout.show_figure(
        token_rows(rows, shown.tokens, shown.view.colors, "Worth of each token to the answer"),
        key="token-worth",
        alt="Worth of each token. "
        + " ".join(
            f"{name}: most {shown.tokens[int(np.abs(x).argmax())]}." for name, x in rows.items()
        ),
        origin=_origin(shown, list(rows)),
    )
    if not len(work.flows):
        words.caption(TWO_STACKS)
    _table(shown, rows)
    _completeness(work)


def _table(shown: Shown, rows: dict[str, np.ndarray]) -> None:
    """How well each measure ranks the tokens as their removal does, and which it finds largest."""
    removed, *others = rows
    named = _named(shown)
    words.table(
        {
            "measure": others,
            f"ρ with |{removed}|": [
                shown.correlation(
                    f"worth.rho.{named[name]}" if name in named else "",
                    np.abs(rows[name]),
                    np.abs(rows[removed]),
                    shown.work.worth,
                )
                for name in others
            ],
            "largest at": [_largest(shown, rows[name], named.get(name, "")) for name in others],
        }
    )


def _named(shown: Shown) -> dict[str, str]:
    """What measures that are read back are called there, by their names on screen."""
    work = shown.work
    assert work.integrated is not None, "which is worked out last"
    named = {"mean weight": "weights", "rollout": "rollout"}
    if shown.is_decoder or len(shown.tokens) <= MOST_TO_FLOW:
        named["flow"] = "flow"
    if _is_read(work):
        named["integrated gradients"] = f"integrated.{work.integrated.n_steps}"
    return named


def _largest(shown: Shown, values: np.ndarray, name: str) -> Piece:
    """The token that is worth most by a measure."""
    label = shown.tokens[int(np.abs(values).argmax())]
    if not name or shown.is_picture:
        return Word(label)
    return word(shown.work.worth, f"worth.largest.{name}[0]", label)


def _origin(shown: Shown, rows: list[str]) -> Origin:
    """Independent runs of each measure, of the last two where that does not take too long."""
    work = shown.work
    memory.keep_alive("worth", work.worth)
    largest = float(np.abs(work.token_effects).max()) or 1.0
    removed = screen.origin(
        work.worth, {(0, "z.0"): "worth.removed"}, max(1.0, abs(work.measured.value) / largest)
    )
    named = _named(shown)
    others = {
        (0, f"z.{row}"): f"worth.{named[name]}" for row, name in enumerate(rows) if name in named
    }
    return [*removed, *screen.origin(work.worth, others, tokens="x")]


def _is_read(work: Explaining) -> bool:
    """Whether integrated gradients have an independent run, which takes its time."""
    steps = work.integrated.n_steps if work.integrated else 0
    n = len(work.token_effects)
    is_of_one = len(work.flows) > 0
    return steps * n <= MOST_READ_BACK if is_of_one else 2 * steps * n**2 <= MOST_OF_TWO


def _token_measures(work: Explaining) -> dict[str, np.ndarray]:
    assert work.integrated is not None
    of_one_stack = {"rollout": work.rollout, "flow": work.flows} if len(work.flows) else {}
    return {
        "removed": work.token_effects,
        "mean weight": work.measured.token_weights,
        **of_one_stack,
        "integrated gradients": work.integrated.attributions,
    }


def _completeness(work: Explaining) -> None:
    found = work.integrated
    assert found is not None
    total = float(found.attributions.sum())
    address = f"worth.sum.{found.n_steps}"
    summed = number(work.worth, address, total) if _is_read(work) else digits(total)
    words.facts(
        [
            (summed, "sum of the integrated gradients"),
            (
                number(work.worth, "worth.difference", found.value - found.baseline),
                "difference they explain",
            ),
            (f"{digits(100 * found.error, 3)} %", f"completeness error, {found.n_steps} steps"),
        ]
    )
    inspector.formula(
        "model.analysis.input_gradients.integrated",
        formulas.INTEGRATED.latex,
        formulas.INTEGRATED.reference,
    )
    inspector.formula(
        "model.analysis.input_gradients.integrated",
        formulas.complete_with_numbers(total, found.value, found.baseline),
    )
    inspector.formula(
        "model.analysis.flow.rollout", formulas.ROLLOUT.latex, formulas.ROLLOUT.reference
    )
    inspector.check(
        found.error <= COMPLETE,
        f"integrated gradients sum to the difference, error {found.error:.1e} of it, allowed "
        f"{COMPLETE:.0e}.",
    )
