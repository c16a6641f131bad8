"""Protects the browser's sampler: the same survivors and probabilities as Python, in float64."""

import base64
from itertools import permutations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from playwright.sync_api import Page

from model.decoding.filters import DEFAULT_ORDER, SLACK, Sampling, filter_logits
from viz.kit.sampling import distribution_of

# Given logits in base64, settings and the slack: who survives, and with what probability.
HARNESS = """async () => {
    const sampling = await import('/kit/sampling.js');
    const {bytesOf} = await import('/kit/arrays.js');
    globalThis.sampled = ([bdata, settings, slack]) => {
        const logits = new Float32Array(bytesOf(bdata).buffer);
        const sorted = sampling.sortedTokens(logits);
        const {ids, steps, count, probs} = sampling.chanceOf(sorted, settings, slack);
        const places = AT.map(at => sampling.placeAt(probs, at));
        return {kept: Array.from(ids.subarray(0, count)), probs: Array.from(probs),
                steps, places, entropy: sampling.entropy(probs)};
    };
}"""
AT = [0, 0.25, 0.5, 0.999999]
SIZES = st.sampled_from([1, 2, 3, 10, 97, 400])


def in_browser(page: Page, logits: np.ndarray, sampling: Sampling) -> dict[str, list]:
    """What the browser makes of float32 logits."""
    data = base64.b64encode(logits.astype(np.float32).tobytes()).decode("ascii")
    given_settings = {name: getattr(sampling, name) for name in DEFAULT_ORDER}
    given_settings["order"] = list(sampling.order)
    return page.evaluate(
        f"given => (globalThis.AT = {AT}, sampled(given))", [data, given_settings, SLACK]
    )


def assert_same(page: Page, logits: np.ndarray, sampling: Sampling) -> None:
    """The survivors are the same set, and each has the same probability."""
    found = in_browser(page, logits, sampling)
    filtered = filter_logits(torch.tensor(logits.astype(np.float32)), sampling)
    kept = (filtered > -torch.inf).numpy()
    assert set(found["kept"]) == set(np.flatnonzero(kept))
    probs = np.zeros(len(logits))
    probs[found["kept"]] = found["probs"]
    assert probs == pytest.approx(filtered.softmax(dim=0).numpy(), abs=1e-6)
    places = np.searchsorted(np.cumsum(found["probs"]), AT, side="right")
    assert found["places"] == np.minimum(places, len(found["probs"]) - 1).tolist()
    p = probs[probs > 0]
    assert found["entropy"] == pytest.approx(-(p * np.log(p)).sum(), abs=1e-9)


@st.composite
def cases(draw: st.DrawFn) -> tuple[np.ndarray, Sampling]:
    """Logits, half of them with many ties, and any settings in any order."""
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    size = draw(SIZES)
    logits = draw(st.sampled_from([0.5, 3.0, 20.0])) * random.normal(size=size)
    if draw(st.booleans()):
        logits = np.round(logits)
    sampling = Sampling(
        temperature=draw(st.integers(5, 300)) / 100,
        top_k=draw(st.none() | st.integers(1, size + 3)),
        top_p=draw(st.integers(1, 100)) / 100,
        min_p=draw(st.integers(0, 99)) / 100,
        order=draw(st.permutations(DEFAULT_ORDER).map(tuple)),
    )
    return logits, sampling


@given(case=cases())
@settings(max_examples=100)
def test_the_same_tokens_survive(case: tuple[np.ndarray, Sampling], bare: Page) -> None:
    assert_same(bare, *case)


@pytest.mark.parametrize("order", list(permutations(DEFAULT_ORDER)), ids="-".join)
def test_every_order_on_equal_logits(order: tuple[str, ...], bare: Page) -> None:
    """Ten tokens of 0.1 each: cuts that fall on a sum exactly, whichever way it is added up."""
    for p in (0.1, 0.3, 0.5, 0.7, 0.9, 1.0):
        sampling = Sampling(temperature=1.7, top_p=p, top_k=8, order=order)
        assert_same(bare, np.zeros(10), sampling)


def test_a_large_vocabulary(bare: Page) -> None:
    logits = np.random.default_rng(0).normal(size=50_257) * 4
    assert_same(bare, logits, Sampling(temperature=1.3, top_k=4000, top_p=0.97, min_p=0.001))
    found = in_browser(bare, logits, Sampling(temperature=0.9, top_k=50))
    assert [step["count"] for step in found["steps"]] == [50_257, 50, 50, 50]
    assert found["steps"][0]["mass"] == 1


def test_bars_of_two_tokens_do_not_have_one_name() -> None:
    shown = distribution_of("a key", 1, np.array([0.0, 2.0, 1.0]), ["x", '"', ' "']).said
    assert (shown["ids"], shown["labels"]) == ([1, 2, 0], ['"', '␣"', "x"])
    assert shown["signs"] == "␣ is a space"
