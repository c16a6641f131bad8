"""Protects the self-check: it passes what is true and each check fails on its own lie."""

import math
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from torch import Tensor

from model.architectures.decoder import DecoderTransformer
from model.capture import capture
from model.decoding.kv_cache import LayerCache
from model.trace import Trace
from model.verify.check import Check, relative_error, worst
from model.verify.records import recomputed_pattern, recomputed_scores
from model.verify.self_check import check
from tests.model.builders import GROUPED, pattern_of, tiny_model, tiny_trace, with_cell

ROW_SUMS = "each row of the pattern sums to one"
MASKED = "masked cells are exactly zero"
SCORES = "scores = scale · q·kᵀ + bias, in float64"
PATTERN = "pattern = softmax of the masked scores, in float64"
VALUES = "z = pattern·v, in float64"
FUSED = "explicit attention = torch's fused attention"
EMBEDDING = "embeddings and positions are the model's own"
INPUT = "embed + positions = resid_pre of layer 0"
PROJECTIONS = "q, k, v = this model's projections of its residual stream"
ATTN_OUT = "attn_out = out_proj(z)"
FFN_OUT = "ffn_out = feed-forward of resid_mid"
RESIDUALS = "resid_mid and resid_post are the residual sums"
CONNECT = "each layer starts where the one before ended"
LOGITS = "logits = unembed(final_norm(resid_post))"
UNCAPTURED = "logits with capture = logits without"
CACHED = "cached decoding = whole-sequence decoding"

# A cell of the trace, in the last layer, and the checks that must notice when it lies.
LIES = {
    "attention.q[1, 5, 3]": {SCORES, PATTERN, FUSED, PROJECTIONS},
    "attention.k[1, 2, 3]": {SCORES, PATTERN, FUSED, PROJECTIONS},
    "attention.v[1, 2, 3]": {VALUES, FUSED, PROJECTIONS},
    "attention.bias[1, 5, 2]": {SCORES, PATTERN, FUSED},
    "attention.scores[1, 5, 2]": {SCORES},
    "attention.scores[1, 2, 5]": {SCORES},  # a masked cell
    "attention.pattern[1, 5, 2]": {ROW_SUMS, PATTERN, VALUES},
    "attention.pattern[1, 2, 5]": {ROW_SUMS, MASKED, PATTERN, VALUES},
    "attention.z[1, 5, 3]": {VALUES, FUSED, ATTN_OUT},
    "residuals.resid_pre[5, 3]": {PROJECTIONS, RESIDUALS, CONNECT},
    "residuals.attn_out[5, 3]": {ATTN_OUT, RESIDUALS},
    "residuals.resid_mid[5, 3]": {FFN_OUT, RESIDUALS},
    "residuals.ffn_out[5, 3]": {FFN_OUT, RESIDUALS},
    "residuals.resid_post[5, 3]": {RESIDUALS, LOGITS},
    "stream.embed[5, 3]": {EMBEDDING, INPUT},
    "stream.positions[5, 3]": {EMBEDDING, INPUT},
    "output[5, 3]": {LOGITS, UNCAPTURED, CACHED},
}


@cache
def honest(placement: str = "pre") -> tuple[DecoderTransformer, Trace]:
    """A model with grouped heads and a bias, and its trace."""
    model = tiny_model(**GROUPED, position="alibi", norm_placement=placement)
    return model, tiny_trace(model)


def failed(trace: Trace, placement: str = "pre") -> set[str]:
    """Names of the checks that fail."""
    return {item.name for item in check(trace, honest(placement)[0]) if not item.passed}


@pytest.mark.parametrize("placement", ["pre", "post"])
def test_the_truth_passes(placement: str) -> None:
    model, trace = honest(placement)
    checks = check(trace, model)
    assert failed(trace, placement) == set()
    assert {item.name for item in checks} == set.union(*LIES.values())
    assert worst(checks).error < 1e-5


@pytest.mark.parametrize("placement", ["pre", "post"])
@pytest.mark.parametrize("added", [0.5, math.nan, math.inf], ids=str)
@pytest.mark.parametrize(("address", "expected"), LIES.items())
def test_each_lie_is_found(address: str, expected: set[str], added: float, placement: str) -> None:
    """Also one that is not a number."""
    lie = with_cell(honest(placement)[1], address, lambda x: x + added)
    assert expected <= failed(lie, placement)


def shifted_keys(keys: Tensor, values: Tensor) -> None:
    """Each key in the place of the next token's."""
    keys.copy_(keys.roll(1, dims=2))


def lost_value(keys: Tensor, values: Tensor) -> None:
    """The oldest token's value is gone."""
    values[:, :, 0] = 0.0


