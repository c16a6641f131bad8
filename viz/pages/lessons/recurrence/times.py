"""Steps one after the other, counted; and the time of a forward pass by length, when asked."""

from collections.abc import Callable
from functools import partial

from model.analysis.timing import WaysSummary, summarise_ways
from model.recurrence import stored
from model.recurrence.steps import AROUND
from viz import formulas_recurrence as formulas
from viz.digits import digits
from viz.figures.recurrence import time_lines
from viz.frame import inspector, layout, tables, words
from viz.frame.measured import measured_when_asked, say_disturbed
from viz.pages.lessons.recurrence.shared import NAMES, Shown
from viz.runs import recurring

ALLOWED_ERROR = 1e-5  # of logits one after the other against all at once
MEASURING = "measuring-recurrence"  # the measurement of this visitor
COLUMNS = {
    "known": "steps, known target",
    "writing": "steps, writing",
    "from_source": "source to target",
    "within_target": "within target",
}


def section(shown: Shown) -> dict[str, Callable[[], bytes]]:
    """Count, measure, and give back the counts as CSV."""
    n = len(shown.letters)
    layout.section(
        "Steps one after the other",
        f"For a row of {n} letter{'s' * (n > 1)}: how many must wait for each other, and how far a "
        "signal goes.",
        "A known target is that of training: all its tokens are there at once. A step is one step "
        "of a gated unit, or one block. The paths are the longest: from a letter of the source to "
        "what its token is made of (units of the encoder, and attention), and from the first token "
        "of the target to the last.",
    )
    _counted(shown)
    sizes = shown.sizes
    formula = formulas.steps(n, n + AROUND, n + 1, sizes["transformer"][1].known)
    inspector.formula("model.recurrence.steps.steps", formula.latex, formula.reference)
    summed_up = partial(summarise_ways, ways=stored.NAMES)
    summary = measured_when_asked(MEASURING, MEASURING, recurring.measure, summed_up)
    if summary is not None:
        _measured(summary)
    return {"Steps": lambda: tables.csv(_rows(shown))}


def _counted(shown: Shown) -> None:
    names = stored.NAMES
    words.table(
        {
            "model": [NAMES[name] for name in names],
            **{
                title: [f"{getattr(shown.sizes[name][1], what):,}" for name in names]
                for what, title in COLUMNS.items()
            },
        }
    )
    words.caption(
        "Writing, each token waits for the one before it in all three. Reading, and training, only "
        "recurrence waits: its steps grow with the row, those of the Transformer do not."
    )


def _rows(shown: Shown) -> list[dict[str, object]]:
    return [
        {"model": NAMES[name], **{t: getattr(found, what) for what, t in COLUMNS.items()}}
        for name, (_, found) in shown.sizes.items()
    ]


def _measured(summary: WaysSummary) -> None:
    seconds = {NAMES[name]: by_n for name, by_n in summary.seconds.items()}
    quartiles = {NAMES[name]: by_n for name, by_n in summary.quartiles.items()}
    longest = max(next(iter(seconds.values())))
    times = ", ".join(
        f"{name} {digits(1000 * by_n[longest], 2)} ms" for name, by_n in seconds.items()
    )
    layout.show_chart(time_lines(seconds, quartiles), key="recurrence-times")
    words.caption(
        f"At {longest} letters: {times}. Medians of {summary.n_rounds} rounds; bars: from the "
        "first quartile to the third. One row, its target known, on one CPU thread, where a step "
        "that need not wait gains less than on a GPU."
    )
    say_disturbed(summary.spread)
    inspector.source("model.recurrence.timing.time_translators")
    inspector.check(
        summary.difference <= ALLOWED_ERROR,
        "logits written one after the other are those of all positions at once, max error "
        f"{summary.difference:.1e} (allowed {ALLOWED_ERROR:.0e}).",
    )
