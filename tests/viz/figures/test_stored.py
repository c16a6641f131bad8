"""Protects every figure: what is drawn of made-up numbers is what is stored, word for word.

A change that is meant: `python -m tests.viz.figures.renew`, and the difference is in the diff.
"""

import difflib
import inspect
import pkgutil
from importlib import import_module

import plotly.graph_objects as go
import pytest

import viz.figures
from tests.viz.figures.reading import INKS
from tests.viz.figures.renew import NAMED, described, drawn, file_of
from viz.charts.chart import Chart, Row
from viz.theme import DARK


def builders() -> set[str]:
    """Every public function of viz.figures that returns a figure."""
    modules = [
        import_module(f"viz.figures.{found.name}")
        for found in pkgutil.iter_modules(viz.figures.__path__)
    ]
    return {
        f"{module.__name__.rpartition('.')[2]} {name}"
        for module in modules
        for name, function in inspect.getmembers(module, inspect.isfunction)
        if function.__module__ == module.__name__
        and not name.startswith("_")
        and inspect.signature(function).return_annotation in (go.Figure, Chart, Row)
    }


def test_every_builder_stands_among_the_cases() -> None:
    assert builders() - set(NAMED) == set()


def test_in_the_dark_no_figure_has_a_colour_of_the_light() -> None:
    found = [(name, drawn(name, DARK).to_json()) for name in NAMED]
    assert [name for name, sent in found if any(color in sent for color in INKS)] == []


@pytest.mark.parametrize("name", NAMED)
def test_a_figure_is_what_is_stored(name: str) -> None:
    parts = file_of(name).read_text(encoding="utf-8").split("\n\n")
    stored = next((part for part in parts if part.splitlines()[0] == f"== {name}"), "")
    changes = difflib.unified_diff(
        stored.splitlines(), described(name).splitlines(), "stored", "drawn", lineterm=""
    )
    assert not (lines := list(changes)), "\n".join([name, *lines])
