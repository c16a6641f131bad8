"""Protects what leaves a forward pass: shapes, frozen, and nobody else's numbers."""

import dataclasses
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import torch

from model import attention
from model.capture import NO_RECORDER, Recorder, Trace, capture, capture_batch
from model.transformer import DecoderTransformer
from tests.model.builders import GROUPED, all_arrays, tiny_ids, tiny_model, tiny_trace

L, H, KV, T, DH, D, V = 2, 6, 2, 7, 6, 36, 17
VARIANTS = [
    {"position": "sinusoidal", "scale_embeddings": True},
    {"position": "rope", "mask": "sliding_window", "window": 3},
    {"position": "alibi", "norm_placement": "post"},
    {"position": "none", "mask": "prefix", "prefix_len": 4},
    {"position": "learned", "mask": "global_tokens", "window": 2, "n_global": 1},
]


def assert_equal(actual: Trace, expected: Trace) -> None:
    """Every array of two traces is the same, bit for bit."""
    pairs = all_arrays(actual), all_arrays(expected)
    assert pairs[0].keys() == pairs[1].keys()
    for name, array in pairs[0].items():
        np.testing.assert_array_equal(array, pairs[1][name], err_msg=name)


def test_two_threads_get_what_each_would_get_alone() -> None:
    model = tiny_model(n_layers=3)
    alone = [tiny_trace(model, seed) for seed in (1, 2)]
    assert not np.array_equal(alone[0].logits, alone[1].logits)
    start_line = threading.Barrier(2)

    def capture_together(seed: int) -> Trace:
        start_line.wait()
        return tiny_trace(model, seed)

    with ThreadPoolExecutor(2) as threads:
        for _ in range(100):
            for together, expected in zip(
                threads.map(capture_together, (1, 2)), alone, strict=True
            ):
                assert_equal(together, expected)


@pytest.mark.parametrize("variant", VARIANTS)
def test_captured_logits_are_the_uncaptured(variant: dict[str, Any]) -> None:
    model = tiny_model(**GROUPED, **variant)
    trace = tiny_trace(model)
    logits = model(tiny_ids())[0].numpy()
    assert np.abs(logits).max() > 0.1
    np.testing.assert_allclose(trace.logits, logits, atol=1e-5, rtol=0)


@pytest.mark.parametrize("variant", VARIANTS)
def test_arrays_have_the_published_names_and_shapes(variant: dict[str, Any]) -> None:
    arrays = dict(tiny_trace(tiny_model(**GROUPED, **variant)).arrays())
    expected = {
        "ids": (T,), "tokens": (T,), "embed": (T, D), "positions": (T, D), "mask": (T, T),
        "q": (L, H, T, DH), "k": (L, KV, T, DH), "v": (L, KV, T, DH), "z": (L, H, T, DH),
        "scores": (L, H, T, T), "pattern": (L, H, T, T), "logits": (T, V),
    }  # fmt: skip
    residuals = ("resid_pre", "resid_mid", "resid_post", "attn_out", "ffn_out")
    expected |= dict.fromkeys(residuals, (L, T, D))
    expected |= {"bias": (L, H, T, T)} if variant["position"] == "alibi" else {}
    assert {name: array.shape for name, array in arrays.items()} == expected
    kinds = {name: array.dtype.kind for name, array in arrays.items()}
    assert {name for name, kind in kinds.items() if kind != "f"} == {"ids", "tokens", "mask"}
    assert (kinds["ids"], kinds["tokens"], kinds["mask"]) == ("i", "U", "b")


@pytest.mark.parametrize("variant", VARIANTS)
def test_positions_are_zero_where_nothing_is_added(variant: dict[str, Any]) -> None:
    trace = tiny_trace(tiny_model(**GROUPED, **variant))
    assert (np.abs(trace.positions).max() > 0) == (variant["position"] in ("sinusoidal", "learned"))
    np.testing.assert_array_equal(trace.embed + trace.positions, trace.residuals[0].resid_pre)


def test_q_and_k_are_what_enters_the_product() -> None:
    """After RoPE: another scheme turns nothing, at position 0 neither does RoPE."""
    rope, plain = (tiny_model(position=name) for name in ("rope", "none"))
    plain.load_state_dict(rope.state_dict())
    turned, straight = tiny_trace(rope).attention[0], tiny_trace(plain).attention[0]
    for name in ("q", "k"):
        difference = np.abs(getattr(turned, name) - getattr(straight, name)).max(axis=(0, 2))
        assert difference[0] < 1e-6
        assert (difference[1:] > 1e-3).all()
    np.testing.assert_array_equal(turned.v, straight.v)


def test_trace_says_what_it_is_of() -> None:
    model = tiny_model()
    trace = capture(model, [3, 1, 4], ["a", "b", "c"])
    assert trace.config == model.config
    assert trace.ids.tolist() == [3, 1, 4]
    assert trace.tokens == ("a", "b", "c")
    for layer, record in enumerate(trace.attention):
        assert (record.stack, record.layer, record.kind) == ("decoder", layer, "self")
        assert record.query_tokens == record.key_tokens == trace.tokens


