"""Protects Home's proof: it holds for what is shown, and each planted fault turns it red."""

import re
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.screen import PATIENCE
from tests.viz.builders import scheme_model, stories_trace, trace_of, unpacked
from tests.viz.live.harness import as_sent, bare_page, open_instrument, receive
from viz.live.core.wire import ALLOWED_ERROR, Data, packed
from viz.live.files import script
from viz.live.home.data import Following, ShownHead, home_data

SENTENCE = "Tom had a red ball. Tom gave Sam the red ball."
LONG = " ".join(8 * ["The red ball was big."])
VOCABULARY = [f"token {i}" for i in range(5000)]


@pytest.fixture
def bare(browser: Browser, app_url: str) -> Iterator[Page]:
    """A bare page; an error that nobody caught fails its test. A busy machine is slow."""
    with bare_page(browser, app_url) as page:
        page.set_default_timeout(PATIENCE)
        expect.set_options(timeout=PATIENCE)
        yield page


def home(text: str = SENTENCE, model: str = "stories", head: int = 4) -> Data:
    """Home on a text, with one head of layer 2."""
    trace = stories_trace(text) if model == "stories" else trace_of(scheme_model(model), text)
    shown = ShownHead(trace.attention[2], head, f"L2 H{head}")
    settings = {"temperature": 0.7, "n_tokens": len(trace.tokens)}
    return home_data("a key", trace, shown, Following(VOCABULARY, None), settings)


def checked(page: Page) -> float:
    """The error that Home found, once it has looked."""
    badge = page.locator(".hl-badge")
    expect(badge).to_have_attribute("data-check", re.compile(r"\d|NaN"))
    return float(badge.get_attribute("data-check") or "")


def expect_red(page: Page) -> None:
    """The badge says that the numbers are wrong, and Python hears the same."""
    badge = page.locator(".hl-badge.hl-bad")
    expect(badge).to_contain_text("not the model’s numbers")
    page.wait_for_function(
        """most => {
            const checked = sent.at(-1)?.checked;
            return checked && (checked.error === null || checked.error > most);
        }""",
        arg=ALLOWED_ERROR,
    )


@pytest.mark.parametrize(
    ("text", "model"),
    [(SENTENCE, "stories"), (LONG, "stories"), ("a", "stories"), (SENTENCE, "alibi"),
     (SENTENCE, "rope")],
)  # fmt: skip
def test_what_is_shown_is_proven(bare: Page, text: str, model: str) -> None:
    """Of a long text, too, of which only the last tokens are shown; with a bias, and with none."""
    data = home(text, model, head=1)
    assert (data["n_left_out"] > 0) == (text == LONG)
    assert (data["inputs"]["bias"] is not None) == (model == "alibi")
    open_instrument(bare, "Home", as_sent(data))
    assert 0 <= checked(bare) < 2e-6
    expect(bare.locator(".hl-badge")).to_have_text(
        re.compile(r"^✓ recomputed in your browser \(max error \d")
    )
    message = bare.wait_for_function("sent.at(-1)").json_value()
    assert message["changes"] == {}
    assert message["checked"] == {"key": "a key", "error": checked(bare)}


def test_each_word_and_temperature_is_checked_and_said_once(bare: Page) -> None:
    open_instrument(bare, "Home", as_sent(home()))
    checked(bare)
    bare.wait_for_function("sent.length === 1")
    errors = set()
    for word in (3, 9, 1):
        bare.locator(".hl-home-word").nth(word).hover()
        bare.wait_for_timeout(300)
        errors.add(checked(bare))
    bare.get_by_role("slider", name="Temperature").fill("2.5")
    bare.wait_for_timeout(600)
    assert checked(bare) < 2e-6
    assert max(errors) < 2e-6
    verdicts = bare.evaluate("sent.map(({checked}) => JSON.stringify(checked))")
    assert len(set(verdicts)) == 1, "no page is run again because the mouse has moved"


