"""Protects the rotation on screen: its numbers follow the sliders and are the model's."""

import math
import re

import numpy as np
import pytest

from tests.viz.kit.gallery import Gallery
from viz.kit.part import Part
from viz.kit.parts.rotation import ActualScore, Rotation, rotation_part

MOST = 40
FREQUENCIES = 100.0 ** (-np.arange(20) / 20)
FIRST, SECOND = np.random.default_rng(0).normal(size=(2, 20, 2)).astype(np.float32)
NAMES = ("query <b>", "key “it”")


def score(m: int, n: int) -> float:
    """The score by complex numbers: each pair is one, and turning it is a product."""
    hands = [side[:, 0] + 1j * side[:, 1] for side in (FIRST.astype(float), SECOND.astype(float))]
    turned = [x * np.exp(1j * FREQUENCIES * at) for x, at in zip(hands, (m, n), strict=True)]
    return float((turned[0] * turned[1].conj()).real.sum() / math.sqrt(40))


def rotation() -> Part:
    """Twenty pairs, at two positions that the model itself had."""
    sides, actual = (FIRST, SECOND, FREQUENCIES), ActualScore(9, 2, score(9, 2))
    shown = Rotation("rope", *sides, math.sqrt(40), MOST, NAMES, actual)
    return rotation_part("a key", shown, {"first": 9, "second": 2})


def test_numbers_follow_the_sliders(gallery: Gallery) -> None:
    gallery.show(rotation(), 1200)
    shown = gallery.read()
    assert shown["numbers"]["score"] == pytest.approx(score(9, 2), abs=1e-12)
    assert shown["numbers"]["error"] <= 1e-12
    assert len(shown["hands"]) == 16
    assert shown["spread"].startswith("16 of 20 pairs")
    for at in ((0, 40), (40, 0), (13, 13)):
        for name, position in zip(NAMES, at, strict=True):
            gallery.get_by_label(f"Position of {name}").fill(str(position))
        numbers = gallery.read()["numbers"]
        assert numbers["score"] == pytest.approx(score(*at), abs=1e-10)
        assert numbers["distance"] == at[0] - at[1]
    assert gallery.sent() == {"first": 13, "second": 13}


def test_moving_both_changes_nothing_but_the_angles(gallery: Gallery) -> None:
    gallery.show(rotation(), 1200)
    before = gallery.read()
    share, whole, now = before["chart"]["traces"]
    distances = list(range(-MOST, MOST + 1))
    expected = [score(max(d, 0), max(-d, 0)) for d in distances]
    assert whole["x"] == distances and whole["y"] == pytest.approx(expected)
    assert (now["x"], now["y"]) == ([7], [pytest.approx(before["numbers"]["score"])])
    assert max(map(abs, share["y"])) > 0.1
    for key, at in (("ArrowRight", 10), ("End", MOST)):
        gallery.press(key, "Move both")
        shown = gallery.read()
        assert (shown["first"], shown["second"]) == (str(at), str(at - 7))
    assert shown["numbers"]["before"] == before["numbers"]["score"]
    assert abs(shown["numbers"]["drift"]) <= 1e-10
    assert re.search(r"changed since by(0|−?\de−\d+)distance", shown["facts"])
    assert shown["chart"] == before["chart"]
    assert shown["hands"][0]["first"] != before["hands"][0]["first"]
    gallery.get_by_label(f"Position of {NAMES[0]}").fill("1")
    assert "changed since by–distance" in gallery.read()["facts"]
