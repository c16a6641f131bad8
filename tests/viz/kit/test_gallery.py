"""Protects what a person reads after a gesture: words as spoken, numbers as drawn, no class."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.screen import MARKUP
from tests.viz.kit.gallery import Gallery, near
from tests.viz.kit.rows import Row
from tests.viz.kit.rows.attention import ATTENTION
from tests.viz.kit.rows.home import HOME
from tests.viz.kit.rows.marks import MARKS
from tests.viz.kit.rows.parts import PARTS
from tests.viz.kit.rows.why import WHY

KIT = Path("viz/kit")
ROWS = MARKS | PARTS | ATTENTION | HOME | WHY


def of(found: Any, wanted: Any) -> Any:  # noqa: ANN401
    """Of what was read only that which is named; of a list, by its places."""
    if isinstance(wanted, Mapping):
        return {name: of(_at(found, name), wanted[name]) for name in wanted}
    if isinstance(wanted, list) and isinstance(found, list) and len(wanted) == len(found):
        return [of(one, its) for one, its in zip(found, wanted, strict=True)]
    return found


def _at(found: Any, name: str | int) -> Any:  # noqa: ANN401
    if isinstance(found, list) and isinstance(name, int):
        return found[name] if name < len(found) else None
    return found.get(name) if isinstance(found, Mapping) else None


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_what_it_reads_after_a_gesture(row: Row, gallery: Gallery) -> None:
    row.shows(gallery)
    row.hand(gallery)
    reads, sends = row.reads(), row.sends()
    assert of(gallery.read(row.at), reads) == near(reads)
    assert of(gallery.sent(), sends) == near(sends)
    assert gallery.locator(MARKUP).count() == 0


def test_each_mark_and_part_has_a_row() -> None:
    named = {name.partition(":")[0] for name in ROWS}
    assert named == {path.stem for path in [*KIT.glob("marks/*.js"), *KIT.glob("parts/*.js")]}