def test_another_sentence_is_checked_anew(bare: Page) -> None:
    open_instrument(bare, "Home", as_sent(home()))
    bare.wait_for_function("sent.length === 1")
    other = home("The dog ran.") | {"key": "another key"}
    receive(bare, as_sent(other | {"pattern": reversed_rows(other["pattern"])}, acked=1))
    expect_red(bare)
    bare.wait_for_function("sent.at(-1).checked.key === 'another key'")


# --- planted faults -------------------------------------------------------------------------------


def reversed_rows(sent: Data) -> Data:
    """An array with its last row first."""
    return packed(np.ascontiguousarray(unpacked(sent)[::-1]))


def another_head(data: Data) -> Data:
    """The pattern of the head beside."""
    return {"pattern": home(head=5)["pattern"]}


def rows_reversed(data: Data) -> Data:
    """The pattern with its last row first."""
    return {"pattern": reversed_rows(data["pattern"])}


def one_weight(data: Data) -> Data:
    """One weight by a thousandth too large."""
    pattern = unpacked(data["pattern"]).copy()
    pattern[7, 3] += 1e-3
    return {"pattern": packed(pattern)}


def without_mask(data: Data) -> Data:
    """A mask that hides nothing: hatched cells become zeros."""
    return {"mask": packed(np.ones_like(unpacked(data["mask"])))}


def cold_logits(data: Data) -> Data:
    """Logits of another scale."""
    return {"logits": packed(unpacked(data["logits"]) * np.float32(0.7))}


def other_leaders(data: Data) -> Data:
    """The second token in the place of the first."""
    first, second, *others = data["leading"]
    return {"leading": [second, first, *others]}


DATA_FAULTS = [another_head, rows_reversed, one_weight, without_mask, cold_logits, other_leaders]


@pytest.mark.parametrize("fault", DATA_FAULTS, ids=lambda fault: fault.__name__)
def test_a_fault_in_what_is_sent_turns_it_red(bare: Page, fault: Callable[[Data], Data]) -> None:
    data = home()
    open_instrument(bare, "Home", as_sent(data | fault(data)))
    expect_red(bare)


# What is drawn wrongly: a module, what stands in it, and what the fault makes of that.
CODE_FAULTS = {
    "lengths of the bars": ("core/bars.js", "value * scale)", "value * scale + 9)"),
    "lengths of one kind": ("core/bars.js", "bar(after, 11", "bar(0.9 * after, 11"),
    "digits": ("core/dom.js", "value.toFixed(places)", "(1.1 * value).toFixed(places)"),
    "logits × 0.7": ("home/home.js", "(id) => floats[id]", "(id) => 0.7 * floats[id]"),
    "temperature": ("home/home.js", "(this.#sorted, temperature)", "(this.#sorted, 1)"),
    "all others": ("home/home.js", "after.subarray(leading.length)", "after"),
    "the map": ("home/home.js", "...shown, scale", "...shown, values: flipped(shown), scale"),
    "shades": ("home/home.js", "String(row[i] / most)", "String(row[i])"),
    "the sentence": ("home/home.js", "b.weight - a.weight", "a.weight - b.weight"),
    "another word": ("home/home.js", "this.#query * values.columns", "0 * values.columns"),
}
FLIPPED = """
const flipped = ({values}) => ({...values, values: Float64Array.from(values.values).reverse()});
"""


@pytest.mark.parametrize("fault", CODE_FAULTS)
def test_a_fault_in_the_drawing_turns_it_red(bare: Page, fault: str) -> None:
    module, right, wrong = CODE_FAULTS[fault]
    assert script(module).count(right) == 1, "else nothing is planted"

    def plant(route: Route) -> None:
        body = script(module).replace(right, wrong) + (FLIPPED if "flipped" in wrong else "")
        route.fulfill(body=body, content_type="text/javascript")

    bare.route(f"**/live/{module}", plant)
    open_instrument(bare, "Home", as_sent(home()))
    expect_red(bare)
