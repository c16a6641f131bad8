"""From recurrence to attention: one toy translation by three models, by length, cell by cell."""

from collections.abc import Callable

from model.recurrence import stored
from model.recurrence.task import LONGEST, TRAINED
from viz.digits import digits
from viz.figures.recurrence import accuracy_lines
from viz.frame import controls, inspector, layout, tables, words
from viz.frame.page import Page
from viz.frame.settings import JUDGED_BY, ROW_LETTERS, ROW_TASK
from viz.frame.view import View
from viz.pages.lessons.recurrence import row, steps
from viz.pages.lessons.recurrence.shared import NAMES, Shown, letters_of, shown_of

LENGTHS = (8, TRAINED, 18)  # that the table names


def render(view: View) -> None:
    """Draw the page."""
    with layout.slim_row("recurrence"):
        task = controls.segments(ROW_TASK)
        judged = controls.segments(JUDGED_BY)
    letters = letters_of()
    shown = shown_of(task, letters)
    _by_length(shown, judged)
    words.ask(
        f"All three were trained on rows of up to {TRAINED} letters. Which of them still reverses "
        "one of 18?",
        see="recurrence-accuracy",
        **{ROW_TASK.name: "reverse", ROW_LETTERS.name: "brownfoxjumpsoverx"},
    )
    row.section(shown)
    counts = steps.section(shown)
    _ways_on()
    inspector.source(
        "model.recurrence.gru.GatedUnit",
        "model.recurrence.translators.AdditiveAttention",
        "model.recurrence.translators.Recurrent",
        "model.recurrence.translators.OfTransformer",
        "model.recurrence.scored.score",
    )
    inspector.export(view, _accuracy_tables() | counts)


def _by_length(shown: Shown, judged: str) -> None:
    """How much comes out right at each length, as stored with the weights."""
    shares = {
        NAMES[name]: stored.accuracy_by_length(
            stored.SHIPPED / name, shown.task, of_rows=judged == "rows"
        )
        for name in stored.NAMES
    }
    what = "Rows that come out exactly" if judged == "rows" else "Letters at their right place"
    left, right = layout.two_up("recurrence", (3, 2))
    with left:
        chart = accuracy_lines(shares, TRAINED, f"{what}, task {shown.task}")
        layout.show_chart(chart, key="recurrence-accuracy")
    with right:
        _table(shown, shares)


def _table(shown: Shown, shares: dict[str, tuple[list[int], list[float]]]) -> None:
    """The models, their sizes, and some of the shares."""
    names = stored.NAMES
    words.table(
        {
            "model": [NAMES[name] for name in names],
            "parameters": [f"{shown.sizes[name][0]:,}" for name in names],
            "rows in training": [f"{shown.rows_seen[name]:,}" for name in names],
            **{
                f"% at {n}": [digits(100 * shares[NAMES[name]][1][n - 1], 1) for name in names]
                for n in LENGTHS
            },
        }
    )
    n_rows = stored.read_scores(stored.SHIPPED / names[0])[0].n_rows
    words.caption(
        f"Of {n_rows:,} random rows at each length from 1 to {LONGEST}, written greedily by the "
        f"shipped weights; none is longer than {TRAINED} in training. Beyond, the Transformer "
        "meets positions that it was never trained on; additive attention has none and goes on "
        "for a few letters. python -m model recurrence trains and scores them."
    )


def _accuracy_tables() -> dict[str, Callable[[], bytes]]:
    """All that is stored, one row for each model, task and length."""

    def made() -> bytes:
        rows = [
            {
                "model": NAMES[name],
                "task": score.task,
                "letters": score.n_letters,
                "rows": score.n_rows,
                "exact rows": score.n_exact,
                "right letters": score.n_right,
            }
            for name in stored.NAMES
            for score in stored.read_scores(stored.SHIPPED / name)
        ]
        return tables.csv(rows)

    return {"Accuracy by length": made}


def _ways_on() -> None:
    words.ways(
        [
            words.Way(
                "The same in the running translator",
                "English to German: cross-attention of every layer and head, word by word.",
                query="?page=Translation&model=translate",
            ),
            words.Way(
                "Kernels", "Additive attention beside the scaled dot product.", page="Kernels"
            ),
            words.Way("Cost", "What n² pairs cost, which no recurrence has.", page="Cost"),
        ]
    )


PAGE = Page(
    "Recurrence",
    ":material/replay:",
    "One vector carries a whole row along. What is lost, and what does attention give back?",
    "Three models learned the same toy translation: a row of letters backwards, or once more "
    "as it is. Two are recurrent, with gated units: one has a single vector of the source "
    "(Cho et al. 2014), the other attends to every letter’s state with additive attention "
    "(Bahdanau et al. 2015). The third is a Transformer. All have about as many parameters "
    f"and were trained on the same random rows of 1 to {TRAINED} letters, in the same order.",
    render,
)
