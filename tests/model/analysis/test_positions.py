"""Protects the promises of the position schemes: kept by the model, and found out when broken."""

import math
from functools import cache

import numpy as np
import pytest
import torch

from model import reference
from model.analysis.positions import (
    IDENTITIES,
    check_identities,
    check_slopes,
    moved_logits,
    outputs,
    permutation_error,
    product_error,
    rope_scores,
    rotation_error,
)
from model.architectures.decoder import DecoderTransformer
from model.capture import capture
from model.masks import full
from model.positions import (
    POSITIONS,
    Position,
    alibi_slopes,
    rope_angles,
    shift_waves,
    sinusoidal_encoding,
)
from model.trace import Trace
from tests.model.builders import (
    GROUPED,
    SEQ_LEN,
    causal_rows,
    normal,
    tiny_ids,
    tiny_model,
    tiny_trace,
)

FORWARD = list(range(SEQ_LEN))
RELATIVE = ("rope", "alibi", "none")


@cache
def honest(position: str) -> tuple[DecoderTransformer, Trace]:
    """A model with grouped heads, and its trace."""
    model = tiny_model(**GROUPED, position=position, max_seq_len=23)
    return model, tiny_trace(model)


@pytest.mark.parametrize("position", IDENTITIES)
def test_every_scheme_keeps_its_promises(position: str) -> None:
    model, trace = honest(position)
    checks = check_identities(trace, model)
    assert checks
    assert [item for item in checks if not item.passed] == []


@pytest.mark.parametrize("d_model", [2, 10, 128])
@pytest.mark.parametrize("base", [50.0, 10_000.0])
def test_waves_are_moved_by_one_rotation(d_model: int, base: float) -> None:
    waves = sinusoidal_encoding(torch.arange(300), d_model, base)
    assert rotation_error(waves, base) <= 1e-6
    assert product_error(waves, base) <= 1e-6
    by_formula = sinusoidal_encoding(torch.arange(70, 100), d_model, base)
    torch.testing.assert_close(
        shift_waves(waves[:30], 70, base).float(), by_formula, atol=1e-6, rtol=0
    )


@pytest.mark.parametrize("place", [(0, 0), (4, 1), (9, 5)])
def test_a_wrong_wave_is_found(place: tuple[int, int]) -> None:
    waves = sinusoidal_encoding(torch.arange(10), 6)
    waves[place] += 0.01
    assert rotation_error(waves, 10_000.0) > 5e-3
    assert product_error(waves, 10_000.0) > 5e-4


def test_rope_scores_of_moved_tokens() -> None:
    q, k = normal(3, 10, seed=1).numpy(), normal(4, 10, seed=2).numpy()
    here = rope_scores(q, k, [5, 6, 9], [2, 5, 0, 1], 10_000.0)
    moved = rope_scores(q, k, [405, 406, 409], [402, 405, 400, 401], 10_000.0)
    assert here.shape == (3, 4)
    np.testing.assert_allclose(moved, here, atol=1e-5)
    assert here[0, 1] == pytest.approx(q[0] @ k[1] / math.sqrt(10), abs=1e-6), "distance 0"
    apart = rope_scores(q, k, [405, 406, 409], [2, 5, 0, 1], 10_000.0)
    assert np.abs(apart - here).max() > 0.1


def test_a_rotation_that_counts_positions_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Angles that grow with the square of the position: no longer a matter of distance."""
    model, trace = honest("rope")

    def squared(at: torch.Tensor, d_head: int, base: float = 10_000.0) -> torch.Tensor:
        return rope_angles(at * at, d_head, base)

    monkeypatch.setattr("model.analysis.positions.rope_angles", squared)
    assert not any(item.passed for item in check_identities(trace, model))


@pytest.mark.parametrize("n_heads", [1, 2, 3, 6, 8, 12, 33])
def test_slopes_are_the_authors_for_any_number_of_heads(n_heads: int) -> None:
    slopes = alibi_slopes(n_heads).double().numpy()
    np.testing.assert_allclose(slopes, reference.alibi_slopes(n_heads), rtol=1e-6)
    assert check_slopes(slopes).passed
    slopes[-1] *= 1 + 1e-5
    assert not check_slopes(slopes).passed


@pytest.mark.parametrize("seed", [0])
def test_without_positions_and_mask_order_means_nothing(seed: int) -> None:
    model, ids = tiny_model(seed, position="none"), tiny_ids(seed=seed)[0].tolist()
    everything = full(SEQ_LEN).numpy()
    for order in (FORWARD[::-1], [2, 0, 1, 3, 6, 5, 4]):
        assert permutation_error(model, ids, order, everything) <= 1e-5
        moved = outputs(model, [ids[i] for i in order], everything)
        np.testing.assert_allclose(moved, outputs(model, ids, everything)[order], atol=1e-5)
        assert permutation_error(model, ids, order) > 1e-2, "the causal mask tells order"


def test_outputs_are_what_the_unembedding_reads() -> None:
    model, trace = honest("rope")
    ids = trace.ids.tolist()
    logits = model.unembed(torch.tensor(outputs(model, ids)))
    np.testing.assert_allclose(logits.numpy(), trace.logits, atol=1e-5)
    masked = outputs(model, ids, causal_rows(SEQ_LEN).numpy())
    np.testing.assert_allclose(masked, outputs(model, ids), atol=1e-6)


@pytest.mark.parametrize("position", POSITIONS)
@pytest.mark.parametrize("shift", [0, 1, 9])
def test_only_absolute_schemes_notice_that_all_moved(position: str, shift: int) -> None:
    model, trace = honest(position)
    moved = moved_logits(model, trace.ids.tolist(), shift)
    assert moved.shape == trace.logits.shape
    change = np.abs(moved - trace.logits).max()
    assert (change < 1e-4) == (shift == 0 or position in RELATIVE)


def test_moving_beyond_the_context_is_refused() -> None:
    model, trace = honest("learned")
    with pytest.raises(ValueError, match=r"27 tokens, .* context of 23"):
        moved_logits(model, trace.ids.tolist(), 20)


def test_a_broken_model_without_positions_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A scheme that says it adds nothing, and does."""
    model = tiny_model(position="none")
    trace = capture(model, FORWARD, list(map(str, FORWARD)))
    monkeypatch.setattr(Position, "added", lambda self, at: sinusoidal_encoding(at, 30))
    assert not check_identities(trace, model)[0].passed
