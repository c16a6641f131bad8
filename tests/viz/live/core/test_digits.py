"""Protects printed numbers: no digits beyond float32's, small is not zero, both languages agree."""

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, Page

from tests.viz.live.harness import bare_page
from viz.digits import digits, equals, or_none

HARNESS = """async () => {
    const {digits, equals} = await import('/live/core/dom.js');
    const number = text => text === 'inf' ? Infinity : Number(text);
    const {errorOfNumber} = await import('/live/core/printed.js');
    globalThis.error = ([text, value]) => errorOfNumber(text, value);
    globalThis.printed = given => given.map(([text, places]) => {
        const value = text === '-inf' ? -Infinity : number(text);
        return [digits(value, places), equals(value, places)];
    });
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
    sizes = 10.0 ** random.uniform(-12, 12, 1500)
    values = [*(sizes * random.choice([-1, 1], 1500)), *np.arange(-40, 40) / 16]
    values += [sign * 10.0**n for n in range(-12, 13) for sign in (-1, 1)]
    values += [np.nextafter(value, side) for value in values[-50:] for side in (-np.inf, np.inf)]
    values += [*map(float, np.float32(random.normal(size=300)))]
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


@pytest.fixture(scope="module")
def dom(browser: Browser, app_url: str) -> Iterator[Page]:
    """A page with the module alone."""
    with bare_page(browser, app_url, HARNESS) as page:
        yield page


def test_javascript_prints_the_same(dom: Page) -> None:
    given = [(value, places) for value, places, _ in KNOWN] + odd_numbers()
    expected = [[digits(*one), equals(*one)] for one in given]
    assert dom.evaluate("given => printed(given)", [[repr(v), n] for v, n in given]) == expected


@pytest.mark.parametrize(
    ("text", "value", "error"),
    [
        ("< 0.0001", 0.00003, 0),
        ("< 0.0001", 0.0, 0),
        ("< 0.0001", 0.3, 0.2999),
        ("< 0.0001", -0.2, 0.2),
        ("> −0.0001", -0.00003, 0),
        ("> −0.0001", -0.3, 0.2999),
        ("> −0.0001", 0.2, 0.2),
        ("0", 0.3, 0.3),
        ("0", 0.0, 0),
        ("0.1234", 0.12343, 0),
    ],
)
def test_what_is_printed_is_read_back(dom: Page, text: str, value: float, error: float) -> None:
    """Zero is no number below a half, and a bound is one on both sides."""
    found = dom.evaluate("given => error(given)", [text, value])
    assert found == pytest.approx(error, abs=1e-9)


def test_what_is_printed_of_a_number_holds(dom: Page) -> None:
    for value, places in odd_numbers()[::7]:
        found = dom.evaluate("given => error(given)", [digits(value, places), value])
        assert found <= 5.01e-7 * abs(value)


# --- everywhere -----------------------------------------------------------------------------------

VIZ = Path(__file__).parents[4] / "viz"
FIXED = re.compile(r"\{([^{}]*?):[,+]?\.\d+[f%]\}|(\w*\)?)\.toFixed\(|%\{+(\w+):[,+]?\.\d+[f%]")
# What is no number of a run: sizes of the text and of files, times, settings, pixels, and what
# follows from a config alone.
OTHERS = {
    "figures/cache.py": {"n_bytes", "y", "exponent"},
    "figures/cost.py": {"x"},
    "pages/ideas/cost/__init__.py": {"n / sum(c.values())", "value"},
    "pages/ideas/cost/measured.py": {"worst"},
    "pages/generate/timing.py": {"1000 * slow", "1000 * fast", "rate", "slow / fast", "a",
                                "summary.spread"},
    "pages/look_inside/tokens.py": {"per_word", "counts.bytes_per_token", "ratio",
                                    "held_out[name]"},
    "pages/ideas/positions/rope.py": {"lengths[0]", "lengths[-1]"},
    "pages/ideas/positions/sinusoidal.py": {
        "lengths[0]", "lengths[-1]", "base", "2 * np.pi * base", "length", "first", "last"},
    "frame/words.py": {"share"},
    "live/core/dom.js": {"number", "value", "places)"},
    "live/cloze/filled.js": {"x"},
    "live/home/home.js": {"x"},
    "live/microscope/operands.js": {"x", "least)", "8)"},
    "live/microscope/views/whatif.js": {"x", "tau"},
    "live/rotor/chart.js": {"score)", "span)"},
    "live/rotor/hands.js": {"x", "y)", "scale)", "length"},
    "live/writer/curve.js": {"rank)", "mass)"},
    "live/writer/distribution.js": {"share)"},
    "live/writer/sliders.js": {"x"},
    "live/translation/controls.js": {"x", "value)"},
}  # fmt: skip


def fixed(text: str) -> set[str]:
    """What a source prints with a fixed number of digits after the point."""
    return {"".join(names) for names in FIXED.findall(text.replace("{{", "{"))}


def test_fixed_digits_are_found() -> None:
    """So that the test below cannot pass by finding nothing."""
    text = 'f"{p:.4f} {a[0]:,.1%} {x:g} %{{z:.5f}} %{z:.5~g}"; (0.5 * y).toFixed(2); w.toFixed(1)'
    assert fixed(text) == {"p", "a[0]", "z", "y)", "w"}


@pytest.mark.parametrize(
    "path",
    sorted({*VIZ.glob("**/*.py"), *VIZ.glob("live/**/*.js")} - {VIZ / "live/offline/program.js"}),
    ids=lambda path: path.relative_to(VIZ).as_posix(),
)
def test_numbers_of_a_run_are_printed_by_nothing_else(path: Path) -> None:
    found = fixed(path.read_text(encoding="utf-8"))
    assert found <= OTHERS.get(path.relative_to(VIZ).as_posix(), set())


def test_where_there_is_no_number_stands_a_dash() -> None:
    assert [or_none(x, 2) for x in (0.125, float("nan"), float("inf"))] == ["0.13", "–", "–"]
