"""Protects what travels between Python and the browser: one spelling, written down as types.

What both sides must know on their own, because there is code for each of it, is compared here.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

from tests.viz.builders import stories_trace
from tests.viz.kit.parts.made import INSTRUMENTS, why
from viz.kit.files import VIZ
from viz.kit.part import Part
from viz.kit.parts.attention import STAGES, VIEWS, OtherRun, attention_part
from viz.kit.parts.sentence_box import Said, sentence_part
from viz.kit.sampling import BOUNDS
from viz.labels import escape

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


FOLDER = VIZ / "kit/parts"
SHARED = types(VIZ / "kit/wire.js")


def assert_is(data: dict[str, Any], fields: dict[str, bool], name: str) -> None:
    """Whether data has the fields of a type: all that must be there, and no others."""
    must = {field for field, is_needed in fields.items() if is_needed}
    assert must <= set(data) <= set(fields), name


def spec(of: Part) -> dict[str, Any]:
    """What is said of a part, as it travels."""
    return dict(of.told["spec"])


def fields(file: str, name: str) -> dict[str, bool]:
    """The fields of what one part alone is told, and its key."""
    return {"key": True, **types(FOLDER / file)[name]} | {"settings": False}


def test_types_are_read() -> None:
    """With none found, the tests below would compare nothing."""
    assert SHARED["Stream"]["labels"]
    assert {"Palette", "Bounds", "Option", "InstrumentData"} <= set(SHARED)
    assert types(FOLDER / "attention.js")["AttentionSettings"]["attention"] is False


def test_what_is_said_is_of_its_type() -> None:
    told = INSTRUMENTS["writing"]().told
    assert_is(told["spec"], fields("writing/wire.js", "WritingFields"), "WritingData")
    for theme in told["themes"].values():
        assert_is(theme, SHARED["Palette"], "Palette")
    assert all(SNAKE.fullmatch(name) for name in names_in([told["spec"], told["settings"]]))


def test_data_of_the_sentence_box_is_of_its_type() -> None:
    data = spec(sentence_part(Said("Tom"), has_caret=True))
    assert_is(data, fields("sentence_box.js", "SentenceBoxFields"), "SentenceBoxData")


def test_why_a_head_looks_there_is_of_its_types() -> None:
    data, of_part = spec(why()), types(FOLDER / "why.js")
    assert_is(data, fields("why.js", "WhyFields"), "WhyData")
    for one in (*data["words"]["key"], *data["writers"]["query"]):
        assert_is(one, of_part["Wrote"], "Wrote")


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


def test_what_is_said_of_a_run_is_of_its_types() -> None:
    trace = stories_trace("The dog ran.")
    part = attention_part(trace, runs=[OtherRun(trace, "another key")])
    of_part, of_run = types(FOLDER / "attention.js"), types(VIZ / "kit/run.js")
    data = spec(part) | {"settings": part.state}
    assert_is(dict(part.state), of_part["AttentionSettings"], "settings")
    assert_is(data, of_part["AttentionSpec"] | of_run["RunAbout"], "data")
    for run in data["runs"]:
        assert_is(run, of_run["RunAbout"], "RunAbout")
    for group in data["groups"]:
        assert_is(group, of_run["Group"], "Group")
        for site in group["sites"]:
            assert_is(site, of_run["Site"], "Site")
    for stream in data["streams"].values():
        assert_is(stream, SHARED["Stream"], "Stream")
    for name in ("views", "changes", "against", "how"):
        for option in data[name]:
            assert_is(option, SHARED["Option"], name)


def test_parts_of_the_others_are_of_their_types() -> None:
    data = {name: spec(of()) for name, of in INSTRUMENTS.items()}
    of_writing = types(FOLDER / "writing/wire.js")
    for step in data["writing"]["steps"]:
        assert_is(step, of_writing["StepAbout"], "StepAbout")
    for mark in data["writing"]["marks"]:
        assert_is(mark, of_writing["Mark"], "Mark")
    assert_is(data["writing"]["shown"][-1], of_writing["ShownDistribution"], "ShownDistribution")
    assert_is(data["mask_editor"]["stream"], SHARED["Stream"], "Stream")
    assert set(data["writing"]["bounds"]) == set(BOUNDS)
    for bounds in data["writing"]["bounds"].values():
        assert_is(bounds, SHARED["Bounds"], "Bounds")


# --- what both sides know ---------------------------------------------------------------------


def test_each_view_and_stage_has_its_code(bare: Page) -> None:
    views = "import('/kit/parts/attention/stage.js').then(module => Object.keys(module.VIEWS))"
    assert bare.evaluate(views) == list(VIEWS)
    terms = "import('/kit/parts/attention/formulas.js').then(x => x.TERMS.map(({step}) => step))"
    assert set(bare.evaluate(terms)) == set(STAGES)


def test_labels_are_unescaped_as_python_escapes_them(bare: Page) -> None:
    label = "".join(map(chr, range(32, 127))) + "⏎…é"
    found = bare.evaluate(
        "label => import('/kit/labels.js').then(module => module.unescaped(label))",
        escape(label),
    )
    assert found == label
