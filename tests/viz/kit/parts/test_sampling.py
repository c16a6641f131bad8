"""Protects the writer from its own delays: a map that is drawn late is not of another text."""

from typing import Any

import pytest
from playwright.sync_api import Page

from tests.viz.harness import as_sent, open_instrument
from tests.viz.kit.parts.made import written


def text(n: int, key: str = "a text", **changes: object) -> dict[str, Any]:
    """A text of `n` new tokens, as the page sends it."""
    return as_sent(written(n, key, **changes))


IDLE = "() => !document.querySelector('[aria-busy], .hl-map[data-busy]')"
# Lets the map of the first text wait until the second has come, then notes what is marked.
LATE = """async ([next, row]) => {
    const {heatMap} = instrument;
    const draw = heatMap.draw.bind(heatMap), mark = heatMap.mark.bind(heatMap);
    const marked = [];
    let release;
    const gate = new Promise(resolve => { release = resolve; });
    heatMap.draw = async (...given) => { await gate; return draw(...given); };
    heatMap.mark = (...place) => { marked.push(place); return mark(...place); };
    instrument.go(2 + row);
    await new Promise(resolve => setTimeout(resolve, 700));
    marked.length = 0; // what was marked before is of the first text by right
    host.receive(next);
    release();
    await new Promise(resolve => setTimeout(resolve, 900));
    while (document.querySelector('.hl-map[data-busy]'))
        await new Promise(resolve => setTimeout(resolve, 50));
    return marked;
}"""


@pytest.mark.parametrize("n_next", [0, 2])
def test_another_text_comes_while_the_map_of_the_first_is_drawn(bare: Page, n_next: int) -> None:
    open_instrument(bare, text(6))
    bare.wait_for_function("document.querySelector('.hl-chart .main-svg')")
    bare.wait_for_function(IDLE)
    other = text(6, at=6, averaged=True)
    bare.evaluate("data => host.receive(data)", other)
    marked = bare.evaluate(LATE, [text(n_next, "another text"), 4])
    asked_for = [
        place for place in marked if len(place) == 2
    ]  # the map itself repeats a pinned one
    assert all(row < n_next for row, _ in asked_for), "no mark of the first text"
    assert bool(asked_for) == bool(n_next)


# Moves a slider three times; then comes what was made before, the answer, and again what was not.
STEER = """([before, answer, late]) => {
    const input = document.querySelector('[data-setting=temperature]');
    const shown = () => document.querySelectorAll('.hl-new').length;
    const heard = () => sent.map(({changes}) => changes.temperature);
    for (const value of [1.5, 1.6, 1.7]) {
        input.value = value;
        input.dispatchEvent(new Event('input', {bubbles: true}));
    }
    const found = [heard()];
    ticks.length = 0;
    for (const data of [before, answer, late]) {
        host.receive(data);
        found.push(shown(), heard());
    }
    return [...found, ticks.length];
}"""


def test_a_slider_is_heard_at_once_and_what_it_outdates_is_not_drawn(bare: Page) -> None:
    """One message at a time while text is written; what no answer follows is drawn a bit later."""
    open_instrument(bare, text(2, is_running=True))
    answer = text(6, is_running=True, temperature=1.5) | {"acked": 1}
    late = text(7, is_running=True, temperature=1.5) | {"acked": 1}
    found = bare.evaluate(STEER, [text(5, is_running=True), answer, late])
    assert found == [[1.5], 2, [1.5], 6, [1.5, 1.7], 6, [1.5, 1.7], 0]
    bare.wait_for_function("document.querySelectorAll('.hl-new').length === 7")
