"""Protects printed numbers: no digits beyond float32's, small is not zero, both languages agree."""

import re

import numpy as np
import pytest

from tests.viz.kit.gallery import Gallery
from viz.digits import digits, equals, or_none, share
from viz.kit.wire import themes_data

# In JSON there is no infinity and no NaN: numbers go as their text.
PRINTED = """async given => {
    const {digits, equals, share} = await import('/kit/dom.js');
    const number = text => Number(text.replace('inf', 'Infinity'));
    return given.map(([text, n]) => [digits, equals, share].map(of => of(number(text), n)));
}"""
KNOWN = [
    (0.0, 4, "0"),
    (-0.0, 4, "0"),
    (0.00005, 4, "0.0001"),
    (0.00004999, 4, "< 0.0001"),
    (-1e-300, 4, "> −0.0001"),
    (1e-9, 0, "< 1"),
    (5e-7, 6, "< 0.000001"),
    (0.125, 2, "0.13"),
    (-2.5, 0, "−3"),
    (1.0, 4, "1.0000"),
    (-0.5, 3, "−0.500"),
    (1234.56789, 4, "1234.568"),
    (1234567.8, 4, "1234568"),
    (123456789.0, 2, "123456800"),
    (float("-inf"), 4, "−∞"),
    (float("inf"), 4, "not a number"),
    (float("nan"), 4, "not a number"),
]


@pytest.mark.parametrize(("value", "places", "text"), KNOWN)
def test_numbers_as_they_are_printed(value: float, places: int, text: str) -> None:
    assert digits(value, places) == text
    assert equals(value, places) == (text if text[0] in "<>" else f"= {text}")


def odd_numbers() -> list[tuple[float, int]]:
    """Numbers of all sizes, ties and powers of ten among them, with digits after the point."""
    random = np.random.default_rng(3)
    sizes = 10.0 ** random.uniform(-12, 12, 400)
    values = [*(sizes * random.choice([-1, 1], 400)), *np.arange(-40, 40) / 16]
    values += [sign * 10.0**n for n in range(-12, 13) for sign in (-1, 1)]
    values += [np.nextafter(value, side) for value in values[-50:] for side in (-np.inf, np.inf)]
    values += [*map(float, np.float32(random.normal(size=100)))]
    return [(float(value), int(places)) for value in values for places in (0, 1, 2, 3, 4, 6)]


def test_no_more_digits_than_float32_has_and_no_zero_that_is_none() -> None:
    for value, places in odd_numbers():
        text = digits(value, places).replace("−", "-")
        if text[0] in "<>":
            assert abs(value) <= 0.5 * float(text.split()[1].lstrip("-"))
        elif text != "0":
            assert float(text) != 0
            assert float(text) == pytest.approx(value, rel=5.01e-7, abs=0.501 * 10.0**-places)
            assert len(re.sub(r"\D", "", text).strip("0")) <= 7


def test_javascript_prints_the_same(gallery: Gallery) -> None:
    given = [(value, places) for value, places, _ in KNOWN] + odd_numbers()
    expected = [[digits(*one), equals(*one), share(*one)] for one in given]
    assert gallery.evaluate(PRINTED, [[repr(v), n] for v, n in given]) == expected


def test_only_a_number_that_is_printed_has_a_sign(gallery: Gallery) -> None:
    signed = """async given => {
        const {signed} = await import('/kit/dom.js');
        return given.map(x => signed(x, 2));
    }"""
    given = [2, 0.126, -0.126, 0.004, -0.004, 0]
    expected = ["+2.00", "+0.13", "−0.13", "< 0.01", "> −0.01", "0"]
    assert gallery.evaluate(signed, given) == expected


def test_numbers_below_a_short_colour_bar_do_not_touch(gallery: Gallery) -> None:
    ticks = """async palette => {
        const {traces} = await import('/kit/figure.js');
        const {matrix} = await import('/kit/maths.js');
        const scale = {name: '', low: 0, high: 1};
        const picture = {values: matrix(1, 1), scale, hidden: null};
        return [190, 120].map(pixels => traces(picture, palette, pixels).at(-1).colorbar.ticktext);
    }"""
    found = gallery.evaluate(ticks, themes_data()["light"])
    assert found == [["0", "0.01", "0.1", "0.5", "1"], ["0", "0.1", "0.5", "1"]]


def test_where_there_is_no_number_stands_a_dash() -> None:
    assert [or_none(x, 2) for x in (0.125, float("nan"), float("inf"))] == ["0.13", "–", "–"]
