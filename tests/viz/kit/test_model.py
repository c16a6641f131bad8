"""Protects what a part is handed: a choice wins over what Python says until Python has it, and no
view of it is ever drawn that a person has left.
"""

from typing import Any

import pytest
from playwright.sync_api import Page

# A model whose Python answers when a test says so, with all that its listeners saw.
HARNESS = """async () => {
    const {Model} = await import('/kit/model.js');
    const {Lifetime} = await import('/kit/lifetime.js');
    globalThis.begin = () => {
        globalThis.sent = [];
        globalThis.asked = [];
        globalThis.seen = [];
        const load = async path => {
            asked.push(path);
            if (path.startsWith('lost') && asked.length === 1) throw new Error('lost');
            return new Float32Array([1, 2, 3]).buffer;
        };
        globalThis.model = new Model({push: message => sent.push(message), load}, new Lifetime());
        globalThis.ending = new AbortController();
        model.on('state', () => seen.push({...model.get('state')}), ending.signal);
        globalThis.told = (acked, settings, arrays = {}) =>
            model.receive({spec: {}, settings, arrays, themes: {}, acked});
        told(0, {layer: 0, head: 0});
        seen.length = 0;
    };
}"""


@pytest.fixture
def page(bare: Page) -> Page:
    """The page with a new model."""
    bare.evaluate("begin()")
    return bare


def test_nothing_snaps_back_while_python_answers_late(page: Page) -> None:
    """A hand that is down goes on while answers to what it chose before arrive."""
    seen = page.evaluate("""() => {
        model.set('state', {layer: 1});
        model.save_changes();
        model.set('state', {layer: 2});
        told(0, {layer: 0, head: 3});
        told(1, {layer: 1, head: 3});
        model.set('state', {layer: 3});
        model.save_changes();
        told(1, {layer: 1, head: 3});
        told(2, {layer: 3, head: 3});
        return seen;
    }""")
    assert [state["layer"] for state in seen] == [1, 2, 2, 3]
    assert [state["head"] for state in seen] == [0, 0, 3, 3]
    assert page.evaluate("[model.isPending, sent]") == [
        False,
        [{"turn": 1, "changes": {"layer": 1}}, {"turn": 2, "changes": {"layer": 3}}],
    ]


def test_a_listener_hears_of_changes_alone_and_no_more_after_its_end(page: Page) -> None:
    page.evaluate("told(0, {layer: 0, head: 0}); model.set('state', {layer: 0})")
    assert page.evaluate("seen") == []
    page.evaluate("ending.abort(); model.set('state', {layer: 1})")
    assert page.evaluate("seen") == []


def test_an_array_is_loaded_once_and_asked_for_again_if_it_was_lost(page: Page) -> None:
    about: dict[str, Any] = {"id": "lost", "dtype": "f4", "shape": [2, 3], "split": 1}
    page.evaluate("about => told(0, {}, {a: about})", about)
    load = "model.load('a', 1).then(({values, shape}) => [[...values], shape], x => x.message)"
    assert page.evaluate(load) == "lost"
    assert page.evaluate(load) == page.evaluate(load) == [[1, 2, 3], [3]]
    assert page.evaluate("asked") == ["lost/1", "lost/1"]
    assert page.evaluate("model.load('a').catch(x => x.message)") == "no array is called a"
    assert page.evaluate("model.load('b', 0).catch(x => x.message)") == "no array is called b 0"
    short = {**about, "shape": [2, 4]}
    page.evaluate("about => told(0, {}, {a: {...about, id: 'short'}})", short)
    message = page.evaluate("model.load('a', 0).catch(x => x.message)")
    assert message == "12 bytes came instead of 16."
