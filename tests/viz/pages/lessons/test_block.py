"""Protects the lesson on the block: its figures are the model's, and it says which model it is."""

from pathlib import Path

import numpy as np
import pytest

from model.sources import checkpoint
from tests.model.builders import SENTENCE, tiny_checkpoint
from tests.viz.apps import TOM, chart, checks_shown, faultless, lesson, lines, open_page
from tests.viz.builders import numbers, stories, stories_trace

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
AT = {"sentence": TOM, "layer": "3", "token": "4"}
# Two runs of float32 that sum in another order, relative to the largest number.
CLOSE = 1e-5


def test_a_norm_is_of_the_chosen_token_and_layer() -> None:
    app = open_page(TITLE, scene="norms", block_norm="ffn", **AT)
    assert lines(app, "error") == []
    before = stories_trace(TOM).residuals[3].resid_mid[4]
    shown = chart(app, "block-norm").data[0]
    expected = (before - before.mean()) / np.sqrt(before.var() + stories().config.norm_eps)
    for axis, values in (("x", before), ("y", expected)):
        atol = CLOSE * np.abs(values).max()
        np.testing.assert_allclose(numbers(shown[axis]), values, atol=atol)
    assert f"in L3 a vector of length {np.linalg.norm(before):.0f} leaves LayerNorm" in lesson(app)


def test_the_stream_is_that_of_the_chosen_token_and_layer() -> None:
    residuals = stories_trace(TOM).residuals
    length = {
        name: [float(np.linalg.norm(getattr(x, name)[4])) for x in residuals]
        for name in ("resid_pre", "attn_out", "ffn_out", "resid_post")
    }
    app = open_page(TITLE, **AT)
    lengths = numbers(chart(app, "block-lengths").data[0]["x"])
    ends = [length["resid_pre"][3], length["resid_post"][3]]
    assert lengths[[0, -1]] == pytest.approx(ends, rel=CLOSE)
    added, stream = residuals[3].ffn_out[4], residuals[3].resid_mid[4]
    cosine = added @ stream / length["ffn_out"][3] / np.linalg.norm(stream)
    said = lesson(app)
    assert f"In L3 that of “ball” comes in with length {ends[0]:.0f}; attention adds" in said
    assert f"the MLP one of {length['ffn_out'][3]:.0f} at {cosine:.2f}." in said
    said = lesson(open_page(TITLE, scene="blocks", **AT))
    assert f"is {length['resid_pre'][0]:.0f} long before the first block, and " in said
    assert f"and {length['resid_post'][-1]:.0f} after the last." in said
    more = [i for i in range(6) if length["ffn_out"][i] > length["attn_out"][i]]
    assert f"Of this token: {', '.join(f'L{i}' for i in more)}." in said


def test_the_largest_neurons_have_their_share() -> None:
    app = open_page(TITLE, scene="neurons", **AT)
    squares = np.sort(numbers(chart(app, "block-neurons").data[0]["y"]) ** 2)
    share = 100 * squares[-16:].sum() / squares.sum()
    assert f"The 16 largest have {share:.0f} % of the sum of all squares." in lesson(app)


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
