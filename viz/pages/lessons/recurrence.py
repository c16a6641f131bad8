"""From recurrence to attention: one toy translation by three models, by length, cell by cell."""

from collections.abc import Sequence

import numpy as np

from model.names import head_name
from model.recurrence import stored
from model.recurrence.steps import AROUND
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
from viz.digits import digits
from viz.figures.recurrence import accuracy_lines, alignment_map
from viz.formulas import FORMULAS
from viz.formulas import recurrence as formulas
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
    "steps, known target": "known",
    "steps, writing": "writing",
    "source to target": "from_source",
    "within target": "within_target",
}


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


def _by_length(_: View) -> Numbers:
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
            "rows in training": [f"{recipe.plan.rows:,}" for recipe in recipes],
            **{
                f"% at {n}": [digits(100 * found[n - 1], 1) for _, found in shares.values()]
                for n in LENGTHS
            },
        }
    )
    scores = stored.read_scores(stored.SHIPPED / stored.NAMES[0], task)
    return {"rows": f"{scores.n_rows:,}", "longest": str(LONGEST), "trained": str(TRAINED)}


# --- one row ----------------------------------------------------------------------------------


def _one_row(_: View) -> Numbers:
    """What each model writes, and what each of its tokens attends to."""
    task, letters = _task(), _letters()
    row, source = recurring.row_of(task, letters), source_of(task, letters)
    with scenes.to_set():
        controls.text(ROW_LETTERS)
        controls.button(DRAW, "draw", "Draw a row", "casino")
        place = controls.number(ROW_PLACE.given(high=max(map(len, row.written.values()))))
        layer, head = _head(row.own)
    right, n = answer_of(task, letters), len(letters)
    n_right = (n, *(row.n_right[name] for name in NAMES))
    words.table(
        {
            "model": ["right would be", *NAMES.values()],
            "writes": [_text(x) for x in (right, *(row.written[name] for name in NAMES))],
            "letters at their place": [f"{x:,} of {n}" for x in n_right],
        },
        texts=("writes",),
    )
    title = f"Cross-attention, {head_name(layer, head)} of the Transformer"
    maps = {
        "recurrence-additive": ("additive", row.attended.weights, "Additive attention"),
        "recurrence-cross": ("transformer", row.patterns[layer, head], title),
    }
    charts, of_source = {}, [TOKENS[i] for i in source]
    for key, (name, weights, title) in maps.items():
        written = [TOKENS[i] for i in row.written[name]]
        at = min(place, len(written)) - 1
        charts[key] = alignment_map(weights, (written, of_source), at, title)
    layout.show_charts(charts)
    return _cell(row, source, place) | {"own": digits(row.own[layer, head], 2)}


def _head(own: np.ndarray) -> tuple[int, int]:
    """The layer and the head that are chosen; by default those that attend most to what is due."""
    n_layers, n_heads = own.shape

    def name(i: int) -> str:
        return "the clearest" if i < 0 else head_name(*divmod(i, n_heads))

    options = range(-1, n_layers * n_heads)
    chosen = controls.select(ROW_HEAD.given(options=options, words=name), width=220)
    return divmod(int(own.argmax()) if chosen < 0 else chosen, n_heads)


def _text(ids: Sequence[int]) -> list[Piece]:
    """Tokens as one line: letters joined, any other by its name."""
    found: list[Piece] = []
    for i, token in enumerate(ids):
        label = Word(TOKENS[token])
        found += [label] if token < len(LETTERS) else [" [" if i else "[", label, "]"]
    return found


def _cell(row: recurring.Row, source: Sequence[int], place: int) -> dict[str, Said]:
    """Energy, weight and context of one token written, at the token it attends to most."""
    found, written = row.attended, row.written["additive"]
    i = min(place, len(written)) - 1
    j = int(found.weights[i].argmax())
    energy, weight = float(found.energies[i, j]), float(found.weights[i, j])
    context = found.contexts[i, :N_SHOWN].tolist()
    inspector.formula(
        "model.architectures.recurrent.AdditiveAttention",
        formulas.looked(i + 1, j + 1, energy, weight, context),
    )
    inspector.formula("model.architectures.recurrent.GatedUnit", FORMULAS["Gated unit"])
    return {
        "place": str(i + 1),
        "token": Word(TOKENS[written[i]]),
        "looked": Word(TOKENS[source[j]]),
        "energy": digits(energy, 2),
        "weight": digits(weight, 2),
        "context": ", ".join(digits(x, 2) for x in context),
    }


# --- steps ------------------------------------------------------------------------------------


def _steps(view: View) -> Numbers:
    """Steps that must wait for each other, counted."""
    n = len(_letters())
    with scenes.to_set():
        controls.text(ROW_LETTERS)
    steps = {NAMES[name]: found for name, (_, found) in recurring.sizes(n).items()}
    columns = {"model": [*steps]} | {
        title: [str(getattr(found, what)) for found in steps.values()]
        for title, what in COLUMNS.items()
    }
    words.table(columns)
    inspector.formula(
        "model.recurrence.steps.steps",
        formulas.steps(n, n + AROUND, n + 1, steps["Transformer"].known),
    )
    inspector.export(view, {"Steps": lambda: tables.csv(columns)}, has_charts=False)
    return {"letters": f"{n} letter{'s' * (n > 1)}"}


PAGE = Page(
    "Recurrence",
    ":material/replay:",
    "One vector carries a whole row along. What is lost, and what does attention give back?",
    scenes={"length": _by_length, "row": _one_row, "steps": _steps},
    wide=("row", "steps"),
    source=(
        "model.architectures.recurrent.GatedUnit",
        "model.architectures.recurrent.AdditiveAttention",
        "model.architectures.recurrent.Recurrent",
        "model.architectures.encoder_decoder.EncoderDecoderTransformer",
        "model.training.objectives.letters.scores",
    ),
)
