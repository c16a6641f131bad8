"""Steps one after the other, counted."""

from collections.abc import Callable

from model.recurrence import stored
from model.recurrence.steps import AROUND
from viz import formulas_recurrence as formulas
from viz.frame import inspector, layout, tables, words
from viz.pages.lessons.recurrence.shared import NAMES, Shown

COLUMNS = {
    "known": "steps, known target",
    "writing": "steps, writing",
    "from_source": "source to target",
    "within_target": "within target",
}


def section(shown: Shown) -> dict[str, Callable[[], bytes]]:
    """Count, and give back the counts as CSV."""
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
