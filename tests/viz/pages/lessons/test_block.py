"""Protects the lesson on the block: its figures are the model's, and it says which model it is."""

from pathlib import Path

import numpy as np
import pytest

from model.sources import checkpoint
from tests.model.builders import SENTENCE, tiny_checkpoint
from tests.viz.apps import TOM, chart, checks_shown, faultless, lesson, lines, open_page
from tests.viz.builders import numbers

TITLE = "Transformer block"
VARIANTS = {
    "pre": {"bias": False},
    "post": {"norm_placement": "post"},
    "rms": {"norm": "rms", "feedforward": "swiglu"},
    "relu": {"feedforward": "relu"},
}
STEPS = {
    "pre-norm": "stream, norm, attention, sum 1 + 3, norm, MLP, sum 4 + 6",
    "post-norm": "stream, attention, sum 1 + 2, norm, MLP, sum 4 + 5, norm",
}


# Two runs of float32 that sum in another order, relative to the largest number.
@pytest.mark.parametrize("variant", VARIANTS)
def test_other_models_are_described_as_they_are(variant: str, shelf: Path) -> None:
    config = VARIANTS[variant]
    folder = tiny_checkpoint(shelf / "tiny", **config)
    at = {"sentence": SENTENCE, "layer": "1", "token": "2"}
    app = open_page(TITLE, scene="norms", **at)
    assert lines(app, "error") == []
    loaded = checkpoint.load(folder, "cpu")
    given = loaded.trace(SENTENCE).trace.residuals[1].resid_pre[2]
    if variant == "post":  # there the norm reads the sum
        given = given + loaded.trace(SENTENCE).trace.residuals[1].attn_out[2]
    np.testing.assert_allclose(numbers(chart(app, "block-norm").data[0]["x"]), given, atol=1e-5)
    placement = "post-norm" if variant == "post" else "pre-norm"
    assert f"this model is {placement}." in lesson(app)
    assert ("leaves RMSNorm with" in lesson(app)) == (variant == "rms")
    offsets = {"offset"} if variant in ("post", "relu") else set()
    assert len(chart(app, "block-gain").data) == len({"gain", *offsets})
    names = list(chart(open_page(TITLE, **at), "block-steps").data[0]["y"])
    assert ", ".join(name.partition(" ")[2] for name in names) == STEPS[placement]


def test_identities_are_checked_with_the_run() -> None:
    names = [row["check"] for row in checks_shown(faultless(open_page(TITLE, sentence=TOM)))[0]]
    assert [name for name in names if name.startswith(("resid_mid = ", "resid_post = "))] == [
        "resid_mid = resid_pre + attn_out",
        "resid_post = resid_mid + ffn_out",
    ]
    assert sum("· gain" in name for name in names) == 2