@pytest.mark.parametrize("fault", [shifted_keys, lost_value])
@pytest.mark.parametrize("placement", ["pre", "post"])
def test_a_broken_cache_is_found(
    placement: str, fault: Callable[[Tensor, Tensor], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever a cache gets wrong about earlier tokens shows in this check, and in no other."""
    append = LayerCache.append

    def broken(layer: LayerCache, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        held = append(layer, k, v)
        if layer.length:
            fault(*held)
        return held

    monkeypatch.setattr(LayerCache, "append", broken)
    assert failed(honest(placement)[1], placement) == {CACHED}


@pytest.mark.parametrize("seq_len", [1, 2, 3, 5])
@pytest.mark.parametrize("prefix_len", [0, 1, 4, 11])
def test_short_texts_and_prefixes_pass(prefix_len: int, seq_len: int) -> None:
    model = tiny_model(mask="prefix", prefix_len=prefix_len)
    ids = list(range(seq_len))
    checks = check(capture(model, ids, list(map(str, ids))), model)
    assert [item for item in checks if not item.passed] == []


@pytest.mark.parametrize("seed", range(3))
def test_any_mask_can_be_checked(seed: int) -> None:
    """Without a word on cached decoding, which knows the model's own mask alone."""
    model = honest()[0]
    mask = np.random.default_rng(seed).random((7, 7)) < 0.5
    mask[3] = False
    trace = capture(model, list(range(7)), list("abcdefg"), mask)
    checks = check(trace, model, mask)
    assert {item.name for item in checks} == set.union(*LIES.values()) - {CACHED}
    assert [item for item in checks if not item.passed] == []
    assert UNCAPTURED in {item.name for item in check(trace, model) if not item.passed}
    other = mask.copy()
    other[4, 2] = not other[4, 2]
    assert UNCAPTURED in {item.name for item in check(trace, model, other) if not item.passed}


@pytest.mark.parametrize("cell", ["2, 5", "5, 2"])
def test_another_mask_is_found(cell: str) -> None:
    lie = with_cell(honest()[1], f"attention.mask[{cell}]", lambda x: not x)
    hides = {MASKED} if cell == "5, 2" else set()
    assert {PATTERN, FUSED} | hides <= failed(lie)


def test_other_ids_and_another_model_are_found() -> None:
    trace = honest()[1]
    assert {EMBEDDING, UNCAPTURED} <= failed(
        with_cell(trace, "stream.ids[3]", lambda x: (x + 1) % 17)
    )
    other = tiny_model(seed=1, **GROUPED, position="alibi")
    found = {item.name for item in check(trace, other) if not item.passed}
    assert {EMBEDDING, PROJECTIONS, ATTN_OUT, FFN_OUT, LOGITS, UNCAPTURED} <= found


@pytest.mark.parametrize("position", ["rope", "none"])
@pytest.mark.parametrize("value", [0.5, math.nan], ids=str)
def test_positions_where_the_model_adds_none_are_found(position: str, value: float) -> None:
    model = tiny_model(position=position)
    lie = with_cell(tiny_trace(model), "stream.positions[5, 3]", lambda x: value)
    assert EMBEDDING in {item.name for item in check(lie, model) if not item.passed}


def test_the_smallest_error_that_matters_is_found() -> None:
    for address in ("attention.pattern[1, 5, 2]", "output[5, 3]"):
        lie = with_cell(honest()[1], address, lambda x: x + 1e-4)
        assert failed(lie) >= LIES[address] - {VALUES}
    hidden = with_cell(honest()[1], "attention.pattern[1, 2, 5]", lambda x: np.float32(1e-30))
    assert failed(hidden) == {MASKED}


def test_pattern_and_scores_recomputed_by_a_loop() -> None:
    for record in honest()[1].attention:
        np.testing.assert_allclose(recomputed_pattern(record), pattern_of(record), atol=1e-12)
        assert recomputed_scores(record).dtype == np.float64


def test_error_is_relative_above_one_only() -> None:
    small, large = np.array([0.1, 0.2]), np.array([1.0, -200.0])
    assert relative_error(small + 0.05, small) == pytest.approx(0.05)
    assert relative_error(large + 1.0, large) == pytest.approx(1 / 200)
    assert relative_error(small, small[:1]) == math.inf
    assert relative_error(np.array([math.nan]), np.zeros(1)) == math.inf
    assert not relative_error(np.zeros(1), np.array([math.nan])) <= 1e9


@pytest.mark.parametrize(
    ("errors", "expected"),
    [
        ([1e-9, 3e-7, 2e-8], "b"),
        ([1e-9, 3e-7, 2e-6], "c"),  # failed, and larger
        ([1e-5, 3e-7, 2e-8], "a"),
    ],
)
def test_badge_shows_the_worst(errors: list[float], expected: str) -> None:
    checks = [Check(name, error, 1e-6) for name, error in zip("abc", errors, strict=True)]
    assert worst(checks).name == expected


def test_badge_shows_a_failure_before_a_larger_error_within_its_bound() -> None:
    assert worst([Check("loose", 1e-5, 1e-4), Check("exact", 1e-9, 0.0)]).name == "exact"


@pytest.mark.parametrize(
    ("error", "is_passed"), [(1e-6, True), (2e-6, False), (math.inf, False), (math.nan, False)]
)
def test_passing_means_within_the_bound(error: float, is_passed: bool) -> None:
    assert Check("any", error, 1e-6).passed is is_passed
