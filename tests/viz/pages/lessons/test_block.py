"""Protects the lesson on the block: its figures are the model's, and it says which model it is."""

from pathlib import Path

import numpy as np
import pytest

from model.sources import checkpoint
from model.verify.independent import IndependentRun
from tests.model.builders import SENTENCE, tiny_checkpoint
from tests.viz.apps import TOM, chart, lines, open_page, tables_shown
from tests.viz.builders import numbers, stories, stories_trace

TITLE = "The block"
VARIANTS = {
    "pre": {"bias": False},
    "post": {"norm_placement": "post"},
    "rms": {"norm": "rms", "feedforward": "swiglu"},
    "relu": {"feedforward": "relu"},
}


def test_figures_are_those_of_the_independent_code() -> None:
    app = open_page(TITLE, sentence=TOM, layer="3", block_token="4", block_norm="ffn")
    assert lines(app, "error") == []
    run = IndependentRun(stories().files, stories_trace(TOM).ids)
    for key, name, addresses in (
        ("block-steps", "z", ["block.shares.3.4"]),
        ("block-lengths", "x", ["block.lengths.3.4"]),
        ("block-norm", "x", ["block.normed.0.3.1.4"]),
        ("block-norm", "y", [f"block.normed.{kind}.3.1.4" for kind in (1, 2, 3)]),
        ("block-gain", "y", ["block.gain.3.1"]),
        ("block-tokens", "y", [f"block.tokens.{kind}.3.1" for kind in (1, 2, 3)]),
        ("block-dimensions", "y", [f"block.dimensions.{kind}.3.1" for kind in (1, 2, 3)]),
        ("block-neurons", "y", ["block.activations.3.4"]),
        ("block-heights", "y", ["block.heights.4", "block.attn.4", "block.ffn.4"]),
    ):
        for trace, address in zip(chart(app, key).data, addresses, strict=False):
            expected = run.array(address)
            error = np.abs(numbers(trace[name]) - expected).max()
            assert error <= 1e-5 * np.abs(expected).max(), address


@pytest.mark.parametrize("variant", VARIANTS)
def test_other_models_are_described_as_they_are(variant: str, shelf: Path) -> None:
    config = VARIANTS[variant]
    folder = tiny_checkpoint(shelf / "tiny", **config)
    app = open_page(TITLE, sentence=SENTENCE, layer="1", block_token="2")
    assert lines(app, "error") == []
    loaded = checkpoint.load(folder, "cpu")
    run = IndependentRun(loaded.files, loaded.trace(SENTENCE).trace.ids)
    for key, name, address in (
        ("block-steps", "z", "block.shares.1.2"),
        ("block-norm", "x", "block.normed.0.1.0.2"),
        ("block-neurons", "y", "block.activations.1.2"),
    ):
        expected, shown = run.array(address), numbers(chart(app, key).data[0][name])
        assert np.abs(shown - expected).max() <= 1e-5 * np.abs(expected).max(), address
    placement = "post-norm" if variant == "post" else "pre-norm"
    said = " ".join(x.value for x in app.markdown)
    assert f"This model is {placement}" in said
    assert ("has RMSNorm." in said) == (variant == "rms")
    (orders,) = tables_shown(app)
    assert f"{placement}, this model" in orders
    names = list(chart(app, "block-steps").data[0]["y"])
    assert [name.partition(" ")[2] for name in names] == list(
        orders[f"{placement}, this model"].values()
    )
    offsets = {"offset"} if variant in ("post", "relu") else set()
    points = chart(app, "block-function").data[-1]
    np.testing.assert_allclose(
        numbers(points["y"]), run.array("block.after.1.2"), rtol=1e-4, atol=1e-6
    )
    assert len(chart(app, "block-gain").data) == len({"gain", *offsets})


def test_identities_are_said_with_their_error() -> None:
    app = open_page(TITLE, sentence=TOM)
    said = [e.proto.body for e in app.get("html") if "property <b>verified" in e.proto.body]
    assert sum("resid_mid = resid_pre + attn_out" in line for line in said) == 1
    assert len(said) == 4


def test_one_token_alone_has_no_batch_to_be_normalised_by() -> None:
    app = open_page(TITLE, sentence="Tom")
    batch = numbers(chart(app, "block-norm").data[2]["y"])
    assert (batch == 0).all() == (len(stories_trace("Tom").ids) == 1)


def test_colours_of_one_scale_show_the_values_themselves() -> None:
    app = open_page(TITLE, sentence=TOM, block_colour="one", layer="2")
    run = IndependentRun(stories().files, stories_trace(TOM).ids)
    expected = run.array(f"block.steps.2.{len(stories_trace(TOM).ids) - 1}")
    shown = numbers(chart(app, "block-steps").data[0]["z"])
    np.testing.assert_allclose(shown, expected, atol=1e-5 * np.abs(expected).max())
