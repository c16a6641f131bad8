"""From recurrence to attention: one toy translation by three models, by length, cell by cell."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from model.recurrence import stored
from model.recurrence.steps import AROUND, Steps
from model.recurrence.task import (
    LETTERS,
    LONGEST,
    TRAINED,
    answer_of,
    drawn,
    ids_of,
    shown,
    source_of,
)
from model.recurrence.task import NAMES as TOKENS
from viz import formulas_recurrence as formulas
from viz.digits import digits
from viz.figures.recurrence import accuracy_lines, alignment_map
from viz.frame import controls, inspector, layout, memory, scenes, state, tables, words
from viz.frame.page import Numbers, Page
from viz.frame.said import Piece, Said, Word
from viz.frame.settings import JUDGED_BY, ROW_HEAD, ROW_LETTERS, ROW_PLACE, ROW_TASK
from viz.frame.view import View
from viz.runs import recurring

LENGTHS = (8, TRAINED, 18)  # that the table names
N_SHOWN = 3  # numbers of a context in the formula
NAMES = {
    "fixed": "recurrent, one vector",
    "additive": "recurrent, with attention",
    "transformer": "Transformer",
}
DRAW = "draw-row"  # the button
LAST_GOOD = "recurrence-letters"  # of this visitor
COLUMNS = {
    "known": "steps, known target",
    "writing": "steps, writing",
    "from_source": "source to target",
    "within_target": "within target",
}


@dataclass(frozen=True, eq=False)
class Shown:
    """The row that is shown under one task, in all three models."""

    task: str
    letters: tuple[int, ...]
    row: recurring.Row


def _letters() -> tuple[int, ...]:
    """The letters that were typed or drawn; of what is not valid one line, and the last good ones.

    A drawn row stands in the address as a typed one does: the draw needs no seed.
    """
    if memory.pressed(DRAW) is not None:
        state.put((ROW_LETTERS, drawn(np.random.default_rng())))
    try:
        letters = ids_of(state.value(ROW_LETTERS))
    except ValueError as error:
        last, _ = memory.last(LAST_GOOD)
        letters = last or ids_of(ROW_LETTERS.default)
        words.notice(f"{error}. Shown is still “{shown(letters)}”.", kind="error")
    memory.remember(LAST_GOOD, letters, None)
    return letters


def _task() -> str:
    with scenes.to_set():
        return controls.segments(ROW_TASK)


# --- by length --------------------------------------------------------------------------------


def _by_length(view: View) -> Numbers:
    """How much comes out right at each length, as stored with the weights."""
    task = _task()
    with scenes.to_set():
        judged = controls.segments(JUDGED_BY)
    shares = {
        NAMES[name]: stored.accuracy_by_length(
            stored.SHIPPED / name, task, of_rows=judged == "rows"
        )
        for name in stored.NAMES
    }
    what = "Rows that come out exactly" if judged == "rows" else "Letters at their right place"
    chart = accuracy_lines(shares, TRAINED, f"{what}, task {task}")
    layout.show_chart(chart, key="recurrence-accuracy")
    recipes = [stored.recipe_of(name) for name in NAMES]
    words.table(
        {
            "model": list(NAMES.values()),
            "parameters": [f"{n:,}" for n, _ in recurring.sizes(1).values()],
            "rows in training": [f"{recipe.steps * recipe.batch:,}" for recipe in recipes],
            **{
                f"% at {n}": [digits(100 * found[n - 1], 1) for _, found in shares.values()]
                for n in LENGTHS
            },
        }
    )
    inspector.export(view, {"Accuracy by length": _accuracies})
    scores = stored.read_scores(stored.SHIPPED / stored.NAMES[0])
    return {"rows": f"{scores[0].n_rows:,}", "longest": str(LONGEST), "trained": str(TRAINED)}


def _accuracies() -> bytes:
    """All that is stored, one row for each model, task and length."""
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


# --- one row ----------------------------------------------------------------------------------


def _one_row(_: View) -> Numbers:
    """What each model writes, and what each of its tokens attends to."""
    task, letters = _task(), _letters()
    shown_row = Shown(task, letters, recurring.row_of(task, letters))
    with scenes.to_set():
        controls.text(ROW_LETTERS)
        controls.button(DRAW, "draw", "Draw a row", "casino")
        longest = max(len(ids) for ids in shown_row.row.written.values())
        place = controls.number(ROW_PLACE.given(high=longest))
        chosen = _head(shown_row)
    _written(shown_row)
    left, right = layout.two_up("recurrence-maps")
    with left:
        _additive(shown_row, place)
    with right:
        _transformer(shown_row, place, chosen)
    return _cell(shown_row, place) | {"own": digits(shown_row.row.own[chosen], 2)}


def _head(shown: Shown) -> tuple[int, int]:
    """The layer and the head that are chosen; by default those that attend most to what is due."""
    n_layers, n_heads = shown.row.own.shape
    best = int(shown.row.own.argmax())

    def name(i: int) -> str:
        return "the clearest" if i < 0 else f"L{i // n_heads} H{i % n_heads}"

    options = range(-1, n_layers * n_heads)
    chosen = controls.select(ROW_HEAD.given(options=options, words=name), width=220)
    return divmod(best if chosen < 0 else chosen, n_heads)


def _text(ids: Sequence[int]) -> list[Piece]:
    """Tokens as one line: letters joined, any other by its name."""
    found: list[Piece] = []
    for i, token in enumerate(ids):
        label = Word(TOKENS[token])
        found += [label] if token < len(LETTERS) else [" [" if i else "[", label, "]"]
    return found


def _written(shown: Shown) -> None:
    """What each model wrote, beside what was right."""
    n = len(shown.letters)
    right = _text(answer_of(shown.task, shown.letters))
    n_right: list[Said] = [f"{shown.row.n_right[name]:,} of {n}" for name in stored.NAMES]
    words.table(
        {
            "model": ["right would be", *(NAMES[name] for name in stored.NAMES)],
            "writes": [
                right,
                *(_text(shown.row.written[x]) for x in stored.NAMES),
            ],
            "letters at their place": [f"{n} of {n}", *n_right],
        },
        texts=("writes",),
    )


def _labels(shown: Shown, name: str) -> tuple[list[str], list[str]]:
    """Of what a model wrote, and of the source."""
    source = source_of(shown.task, shown.letters)
    return [TOKENS[i] for i in shown.row.written[name]], [TOKENS[i] for i in source]


def _place_of(shown: Shown, name: str, row: int) -> int:
    """The row of the map that is framed, from 0."""
    return min(row, len(shown.row.written[name])) - 1


def _additive(shown: Shown, row: int) -> None:
    labels, place = _labels(shown, "additive"), _place_of(shown, "additive", row)
    chart = alignment_map(shown.row.attended.weights, labels, place, "Additive attention")
    layout.show_chart(chart, key="recurrence-additive")


def _transformer(shown: Shown, row: int, chosen: tuple[int, int]) -> None:
    labels, place = _labels(shown, "transformer"), _place_of(shown, "transformer", row)
    title = "Cross-attention, L{} H{} of the Transformer".format(*chosen)
    chart = alignment_map(shown.row.patterns[chosen], labels, place, title)
    layout.show_chart(chart, key="recurrence-cross")


def _cell(shown: Shown, row: int) -> dict[str, Said]:
    """Energy, weight and context of one token written, at the token it attends to most."""
    found, (written, source) = shown.row.attended, _labels(shown, "additive")
    i = _place_of(shown, "additive", row)
    j = int(found.weights[i].argmax())
    energy, weight = float(found.energies[i, j]), float(found.weights[i, j])
    cell = formulas.looked(i + 1, j + 1, energy, weight, found.contexts[i, :N_SHOWN].tolist())
    inspector.formula("model.recurrence.translators.AdditiveAttention", cell.latex, cell.reference)
    unit = formulas.GATED_UNIT
    inspector.formula("model.recurrence.gru.GatedUnit", unit.latex, unit.reference)
    return {
        "place": str(i + 1),
        "token": Word(written[i]),
        "looked": Word(source[j]),
        "energy": digits(energy, 2),
        "weight": digits(weight, 2),
        "context": ", ".join(digits(float(x), 2) for x in found.contexts[i, :N_SHOWN]),
    }


# --- steps ------------------------------------------------------------------------------------


def _steps(view: View) -> Numbers:
    """Steps that must wait for each other, counted."""
    n = len(_letters())
    with scenes.to_set():
        controls.text(ROW_LETTERS)
    found = {NAMES[name]: steps for name, (_, steps) in recurring.sizes(n).items()}
    words.table({"model": list(found)} | {COLUMNS[x]: _counts(found, x) for x in COLUMNS})
    formula = formulas.steps(n, n + AROUND, n + 1, found["Transformer"].known)
    inspector.formula("model.recurrence.steps.steps", formula.latex, formula.reference)
    rows = [
        {"model": name, **{title: getattr(steps, what) for what, title in COLUMNS.items()}}
        for name, steps in found.items()
    ]
    inspector.export(view, {"Steps": lambda: tables.csv(rows)}, has_charts=False)
    return {"letters": f"{n} letter{'s' * (n > 1)}"}


def _counts(found: dict[str, Steps], what: str) -> list[str]:
    return [f"{getattr(steps, what):,}" for steps in found.values()]


PAGE = Page(
    "Recurrence",
    ":material/replay:",
    "One vector carries a whole row along. What is lost, and what does attention give back?",
    "",
    scenes={"length": _by_length, "row": _one_row, "steps": _steps},
    wide=("row", "steps"),
    source=(
        "model.recurrence.gru.GatedUnit",
        "model.recurrence.translators.AdditiveAttention",
        "model.recurrence.translators.Recurrent",
        "model.recurrence.translators.OfTransformer",
        "model.recurrence.scored.score",
    ),
)
