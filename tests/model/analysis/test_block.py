"""Protects the lesson on the block: its steps, three norms, and neurons on their functions."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from model.analysis.block import (
    FUNCTIONS,
    NORMED,
    NORMS,
    STEPS,
    concentration,
    curve,
    identities,
    normed,
    reach_of,
    run_inside,
    statistics,
)
from model.config import FEEDFORWARD_NAMES, NORM_PLACEMENTS
from model.feedforward import FEEDFORWARDS
from model.tap import Recorder, attach
from tests.model.builders import tiny_model

IDS = [3, 1, 4, 1, 5]
VARIANTS = [
    {},
    {"norm_placement": "post", "bias": False},
    {"norm": "rms", "feedforward": "swiglu"},
    {"norm_placement": "post", "norm": "rms", "feedforward": "relu"},
]


def test_there_is_an_order_for_every_place_of_the_norms() -> None:
    assert set(STEPS) == set(NORMED) == set(NORM_PLACEMENTS)
    assert set(FUNCTIONS) == set(FEEDFORWARDS) == set(FEEDFORWARD_NAMES)


@pytest.mark.parametrize("changes", VARIANTS)
def test_steps_are_those_of_the_forward_pass(changes: dict[str, object]) -> None:
    model = tiny_model(**changes)
    found, recorder = run_inside(model, IDS, layer=1), Recorder()
    with torch.inference_mode():
        model(torch.tensor([IDS]), tap=attach(recorder))
    shown = found.of_token(2)
    for name in ("resid_pre", "attn_out", "resid_mid", "ffn_out", "resid_post"):
        expected = recorder.values[f"decoder.blocks.1.{name}"][0, 2].numpy()
        np.testing.assert_allclose(shown[found.steps.index(name)], expected, rtol=1e-5, atol=1e-5)
    assert max(identities(found).values()) < 1e-5
    assert len(identities(found)) == 4


@pytest.mark.parametrize("changes", VARIANTS)
def test_a_norm_is_given_what_it_divides(changes: dict[str, object]) -> None:
    """Its tapped statistics are those of what `given` says it was given."""
    model = tiny_model(**changes)
    found, recorder = run_inside(model, IDS, layer=1), Recorder()
    with torch.inference_mode():
        model(torch.tensor([IDS]), tap=attach(recorder))
    for norm in ("attn_norm", "ffn_norm"):
        numbers = statistics(found.given(norm)[3], found.eps)
        for name in ("mean", "deviation", "rms"):
            tapped = recorder.values.get(f"decoder.blocks.1.{norm}.{name}")
            if tapped is not None:
                assert getattr(numbers, name) == pytest.approx(tapped[0, 3].item(), abs=1e-5)


def test_an_identity_that_is_broken_shows() -> None:
    found = run_inside(tiny_model(), IDS, layer=0)
    broken = replace(found, values={**found.values, "resid_mid": found.values["resid_mid"] + 0.1})
    errors = identities(broken)
    assert errors["resid_mid = resid_pre + attn_out"] > 0.01
    assert errors["resid_post = resid_mid + ffn_out"] > 0.01


def test_norms_are_those_of_torch() -> None:
    x = np.random.default_rng(1).normal(2, 3, (5, 7))
    given = torch.from_numpy(x)
    expected = {
        "layer": torch.nn.LayerNorm(7, dtype=torch.float64),
        "rms": torch.nn.RMSNorm(7, eps=1e-5, dtype=torch.float64),
        "batch": torch.nn.BatchNorm1d(7, dtype=torch.float64).train(),
    }
    for kind in NORMS:
        np.testing.assert_allclose(
            normed(x, kind, 1e-5), expected[kind](given).detach().numpy(), rtol=1e-9
        )


def test_three_numbers_by_hand() -> None:
    """1, 2 and 6: mean 3, variance 14/3, mean of squares 41/3."""
    found = statistics(np.array([1.0, 2.0, 6.0]), 0.0)
    assert found == pytest.approx((3, np.sqrt(14 / 3), np.sqrt(41 / 3)))


@pytest.mark.parametrize("kind", FUNCTIONS)
def test_points_stand_on_the_curve_of_the_model(kind: str) -> None:
    found = run_inside(tiny_model(feedforward=kind), IDS, layer=1)
    before = found.values["pre_activation"][2]
    after = found.values.get("gate", found.values["activation"])[2]
    places, heights = curve(kind, reach_of(before))
    assert places[0] <= before.min() and before.max() <= places[-1]
    np.testing.assert_allclose(np.interp(before, places, heights), after, atol=0.01)


def test_a_few_neurons_have_all() -> None:
    few = np.zeros(64)
    few[3] = -2.0
    assert concentration(few) == 1
    assert concentration(np.ones(64)) == 16 / 64
