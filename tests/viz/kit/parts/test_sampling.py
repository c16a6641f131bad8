"""Protects the writer from its own delays: a map that is drawn late is not of another text."""

from typing import Any

import pytest
from playwright.sync_api import Page

from tests.viz.harness import as_sent, at_rest, open_instrument
from tests.viz.kit.parts.made import written


def text(n: int, key: str = "a text", **changes: object) -> dict[str, Any]:
    """A text of `n` new tokens, as the page sends it."""
    return as_sent(written(n, key, **changes))


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
    while (document.querySelector('[data-busy]'))
        await new Promise(resolve => setTimeout(resolve, 50));
    return marked;
}"""


@pytest.mark.parametrize("n_next", [0, 2])
def test_another_text_comes_while_the_map_of_the_first_is_drawn(bare: Page, n_next: int) -> None:
    open_instrument(bare, text(6))
    at_rest(bare)
    other = text(6, at=6, averaged=True)
    bare.evaluate("data => host.receive(data)", other)
    marked = bare.evaluate(LATE, [text(n_next, "another text"), 4])
    asked_for = [
        place for place in marked if len(place) == 2
    ]  # the map itself repeats a pinned one
    assert all(row < n_next for row, _ in asked_for), "no mark of the first text"
    assert bool(asked_for) == bool(n_next)


# A slider is moved while an answer is on its way; then that comes, and the one after it.
STEER = """async ([data, more]) => {
    const answers = [];
    const shown = () => document.querySelectorAll('.hl-new').length;
    const frame = () => new Promise(requestAnimationFrame);
    host.model.channel.ask = question =>
        new Promise(resolve => answers.push({question, resolve}));
    host.receive(data);
    const input = document.querySelector('[data-setting=temperature]');
    for (const value of [1.5, 1.6, 1.7]) {
        input.value = value;
        input.dispatchEvent(new Event('input', {bubbles: true}));
    }
    const found = [];
    for (const n of [0, 1]) {
        while (answers.length <= n) await frame();
        answers[n].resolve({...more, known: 2 + n});
        while (shown() < 3 + n) await frame();
        found.push([answers[n].question.settings.temperature, input.value]);
    }
    return found;
}"""


def test_what_is_moved_while_a_token_is_asked_for_goes_with_the_next_question(bare: Page) -> None:
    """The page hears of it when the hand rests."""
    more = text(3)["spec"] | {"key": "a text", "running": True, "labels": [" a"], "axis": [" a"]}
    more |= {"steps": more["steps"][2:], "marks": []}
    open_instrument(bare, text(2))
    found = bare.evaluate(STEER, [text(2, is_running=True) | {"asks": True}, more])
    assert found == [[1, "1.7"], [1.7, "1.7"]]
    bare.wait_for_function("sent.length === 1 && sent[0].changes.temperature === 1.7")


# Has a text written again from its third new token: what was asked, and what the page is told.
ACT = """async ([data, more, late]) => {
    const asked = [];
    host.model.channel.ask = async question => { asked.push(question); return more; };
    host.receive(data);
    const button = [...document.querySelectorAll('button')].find(
        ({textContent}) => textContent === 'Again from here');
    button.click();
    while (!sent.length) await new Promise(requestAnimationFrame);
    host.receive(late); // drawn before that
    const [{act, known}] = asked;
    const [{changes}] = sent;
    return {act, known, changes, shown: document.querySelectorAll('.hl-new').length};
}"""


def test_what_is_done_is_asked_and_the_page_hears_of_it_then(bare: Page) -> None:
    more = text(5, "again")["spec"] | {"known": 2, "labels": 3 * [" a"], "axis": 3 * [" a"]}
    more |= {"steps": more["steps"][2:], "marks": [], "shown": more["shown"][0]}
    data, late = (text(n, key, at=4) | {"asks": True} for n, key in ((4, "a text"), (3, "again")))
    open_instrument(bare, text(4))
    found = bare.evaluate(ACT, [data, more, late])
    assert found == {
        "act": {"kind": "again", "at": 4, "token": None},
        "known": 2,
        "changes": {"at": None, "rests": 1},
        "shown": 5,
    }


def test_where_nobody_answers_the_page_writes_on(bare: Page) -> None:
    open_instrument(bare, text(2))
    bare.evaluate("void (host.model.channel.ask = () => Promise.reject(new Error('gone')))")
    bare.evaluate("data => host.receive(data)", text(2, is_running=True) | {"asks": True})
    bare.wait_for_function("sent.at(-1)?.changes.rests === 1")
    again = text(3, is_running=True) | {"asks": True, "acked": 1}
    bare.evaluate("data => host.receive(data)", again)
    bare.wait_for_function("sent.length === 2 && document.querySelectorAll('.hl-new').length === 3")
