"""Protects Cheaper attention: what the chosen way does not keep cannot be set."""

import pytest

from tests.viz.apps import TOM, open_page

LABELS = ("Window w", "Global g", "Rank r")


@pytest.mark.parametrize(
    ("way", "used"), [("window", [0]), ("global", [0, 1]), ("linear", []), ("low_rank", [2])]
)
def test_what_a_way_does_not_keep_cannot_be_set(way: str, used: list[int]) -> None:
    app = open_page("Cheaper attention", sentence=TOM, cheaper=way)
    is_off = {one.label: one.disabled for one in app.number_input}
    assert [i for i, label in enumerate(LABELS) if not is_off[label]] == used


def test_where_all_ways_are_compared_each_can_be_set() -> None:
    app = open_page("Cheaper attention", sentence=TOM, scene="errors")
    assert not any(one.disabled for one in app.number_input if one.label in LABELS)