@pytest.mark.parametrize("variant", VARIANTS)
def test_nothing_in_a_trace_can_be_changed(variant: dict[str, Any]) -> None:
    trace = tiny_trace(tiny_model(**variant))
    for name, array in all_arrays(trace).items():
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
        assert not array.flags.writeable, name
    for record in (trace, trace.attention[0], trace.residuals[0]):
        field = dataclasses.fields(record)[0].name
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(record, field, None)


@pytest.mark.parametrize("position", ["sinusoidal", "learned", "alibi"])
def test_a_trace_outlives_the_weights(position: str) -> None:
    """No array shares memory with the model."""
    model = tiny_model(position=position)
    trace = tiny_trace(model)
    before = {name: array.copy() for name, array in all_arrays(trace).items()}
    for tensor in (*model.parameters(), *model.buffers()):
        tensor.fill_(7.0)
    for name, array in all_arrays(trace).items():
        np.testing.assert_array_equal(array, before[name], err_msg=name)


def test_without_a_recorder_attention_is_fused_and_nothing_is_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model: DecoderTransformer = tiny_model()
    monkeypatch.delattr(attention, "scaled_dot_product")
    assert model(tiny_ids()).isfinite().all()
    assert NO_RECORDER.values == {}
    assert NO_RECORDER.scope("blocks.0") is NO_RECORDER


def test_with_a_recorder_attention_is_explicit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(attention, "fused_attention")
    assert tiny_trace(tiny_model()).logits.shape == (T, V)


def test_addresses_are_paths_and_absent_values_are_not_kept() -> None:
    recorder = Recorder()
    tiny_model(position="rope")(tiny_ids(), recorder=recorder)
    attn = {"q", "k", "v", "mask", "scores", "pattern", "z"}
    resid = {"resid_pre", "attn_out", "resid_mid", "ffn_out", "resid_post"}
    per_layer = {f"attn.{name}" for name in attn} | resid
    expected = {f"blocks.{layer}.{name}" for layer in range(2) for name in per_layer}
    assert recorder.values.keys() == expected | {"embed"}


def test_a_model_in_training_can_be_captured() -> None:
    model = tiny_model().requires_grad_(True).train()
    assert tiny_trace(model).logits.shape == (T, V)
    assert all(weight.grad is None for weight in model.parameters())
    assert torch.is_grad_enabled()


@pytest.mark.parametrize(
    ("ids", "tokens", "message"),
    [
        ([], [], "0 tokens; give at least 1"),
        ([1] * 13, ["a"] * 13, "13 tokens .* context is 11; shorten it to 11"),
        ([1, 2, 3], ["a", "b"], "3 ids but 2 tokens"),
    ],
)
def test_impossible_sentences_are_refused(ids: list[int], tokens: list[str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        capture(tiny_model(), ids, tokens)


def test_a_mask_takes_the_place_of_the_models_own() -> None:
    model, ids = tiny_model(position="alibi"), [3, 1, 4, 1]
    mask = np.array([[1, 1, 0, 0], [0, 1, 0, 1], [0, 0, 0, 0], [1, 1, 1, 1]], dtype=bool)
    trace = capture(model, ids, list("abcd"), mask)
    for record in trace.attention:
        np.testing.assert_array_equal(record.mask, mask)
        assert (record.pattern[:, ~mask] == 0).all()
        assert (record.pattern[:, mask] > 0).all()
        assert (record.z[:, 2] == 0).all(), "a row that may read nothing"
    own = capture(model, ids, list("abcd"))
    assert_equal(capture(model, ids, list("abcd"), np.tri(4, dtype=bool)), own)


@pytest.mark.parametrize("shape", [(3, 3), (4, 3), (4, 5)])
def test_a_mask_of_another_shape_is_refused(shape: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match=r"mask has shape .* the tokens ask for \(1, 4, 4\)"):
        capture(tiny_model(), [3, 1, 4, 1], list("abcd"), np.ones(shape, dtype=bool))


@pytest.mark.parametrize("variant", VARIANTS)
def test_each_sentence_of_a_batch_is_as_if_alone(variant: dict[str, Any]) -> None:
    model = tiny_model(**GROUPED, **variant)
    batch, masks = tiny_ids(3).tolist(), np.random.default_rng(0).random((3, T, T)) < 0.7
    masks |= np.eye(T, dtype=bool)
    together = capture_batch(model, batch, [list("abcdefg")] * 3, masks)
    for ids, mask, trace in zip(batch, masks, together, strict=True):
        alone = capture(model, ids, list("abcdefg"), mask)
        assert trace.ids.tolist() == ids
        for name, array in all_arrays(alone).items():
            np.testing.assert_allclose(all_arrays(trace)[name], array, atol=1e-5, err_msg=name)
