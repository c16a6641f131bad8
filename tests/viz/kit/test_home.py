"""Protects what Home does in the browser: where things stand, how it moves, what is drawn by."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch
from playwright.sync_api import Page

from model.decoding.filters import Sampling, filter_logits
from tests.viz.builders import stories_trace

SIZES = [(1032, 435), (1040, 400), (760, 420), (1480, 800), (1880, 860)]
SHAPES = [(1, 1), (2, 4), (4, 8), (6, 8), (12, 12), (32, 32)]
# The modules, and a film whose crew is a test: what it is told to do is kept in `done`.
HARNESS = """async () => {
    const names = ['layout', 'film', 'numbers', 'timeline'];
    const modules = await Promise.all(names.map(name => import(`/kit/parts/home/${name}.js`)));
    globalThis.home = Object.assign({}, ...modules);
    globalThis.begin = isStill => {
        globalThis.done = [];
        const chance = {probs: new Float64Array([0.5, 0.3, 0.2]), count: 3, ids: [7, 8, 9]};
        const crew = {
            chance: () => chance,
            takeOff: place => {
                done.push(`off ${chance.ids[place]}`);
                return {n: 4, id: chance.ids[place], flight: () => [0, 0]};
            },
            land: ({run}) => done.push(`land ${run.spec.n_tokens}`),
        };
        globalThis.film = new home.Film(isStill, crew);
        film.begin(6, true);
        Math.random = () => 0.6;
    };
    globalThis.coming = (n, after = [4, 8]) =>
        ({run: {spec: {n_tokens: n, why_no_more: null, after}}, sorted: {}});
}"""


@pytest.mark.parametrize(("width", "height"), SIZES)
@pytest.mark.parametrize(("n_layers", "n_heads"), SHAPES)
@pytest.mark.parametrize("is_narrow", [False, True])
def test_everything_has_its_place(
    bare: Page, n_layers: int, n_heads: int, width: int, height: int, is_narrow: bool
) -> None:
    """Nothing overlaps, nothing is outside, and a place on the axis leads to its stage."""
    shape = {"n_layers": n_layers, "n_heads": n_heads, "width": width, "height": height}
    shape |= {"hasPositions": True, "isNarrow": is_narrow}
    flow, back = bare.evaluate(
        """shape => {
            const flow = home.layout(shape);
            const at = [...Array(20).keys()].map(i => i * (flow.stops.length - 1) / 19);
            return [flow, at.map(x => home.stageAt(flow, home.frontAt(flow, x)) - x)];
        }""",
        shape,
    )
    ends = [flow["tokens"], flow["embed"], flow["positions"]]
    edges = [(part["x"], part["x"] + part["width"]) for part in ends]
    for layer in flow["layers"]:
        heads, mlp = layer["heads"], layer["mlp"]
        edges.append((heads[0]["x"], heads[0]["x"] + heads[0]["size"]))
        edges.append((mlp["x"], mlp["x"] + mlp["width"]))
        assert all(a["y"] + a["size"] <= b["y"] for a, b in pairwise(heads))
        assert heads[0]["y"] >= -1 and heads[-1]["y"] + heads[-1]["size"] <= height + 1
    edges.append((flow["end"], flow["end"]))
    if not is_narrow:
        bar, place = flow["next"]["bar"], flow["next"]
        edges += [(bar["x"], bar["x"] + bar["width"]), (place["x"], place["x"] + place["width"])]
    assert all(end <= start + 1 for (_, end), (start, _) in pairwise(edges)), edges
    assert edges[-1][1] <= width
    assert np.abs(back).max() < 1e-9


def test_it_plays_once_and_rests(bare: Page) -> None:
    bare.evaluate("begin(false)")
    assert bare.evaluate(
        "(film.advance(3000), [film.time.isPlaying, film.time.at < film.time.DRAW])"
    )
    found = bare.evaluate(
        "(film.advance(1e5), [film.time.isPlaying, film.time.at, film.time.DRAW])"
    )
    assert found == [False, 9, 9]
    assert bare.evaluate("done") == []


def test_a_drawn_token_lands_once_python_has_gone_on_with_it(bare: Page) -> None:
    """0.6 falls on the second of 0.5, 0.3, 0.2; another text that comes meanwhile is not it."""
    bare.evaluate("begin(false); film.advance(1e5); film.write(1)")
    bare.evaluate("film.advance(1e5)")
    assert bare.evaluate("[film.drawn, film.time.at]") == [{"at": 0.6, "place": 1}, 11]
    assert bare.evaluate("done") == ["off 8"], "asked for once"
    bare.evaluate("film.advance(1e5)")
    assert bare.evaluate("done") == ["off 8"], "it waits where it is"
    assert bare.evaluate("film.goesOn(coming(5, null))") is False
    assert bare.evaluate("film.goesOn(coming(5))") is True
    bare.evaluate("film.advance(16)")
    assert bare.evaluate("done") == ["off 8", "land 5"]
    assert bare.evaluate("[film.left, film.isGrown, film.flight, film.drawn]") == [
        0,
        True,
        None,
        None,
    ]
    bare.evaluate("film.advance(1e5)")
    assert bare.evaluate("film.time.isPlaying") is False


@pytest.mark.parametrize(
    ("spec", "left"),
    [({"refused": [4, 8], "why_no_more": None}, 2), ({"refused": None, "why_no_more": "full"}, 0)],
)
def test_what_cannot_stand_is_drawn_again_or_ends(
    bare: Page, spec: dict[str, Any], left: int
) -> None:
    bare.evaluate("begin(false); film.advance(1e5); film.write(2); film.advance(1e5)")
    bare.evaluate("film.hear({refused: [4, 9], why_no_more: null})")
    assert bare.evaluate("film.flight !== null"), "of another token"
    bare.evaluate("spec => film.hear(spec)", spec)
    assert bare.evaluate("[film.flight, film.drawn, film.left]") == [None, None, left]
    bare.evaluate("film.advance(1e5)")
    assert bare.evaluate("done.length") == (2 if left else 1)


def test_a_person_may_go_anywhere_but_while_python_is_at_work(bare: Page) -> None:
    bare.evaluate("begin(false); film.seek(3.5)")
    assert bare.evaluate("[film.time.at, film.time.isPlaying]") == [3.5, False]
    bare.evaluate("film.write(1); film.advance(1e5); film.seek(2)")
    assert bare.evaluate("film.time.at") == 11
    bare.evaluate("film.pause()")
    assert bare.evaluate("[film.left, film.time.isPlaying]") == [1, True], "it lands first"


def test_who_asks_for_more_does_not_wait_and_a_new_sentence_goes_on_with_it(bare: Page) -> None:
    """A click just before the sentence typed for it comes; later a new one ends the writing."""
    bare.evaluate("begin(false); film.advance(500); film.write(3)")
    assert bare.evaluate("film.time.at === film.time.DRAW")
    bare.evaluate("film.begin(6, false)")
    assert bare.evaluate("film.left") == 3
    bare.evaluate("film.advance(1e5); film.goesOn(coming(4)); film.advance(16)")
    assert bare.evaluate("[film.left, film.isGrown]") == [2, False], "it became one with the last"
    bare.evaluate("film.begin(6, false)")
    assert bare.evaluate("film.left") == 0


def test_nothing_moves_under_reduced_motion(bare: Page) -> None:
    bare.evaluate("begin(true)")
    assert bare.evaluate("[film.time.at, film.time.isPlaying]") == [9, False]
    bare.evaluate("film.write(1); film.advance(100); film.advance(800); film.goesOn(coming(5))")
    bare.evaluate("film.advance(16)")
    assert bare.evaluate("done") == ["off 8", "land 5"]


@pytest.mark.parametrize(("temperature", "top_p"), [(1, 1), (0.8, 0.95), (0.05, 0.5), (3, 0.01)])
def test_what_is_drawn_from_is_what_python_draws_from(
    bare: Page, temperature: float, top_p: float
) -> None:
    logits = stories_trace("One day, the little bird met a").logits[-1]
    sampling = Sampling(temperature=temperature, top_k=None, top_p=top_p, min_p=0.0)
    kept = filter_logits(torch.from_numpy(logits.astype(np.float64)), sampling)
    expected = kept.softmax(dim=0).numpy()
    ids, probs, cut, places = bare.evaluate(
        """([logits, settings]) => {
            const sorted = home.sortedAfter(3, Float32Array.from(logits));
            const chance = home.chanceOf(sorted, settings, 1e-12);
            const places = [0, 0.25, 0.5, 0.999999].map(x => home.placeAt(chance, x));
            return [[...chance.ids], [...chance.probs], chance.cut, places];
        }""",
        [logits.tolist(), {"temperature": temperature, "top_p": top_p}],
    )
    found = np.zeros(len(logits))
    found[ids[: len(probs)]] = probs
    np.testing.assert_allclose(found, expected, atol=1e-6)
    total = np.cumsum(probs)
    assert places == np.searchsorted(total, [0, 0.25, 0.5, 0.999999], side="right").tolist()
    assert (cut > 0) == (len(probs) < len(logits))
