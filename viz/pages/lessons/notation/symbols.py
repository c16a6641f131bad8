"""The table of symbols: each row with the formulas that have it and the pages where these are."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from viz.pages.lessons.notation import mathml, rows, rows_of_views
from viz.pages.lessons.notation.catalogue import CATALOGUE
from viz.pages.lessons.notation.rows import Row

GROUPS: dict[str, tuple[Row, ...]] = {
    "Sizes": rows.SIZES,
    "Indices": rows.INDICES,
    "Stream": rows.STREAM,
    "Attention": rows.ATTENTION,
    "Positions and masks": rows.POSITIONS,
    "Output": rows_of_views.OUTPUT,
    "Experiments": rows_of_views.EXPERIMENTS,
    "Lessons": rows_of_views.LESSONS,
    "Signs": rows_of_views.SIGNS,
}
# Only in the column of shapes; and the page that shows each.
IN_SHAPES = {"T_q": "Attention", "T_k": "Attention", "T_s": "Translation"}


@dataclass(frozen=True)
class Symbol:
    """A row with its group, its name among the symbols of formulas, and the pages that show it."""

    row: Row
    group: str
    name: str
    pages: tuple[str, ...]


def every_latex() -> list[str]:
    """All that is to be drawn without KaTeX: formulas of the sheet, symbols of the table."""
    of_rows = [row.latex for group in GROUPS.values() for row in group]
    return list(dict.fromkeys([*(x.formula.latex for x in CATALOGUE), *of_rows]))


def name_of(row: Row) -> str:
    """How the symbol of a row is called among those of formulas; "" while it is not drawn."""
    tree = mathml.tree(row.latex)
    return "" if tree is None else next(mathml.symbols(tree), "")


@cache
def used() -> Mapping[str, tuple[str, ...]]:
    """Each symbol of the formulas, and the pages whose formulas have it."""
    found: dict[str, list[str]] = {}
    for entry in CATALOGUE:
        tree = mathml.tree(entry.formula.latex)
        for name in () if tree is None else mathml.symbols(tree):
            pages = found.setdefault(name, [])
            if entry.page not in pages:
                pages.append(entry.page)
    return {name: tuple(pages) for name, pages in found.items()}


@cache
def table() -> tuple[Symbol, ...]:
    """All rows."""
    named = [(group, row, name_of(row)) for group, some in GROUPS.items() for row in some]
    meant = {(name, page) for _, row, name in named for page in row.pages}
    found = []
    for group, row, name in named:
        pages = used().get(name, (IN_SHAPES[name],) if name in IN_SHAPES else ())
        # A row of a page's own says what its symbol means there; one of all pages does not then.
        shown = tuple(x for x in pages if (x in row.pages if row.pages else (name, x) not in meant))
        found.append(Symbol(row, group, name, shown or row.pages or pages))
    return tuple(found)


def found_by(group: str, words: str) -> Sequence[Symbol]:
    """Rows of a group, or of all for "", that have these words somewhere."""
    wanted = words.casefold().split()
    return [
        x
        for x in table()
        if group in ("", x.group) and all(word in _text(x).casefold() for word in wanted)
    ]


def _text(symbol: Symbol) -> str:
    row = symbol.row
    return " ".join((symbol.name, row.latex, row.meaning, row.code, row.shape, *symbol.pages))
