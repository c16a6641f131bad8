"""What is stored of every figure; `python -m tests.viz.figures.renew` stores what they are now."""

from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

import plotly.graph_objects as go

from tests.viz.figures.cases import CASES
from tests.viz.figures.reading import reading
from viz.charts.chart import Chart, Row
from viz.charts.figure import figure
from viz.charts.table import columns
from viz.charts.words import words
from viz.theme import LIGHT, Palette

MOST_COLUMNS = 12
STORED = Path(__file__).parent / "stored"


def _named() -> dict[str, int]:
    """The places of the cases by module and function, from a function's second on with a number."""
    counts: Counter[str] = Counter()
    names = {}
    for place, case in enumerate(CASES):
        name = f"{case.func.__module__.rpartition('.')[2]} {case.func.__name__}"
        counts[name] += 1
        names[name if counts[name] == 1 else f"{name} {counts[name]}"] = place
    return names


NAMED = _named()


def file_of(name: str) -> Path:
    """Where a case is stored, with all those of its module."""
    return STORED / f"{name.split()[0]}.txt"


def described(name: str) -> str:
    """A case: its name, what its figure shows, and of a chart its table and its words."""
    made = CASES[NAMED[name]]()
    said = [] if isinstance(made, go.Figure) else [*_table(made), f"words   {words(made)}"]
    return "\n".join([f"== {name}", *reading(drawn(name, LIGHT)), *said])


def drawn(name: str, colors: Palette) -> go.Figure:
    """A case in one palette, checked by Plotly."""
    case = CASES[NAMED[name]]
    made = case(colors=colors) if "colors" in case.keywords else case()
    return made if isinstance(made, go.Figure) else go.Figure(figure(made, colors))


def _table(made: Chart | Row) -> list[str]:
    """The names of the columns, the first two rows and the last, and how many there are."""
    table = columns(made)
    rows = list(zip(*table.values(), strict=True))
    shown = [*rows[:2], *rows[2:][-1:]]
    return [f"table   {_cells(list(table))}", *(f"  row   {_cells(row)}" for row in shown),
            f"  rows  {len(rows)}"]  # fmt: skip


def _cells(row: Sequence[object]) -> str:
    """What stands in a row; of many columns both ends."""
    texts = list(map(_cell, row))
    many = len(texts) > MOST_COLUMNS
    kept = [*texts[:4], f"… ({len(texts)})", *texts[-2:]] if many else texts
    return " | ".join(kept)


def _cell(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    for path, names in groupby(sorted(NAMED), file_of):
        path.write_text("\n\n".join(map(described, names)) + "\n", encoding="utf-8")
