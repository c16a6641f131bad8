"""One row of letters through all three models: what is written, and what each token attends to."""

from collections.abc import Sequence

from model.recurrence import stored
from model.recurrence.task import LETTERS, answer_of, source_of
from model.recurrence.task import NAMES as TOKENS
from viz import formulas_recurrence as formulas
from viz.digits import digits
from viz.figures.recurrence import alignment_map
from viz.frame import controls, inspector, layout, words
from viz.frame.said import Piece, Said, Word
from viz.frame.settings import ROW_HEAD, ROW_LETTERS, ROW_PLACE
from viz.pages.lessons.recurrence.shared import DRAW, NAMES, Shown

N_SHOWN = 3  # numbers of a context in the formula


def section(shown: Shown) -> None:
    """Draw it."""
    layout.section(
        "One row, token by token",
        "What does each token written attend to? A row of each map sums to 1.",
        "Each model writes greedily, from its own earlier tokens. Rows: tokens as they are "
        "written. Columns: the source, with the task before the letters and an end after them. "
        "The model with one vector has no such map: each of its tokens is written from the same "
        "vector.",
    )
    with layout.row("recurrence"):
        controls.text(ROW_LETTERS)
        controls.button(DRAW, "draw", "Draw a row", "casino")
        longest = max(len(ids) for ids in shown.row.written.values())
        row = controls.number(ROW_PLACE.given(high=longest))
        chosen = _head(shown)
    _written(shown)
    left, right = layout.two_up("recurrence-maps")
    with left:
        _additive(shown, row)
    with right:
        _transformer(shown, row, chosen)
    _cell(shown, row)


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
    own = digits(shown.row.own[chosen])
    words.caption(f"Mean weight of this head on the letter that is due: {own}.")


def _cell(shown: Shown, row: int) -> None:
    """Energy, weight and context of one token written, at the token it attends to most."""
    found, (written, source) = shown.row.attended, _labels(shown, "additive")
    i = _place_of(shown, "additive", row)
    j = int(found.weights[i].argmax())
    energy, weight = float(found.energies[i, j]), float(found.weights[i, j])
    context = ", ".join(digits(float(x)) for x in found.contexts[i, :N_SHOWN])
    words.caption(
        [
            f"With additive attention token {i + 1}, “",
            Word(written[i]),
            "”, attends most to “",
            Word(source[j]),
            f"”, token {j + 1} of the source: energy {digits(energy)}, weight {digits(weight)}; "
            f"its context begins {context}.",
        ]
    )
    cell = formulas.looked(i + 1, j + 1, energy, weight, found.contexts[i, :N_SHOWN].tolist())
    inspector.formula("model.recurrence.translators.AdditiveAttention", cell.latex, cell.reference)
    unit = formulas.GATED_UNIT
    inspector.formula("model.recurrence.gru.GatedUnit", unit.latex, unit.reference)
