"""Protects what travels between Python and the browser: one spelling, written down as types.

What both sides must know on their own, because there is code for each of it, is compared here.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from tests.viz.builders import stories_trace
from tests.viz.harness import as_sent
from tests.viz.live.instruments import INSTRUMENTS, chart, microscope_settings
from viz.figures.labels import escape
from viz.kit.files import VIZ
from viz.kit.sampling import BOUNDS
from viz.kit.wire import Option
from viz.live.microscope.data import STAGES, VIEWS, OtherRun, microscope_data
from viz.live.pickers.data import Picker, pickers_data
from viz.live.sentence_box.data import sentence_data

TYPEDEF = re.compile(r"@typedef \{object\} (\w+)\n(.*?)\*/", re.DOTALL)
PROPERTY = re.compile(r"@property \{(.*?)\} (\[?)(\w+)\]?", re.DOTALL)
SNAKE = re.compile(r"[a-z][a-z0-9_]*")


def types(path: Path) -> dict[str, dict[str, bool]]:
    """The fields of each type in a file, and whether they must be there."""
    text = path.read_text(encoding="utf-8")
    return {
        name: {field: not optional for _, optional, field in PROPERTY.findall(body)}
        for name, body in TYPEDEF.findall(text)
    }


FOLDER = VIZ / "live"
SHARED = types(VIZ / "kit/wire.js")


def assert_is(data: dict[str, Any], fields: dict[str, bool], name: str) -> None:
    """Whether data has the fields of a type: all that must be there, and no others."""
    must = {field for field, is_needed in fields.items() if is_needed}
    assert must <= set(data) <= set(fields), name


def sent() -> dict[str, dict[str, Any]]:
    """What each instrument is sent."""
    return {name: as_sent(build()) for name, build in INSTRUMENTS.items()}


def test_types_are_read() -> None:
    """With none found, the tests below would compare nothing."""
    assert SHARED["Stream"]["labels"]
    assert {"PackedArray", "Palette", "Bounds", "Option", "InstrumentData"} <= set(SHARED)
    assert types(FOLDER / "microscope/wire.js")["MicroscopeSettings"]["attention"] is False


@pytest.mark.parametrize("instrument", INSTRUMENTS)
def test_data_is_of_its_type(instrument: str) -> None:
    data = sent()[instrument]
    own = types(FOLDER / instrument / "wire.js")
    title = instrument.capitalize()
    assert_is(data, SHARED["InstrumentData"] | own[f"{title}Fields"], title)
    for theme in data["themes"].values():
        assert_is(theme, SHARED["Palette"], "Palette")
    assert all(SNAKE.fullmatch(name) for name in names_in(data)), "one spelling"


def test_data_of_the_sentence_box_is_of_its_type() -> None:
    data = as_sent(sentence_data("Tom", has_caret=True))
    own = types(FOLDER / "sentence_box/wire.js")["SentenceBoxFields"]
    assert_is(data, SHARED["InstrumentData"] | own, "SentenceBoxData")


def test_data_of_pickers_is_of_its_type() -> None:
    options = [Option("2", "L2")]
    data = as_sent(pickers_data([Picker("layer", "Layer", options, "2")]))
    own = types(FOLDER / "pickers/wire.js")
    assert_is(data, SHARED["InstrumentData"] | own["PickersFields"], "PickersData")
    (picker,) = data["pickers"]
    assert_is(picker, own["Picker"], "Picker")
    assert_is(picker["options"][0], SHARED["Option"], "Option")


def test_data_of_a_chart_is_of_its_type() -> None:
    """It has neither settings nor themes: its figure is coloured already."""
    assert_is(chart(), types(FOLDER / "chart/wire.js")["ChartData"], "ChartData")


def names_in(data: object) -> Iterator[str]:
    """Every name in data that is not a place or a stream."""
    if isinstance(data, dict):
        for name, value in data.items():
            if "/" not in name:
                yield name
            yield from names_in(value)
    elif isinstance(data, list):
        for value in data[:50]:
            yield from names_in(value)


def test_parts_of_the_microscope_s_data_are_of_their_types() -> None:
    trace = stories_trace("The dog ran.")
    runs = [OtherRun(trace, "another key")]
    data = microscope_data(trace, "a key", "stories", microscope_settings(), runs)
    own = types(FOLDER / "microscope/wire.js")
    assert_is(data["settings"], own["MicroscopeSettings"], "settings")
    for group in data["groups"]:
        assert_is(group, own["Group"], "Group")
        assert_is(group["tiles"], SHARED["PackedArray"], "tiles")
    for run in data["runs"]:
        assert_is(run, own["Run"], "Run")
    for stream in data["streams"].values():
        assert_is(stream, SHARED["Stream"], "Stream")
    for role in data["roles"]:
        assert_is(role, own["RoleWords"], "RoleWords")
    for stage in data["stages"]:
        assert_is(stage, own["Stage"], "Stage")
    for name in ("views", "changes", "against", "how"):
        for option in data[name]:
            assert_is(option, SHARED["Option"], name)
    for bounds in data["bounds"].values():
        assert_is(bounds, SHARED["Bounds"], "Bounds")


def test_parts_of_the_others_are_of_their_types() -> None:
    data = sent()
    of_writer, of_editor = (types(FOLDER / name / "wire.js") for name in ("writer", "editor"))
    for step in data["writer"]["steps"]:
        assert_is(step, of_writer["WriterStep"], "WriterStep")
    for mark in data["writer"]["marks"]:
        assert_is(mark, of_writer["Mark"], "Mark")
    assert_is(data["writer"]["shown"], of_writer["ShownDistribution"], "ShownDistribution")
    for bar in data["editor"]["bars"]:
        assert_is(bar, of_editor["EditorBar"], "EditorBar")
    assert_is(data["editor"]["stream"], SHARED["Stream"], "Stream")
    assert set(data["writer"]["bounds"]) == set(BOUNDS)
    for bounds in data["writer"]["bounds"].values():
        assert_is(bounds, SHARED["Bounds"], "Bounds")


# --- what both sides know ---------------------------------------------------------------------


def test_each_view_and_stage_has_its_code(bare: Page) -> None:
    views = "import('/live/microscope/microscope.js').then(module => Object.keys(module.VIEWS))"
    assert bare.evaluate(views) == list(VIEWS)
    terms = "import('/live/microscope/formulas.js').then(x => x.TERMS.map(({step}) => step))"
    assert set(bare.evaluate(terms)) == set(STAGES)


def test_labels_are_unescaped_as_python_escapes_them(bare: Page) -> None:
    label = "".join(map(chr, range(32, 127))) + "⏎…é"
    found = bare.evaluate(
        "label => import('/kit/marks/heatmap.js').then(module => module.unescaped(label))",
        escape(label),
    )
    assert found == label
