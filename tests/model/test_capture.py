"""Protects what leaves a forward pass: shapes, frozen, and nobody else's numbers."""

import dataclasses
from typing import Any

import numpy as np
import pytest
import torch

from model.capture import capture, capture_batch
from model.trace import Trace
from model.verify.check import relative_error
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


@pytest.mark.parametrize("variant", VARIANTS)
def test_arrays_have_the_published_names_and_shapes(variant: dict[str, Any]) -> None:
    arrays = dict(tiny_trace(tiny_model(**GROUPED, **variant)).arrays())
    attention = {
        "scale": (), "mask": (T, T), "q": (H, T, DH), "k": (KV, T, DH), "v": (KV, T, DH),
        "z": (H, T, DH), "scores": (H, T, T), "pattern": (H, T, T),
    }  # fmt: skip
    attention |= {"bias": (H, T, T)} if variant["position"] == "alibi" else {}
    residuals = ("resid_pre", "resid_mid", "resid_post", "attn_out", "ffn_out")
    block = {f"attn.{name}": shape for name, shape in attention.items()}
    block |= dict.fromkeys(residuals, (T, D))
    stream = {"ids": (T,), "labels": (T,), "embed": (T, D), "positions": (T, D)}
    expected = {f"decoder.{name}": shape for name, shape in stream.items()} | {"output": (T, V)}
    for layer in range(L):
        expected |= {f"decoder.blocks.{layer}.{name}": shape for name, shape in block.items()}
    assert {name: array.shape for name, array in arrays.items()} == expected
    kinds = {name.rpartition(".")[2]: array.dtype.kind for name, array in arrays.items()}
    assert {name for name, kind in kinds.items() if kind != "f"} == {"ids", "labels", "mask"}
    assert (kinds["ids"], kinds["labels"], kinds["mask"]) == ("i", "U", "b")


def test_no_record_of_a_trace_can_be_changed() -> None:
    trace = tiny_trace(tiny_model())
    for record in (trace, trace.main, trace.attention[0], trace.residuals[0]):
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


def test_dropout_is_absent_from_traces() -> None:
    model = tiny_model(dropout=0.3)
    assert_equal(tiny_trace(model), tiny_trace(tiny_model()))
    logits = model(tiny_ids())
    model.train()
    assert not torch.allclose(model(tiny_ids()), logits)
    with pytest.raises(ValueError, match="drops values while it is being trained; call"):
        tiny_trace(model)


@pytest.mark.parametrize(
    ("ids", "tokens", "message"),
    [
        ([], [], "0 tokens; give at least 1"),
        ([1] * 13, ["a"] * 13, "13 tokens, .* context of 11 tokens; shorten it to 11"),
        ([1, 2, 3], ["a", "b"], "3 ids but 2 tokens"),
    ],
)
def test_impossible_sentences_are_refused(ids: list[int], tokens: list[str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        capture(tiny_model(), ids, tokens)


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
            assert relative_error(all_arrays(trace)[name], array) < 1e-5, name
