"""Protects the lesson on the block: its steps, three norms, and neurons on their functions."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from model.adopted.adopt import adopt
from model.adopted.watched import first_tensor
from model.analysis.block import (
    FUNCTIONS,
    NORMS,
    concentration,
    curve,
    has_offset,
    identities,
    normed,
    reach_of,
    run_inside,
    statistics,
)
from model.tap import Recorder, attach
from model.verify.check import relative_error
from tests.model.adopted.families import DECODERS, build, given
from tests.model.builders import tiny_model

IDS = [3, 1, 4, 1, 5]
VARIANTS = [
    {},
    {"norm_placement": "post", "bias": False},
    {"norm": "rms", "feedforward": "swiglu"},
    {"norm_placement": "post", "norm": "rms", "feedforward": "relu"},
]


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
    assert found.placement == changes.get("norm_placement", "pre")
    assert max(identities(found).values()) < 1e-5
    assert len(identities(found)) == 4


# By family, how many matrices make its neurons; none where experts do, or one makes the gates too.
OF_NEURONS = {
    **dict.fromkeys(("gpt2", "gpt_neox", "opt", "phi"), 1),
    **dict.fromkeys(("mixtral", "gpt_oss", "granite_hybrid"), 0),
}


@pytest.mark.parametrize("family", DECODERS)
def test_steps_of_any_family_are_what_its_modules_are_given_and_give(family: str) -> None:
    model, ids = adopt(build(family)), given(family)["input_ids"]
    found, seen = run_inside(model, ids[0].tolist(), layer=1), {}
    sublayers = [one for one in model.sublayers if one.layer == 1]
    for one in sublayers:
        for module in (one.read, one.own_norm, one.matrix):
            if module is not None:
                module.register_forward_hook(lambda m, x, y: seen.update({m: (x[0], y)}))
    block = model.anatomy.of("decoder")[1].call.module
    block.register_forward_hook(lambda m, x, y: seen.update({m: (x[0], first_tensor(y))}))
    with torch.inference_mode():
        model.inner(ids)

    def same(name: str, module: torch.nn.Module, number: int) -> None:
        wanted = seen[module][number].flatten(0, -2)
        assert relative_error(found.values[name], wanted.numpy()) < 1e-5

    same("resid_pre", block, 0)
    same("resid_post", block, 1)
    for part, one in zip(("attn", "ffn"), sublayers, strict=True):
        if one.read is not None:
            same(one.reads, one.read, 0)
            same(f"{part}_norm", one.read, 1)
        if one.own_norm is not None:
            same(f"{part}_made", one.own_norm, 0)
            same(f"{part}_out", one.own_norm, 1)
        elif one.matrix is not None:
            same(f"{part}_out", one.matrix, 1)
    n_matrices = OF_NEURONS.get(family, 2)
    assert bool(found.function) == bool(n_matrices) and ("gate" in found.values) == (n_matrices > 1)
    if sublayers[-1].matrix is not None:
        same("activation", sublayers[-1].matrix, 0)
    assert max(identities(found).values()) < 1e-5
    assert all(norm.kind in ("layer", "rms") for norm in found.norms.values())


def test_the_gain_of_a_norm_is_what_it_does() -> None:
    inner = build("gemma3")
    found = run_inside(adopt(inner), [3, 1, 4, 1, 5], layer=1).norms["attn_norm"]
    weight = inner.model.layers[1].input_layernorm.weight.detach()
    np.testing.assert_allclose(found.gain, 1 + weight, atol=1e-5)
    assert found.eps == pytest.approx(1e-6, rel=1e-3) and not has_offset(found)


def test_an_identity_that_is_broken_shows() -> None:
    found = run_inside(tiny_model(), IDS, layer=0)
    broken = replace(found, values={**found.values, "resid_mid": found.values["resid_mid"] + 0.1})
    errors = identities(broken)
    assert errors["resid_mid = resid_pre + attn_out"] > 0.01
    assert errors["resid_post = resid_mid + ffn_out"] > 0.01


def test_norms_are_those_of_torch_and_of_one_vectors_statistics() -> None:
    numbers, small = statistics(np.array([1.0, 3.0, 5.0]), 1e-1), np.array([1.0, 3.0, 5.0])
    by_hand = (small - numbers.mean) / numbers.deviation, small / numbers.rms
    for kind, expected in zip(("layer", "rms"), by_hand, strict=True):
        np.testing.assert_allclose(normed(small[None], kind, 1e-1)[0], expected)
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
