"""Protects a text on screen from its own delays: a late map is not of another text."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from tests.viz.kit.gallery import Gallery
from tests.viz.kit.parts.made import writing_steps, written
from viz.kit.part import answer
from viz.kit.parts.writing import weights_of

# Keeps drawings of the map back until they are released, and notes what is marked.
GATE = """() => {
    const {heatMap} = instrument;
    const [draw, mark] = [heatMap.draw, heatMap.mark].map(one => one.bind(heatMap));
    const gate = new Promise(resolve => { globalThis.release = resolve; });
    Object.assign(globalThis, {marked: [], held: 0});
    heatMap.draw = (...given) => {
        held += 1;
        return gate.then(() => draw(...given));
    };
    heatMap.mark = (...place) => { marked.push(place); return mark(...place); };
}"""
# What is asked is kept, and answered when a test says so.
LATE = """() => {
    globalThis.asked = [];
    gallery.answer = question => new Promise(answer => asked.push({question, answer}));
}"""
ANSWER = """async ([i, more]) => {
    while (!asked[i]) await new Promise(requestAnimationFrame);
    asked[i].answer(more);
    return asked[i].question;
}"""


def n_new(gallery: Gallery) -> int:
    """How many tokens were written."""
    return sum("new" in token["is"] for token in gallery.read("text"))


@dataclass(frozen=True)
class Following:
    """What answers with what follows on two new tokens of a text of `n`, or on more of them."""

    n: int
    key: str
    known: int = 2
    running: bool = False

    def more(self, asked: Mapping[str, object]) -> Mapping[str, Any]:
        """All of it, whatever is asked."""
        spec = written(self.n, self.key).spec
        new = {name: spec[name][-(self.n - 2) :] for name in ("labels", "axis", "steps")}
        arrays = {"logits": np.arange(5, dtype=np.float32), **weights_of(writing_steps(self.n)[2:])}
        about = {"known": self.known, "running": self.running, "arrays": arrays}
        return {**spec, **new, "marks": [], "shown": spec["shown"][0], **about}

    @property
    def answer(self) -> list[int]:
        """Its bytes."""
        return [*answer(self, {})]


@pytest.mark.parametrize("n_next", [0, 2])
def test_another_text_comes_while_the_map_of_the_first_is_drawn(
    gallery: Gallery, n_next: int
) -> None:
    gallery.show(written(6))
    gallery.evaluate(GATE)
    gallery.receive(written(6, at=6, averaged=True))
    gallery.wait_for_function("held === 1")
    gallery.receive(written(n_next, "another text"))
    gallery.wait_for_function("instrument.data.key === 'another text'")
    gallery.evaluate("release()")
    gallery.read()
    asked_for = [place for place in gallery.evaluate("marked") if len(place) == 2]
    assert asked_for == [[1, 0]][:n_next], "the map itself repeats one; none is of the first text"


def test_what_is_moved_while_a_token_is_asked_for_goes_with_the_next_question(
    gallery: Gallery,
) -> None:
    gallery.show(written(2))
    gallery.evaluate(LATE)
    gallery.receive(written(2, is_running=True), asks=True)
    gallery.press("End", "Temperature")
    for i, temperature in enumerate([1, 3]):
        more = Following(3, "a key", 2 + i, running=True).answer
        question = gallery.evaluate(ANSWER, [i, more])
        assert (question["known"], question["settings"]["temperature"]) == (2 + i, temperature)
        assert n_new(gallery) == 3 + i
        assert gallery.read()["order"][0] == ["Temperature", "3.00"]
    assert gallery.sent() == {"temperature": 3}


def test_what_is_done_is_asked_and_the_page_hears_of_it_then(gallery: Gallery) -> None:
    gallery.show(written(4))
    gallery.evaluate(LATE)
    gallery.receive(written(4, at=4), asks=True)
    gallery.get_by_role("button", name="Again from here").click()
    question = gallery.evaluate(ANSWER, [0, Following(5, "again").answer])
    assert question["act"] == {"kind": "again", "at": 4, "token": None}
    assert (question["known"], n_new(gallery)) == (2, 5)
    assert gallery.sent() == {"at": None, "rests": 1}
    gallery.receive(written(3, "again", at=4), asks=True)  # drawn before that
    assert n_new(gallery) == 5


def test_where_nobody_answers_the_page_writes_on(gallery: Gallery) -> None:
    gallery.show(written(2, is_running=True), asks=True)
    for turn in (1, 2):
        gallery.wait_for_function("model.get('state').rests")
        assert gallery.sent() == {"rests": 1}
        gallery.receive(written(2 + turn, is_running=True), acked=turn, asks=True)
        assert n_new(gallery) == 2 + turn
