"""Protects the rotor on screen: its numbers follow the sliders and are the model's."""

import math
import re
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

from tests.viz.harness import as_sent, at_rest, open_instrument
from viz.kit.parts.rotation import ActualScore, Rotation, rotation_part

MOST = 40
FREQUENCIES = 100.0 ** (-np.arange(20) / 20)
FIRST, SECOND = np.random.default_rng(0).normal(size=(2, 20, 2)).astype(np.float32)


def score(m: int, n: int) -> float:
    """The score by complex numbers: each pair is one, and turning it is a product."""
    hands = [side[:, 0] + 1j * side[:, 1] for side in (FIRST.astype(float), SECOND.astype(float))]
    turned = [x * np.exp(1j * FREQUENCIES * at) for x, at in zip(hands, (m, n), strict=True)]
    return float((turned[0] * turned[1].conj()).real.sum() / math.sqrt(40))


def data(first: int, second: int, **changes: object) -> dict[str, Any]:
    """What Python sends, with the sliders at two positions."""
    rotation = Rotation(
        kind="rope",
        first=FIRST,
        second=SECOND,
        frequencies=FREQUENCIES,
        divisor=math.sqrt(40),
        last_position=MOST,
        names=("query <b>", "key “it”"),
        actual=ActualScore(9, 2, score(9, 2)),
    )
    return as_sent(rotation_part("a key", rotation, {"first": first, "second": second}), **changes)


def open_rotor(page: Page, sent: dict[str, Any]) -> None:
    """Open a new rotor."""
    open_instrument(page, sent, width=1200)
    at_rest(page)


def slider(page: Page, name: str) -> Locator:
    """The slider of one position, or of both."""
    return page.locator(f"[data-setting={name}]")


def number(page: Page, name: str) -> float:
    """A read-out in full precision."""
    return float(page.locator(f"[data-number={name}]").get_attribute("data-value"))


def drawn(page: Page) -> list[dict[str, Any]]:
    """The curves over the distance: of the pair, of all pairs, and the dot."""
    at_rest(page)
    return page.evaluate("instrument.plot.read().traces")


def positions(page: Page) -> list[int]:
    """Where the two sliders stand."""
    return [int(slider(page, name).input_value()) for name in ("first", "second")]


def test_numbers_follow_the_sliders(bare: Page) -> None:
    open_rotor(bare, data(9, 2))
    assert number(bare, "score") == pytest.approx(score(9, 2), abs=1e-12)
    assert number(bare, "error") <= 1e-12
    for first, second in ((0, 40), (40, 0), (13, 13)):
        slider(bare, "first").fill(str(first))
        slider(bare, "second").fill(str(second))
        assert number(bare, "score") == pytest.approx(score(first, second), abs=1e-10)
        assert number(bare, "distance") == first - second
        shares = bare.locator("[data-share]")
        assert (shares.count(), bare.locator(".hl-hand").count()) == (16, 16)
    bare.wait_for_function("sent.at(-1)?.changes.second === 13")
    assert bare.evaluate("sent.at(-1).changes") == {"first": 13, "second": 13}
    expect(bare.get_by_text("16 of 20 pairs")).to_be_visible()


def test_moving_both_changes_nothing_but_the_angles(bare: Page) -> None:
    open_rotor(bare, data(9, 2))
    before, curves = number(bare, "score"), drawn(bare)
    hand = bare.locator(".hl-hand-first").first.get_attribute("x2")
    share, whole, now = curves
    distances = range(-MOST, MOST + 1)
    expected = [score(max(d, 0), max(-d, 0)) for d in distances]
    assert whole["x"] == list(distances) and whole["y"] == pytest.approx(expected)
    assert (now["x"], now["y"]) == ([7], [pytest.approx(before)])
    assert max(map(abs, share["y"])) > 0.1
    slider(bare, "both").focus()
    bare.keyboard.press("ArrowRight")
    assert positions(bare) == [10, 3]
    bare.keyboard.press("End")
    assert positions(bare) == [MOST, MOST - 7]
    assert number(bare, "before") == before
    assert abs(number(bare, "drift")) <= 1e-10
    expect(bare.locator("[data-number=drift]")).to_have_text(re.compile(r"^(0|−?\de−\d+)$"))
    assert drawn(bare) == curves
    assert bare.locator(".hl-hand-first").first.get_attribute("x2") != hand
    slider(bare, "first").fill("1")
    expect(bare.locator("[data-number=drift]")).to_have_text("–")


def test_positions_outside_are_brought_inside(bare: Page) -> None:
    open_rotor(bare, data(1000, -3))
    assert positions(bare) == [MOST, 0]
    expect(slider(bare, "both")).to_be_disabled()


def test_without_the_models_own_score(bare: Page) -> None:
    open_rotor(bare, data(9, 2, actual=None))
    expect(bare.locator("[data-actual]")).to_be_hidden()


def test_names_are_text(bare: Page) -> None:
    open_rotor(bare, data(9, 2))
    expect(bare.locator(".hl-turns")).to_contain_text("Position of query <b>")
