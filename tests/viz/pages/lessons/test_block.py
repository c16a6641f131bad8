"""Protects the lesson on the block: its figures are the model's, and it says which model it is."""

from pathlib import Path

import numpy as np
import pytest

from model.sources import checkpoint
from tests.model.builders import SENTENCE, tiny_checkpoint
from tests.viz.apps import TOM, chart, lines, open_page, tables_shown
from tests.viz.builders import numbers, stories, stories_trace

TITLE = "Transformer block"
VARIANTS = {
    "pre": {"bias": False},
    "post": {"norm_placement": "post"},
    "rms": {"norm": "rms", "feedforward": "swiglu"},
    "relu": {"feedforward": "relu"},
}


def rounding(stream: np.ndarray) -> float:
    """How far two float32 runs may be apart that sum in another order.

    A sum of n terms is off by √n · u of its terms' size, u = 2⁻²⁴, where roundings are independent
    (Higham 2002, §2.8). Each of the layers adds two sublayers, of at most d_ff terms.
    """
    config = stories().config
    n_terms = 2 * config.n_layers * config.d_ff
    return float(np.sqrt(n_terms) * 2**-24 * np.abs(stream).max())


def test_figures_are_of_the_chosen_token_and_layer() -> None:
    app = open_page(TITLE, sentence=TOM, layer="3", token="4", block_norm="ffn")
    assert lines(app, "error") == []
    residual = stories_trace(TOM).residuals[3]
    before = residual.resid_mid[4]
    off = rounding(before)
    np.testing.assert_allclose(numbers(chart(app, "block-norm").data[0]["x"]), before, atol=off)
    normed = numbers(chart(app, "block-norm").data[0]["y"])
    deviation = np.sqrt(before.var() + stories().config.norm_eps)
    expected = (before - before.mean()) / deviation
    np.testing.assert_allclose(normed, expected, atol=2 * off / deviation)
    lengths = numbers(chart(app, "block-lengths").data[0]["x"])
    ends = np.stack([residual.resid_pre[4], residual.resid_post[4]])
    expected = np.linalg.norm(ends, axis=1)
    assert lengths[[0, -1]] == pytest.approx(expected, abs=rounding(ends))


@pytest.mark.parametrize("variant", VARIANTS)
def test_other_models_are_described_as_they_are(variant: str, shelf: Path) -> None:
    config = VARIANTS[variant]
    folder = tiny_checkpoint(shelf / "tiny", **config)
    app = open_page(TITLE, sentence=SENTENCE, layer="1", token="2")
    assert lines(app, "error") == []
    loaded = checkpoint.load(folder, "cpu")
    given = loaded.trace(SENTENCE).trace.residuals[1].resid_pre[2]
    if variant == "post":  # there the norm reads the sum
        given = given + loaded.trace(SENTENCE).trace.residuals[1].attn_out[2]
    np.testing.assert_allclose(numbers(chart(app, "block-norm").data[0]["x"]), given, atol=1e-5)
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
    assert len(chart(app, "block-gain").data) == len({"gain", *offsets})


def test_identities_are_said_with_their_error() -> None:
    app = open_page(TITLE, sentence=TOM)
    said = [e.proto.body for e in app.get("html") if "property <b>verified" in e.proto.body]
    assert sum("resid_mid = resid_pre + attn_out" in line for line in said) == 1
    assert len(said) == 4
