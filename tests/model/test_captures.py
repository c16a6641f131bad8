"""Protects what leaves a forward pass of an encoder, an encoder-decoder and a vision model."""

from dataclasses import fields

import numpy as np
import pytest
import torch

from model.capture import CLASS_TOKEN, capture, capture_image, capture_translation
from model.trace import Site, Trace
from tests.model.builders import (
    CAPTURED,
    all_arrays,
    every_trace,
    tiny_encoder,
    tiny_picture,
    tiny_translator,
    tiny_vision,
    translation_trace,
)

SOURCE, TARGET = ([3, 1, 4, 1, 5], list("abcde")), ([2, 7, 1], list("xyz"))


@pytest.mark.parametrize("name", CAPTURED)
def test_captured_is_uncaptured_and_frozen(name: str) -> None:
    model, trace = every_trace()[name]
    batch = trace.given if isinstance(trace.given, tuple) else (trace.given,)
    logits = model(*(torch.tensor(x)[None] for x in batch)).numpy()
    np.testing.assert_allclose(trace.logits, logits.reshape(trace.logits.shape), atol=1e-5)
    for address, array in all_arrays(trace).items():
        assert not array.flags.writeable, address
        assert array.dtype.kind in "fib", address


def test_a_translation_has_two_streams_and_three_kinds_of_attention() -> None:
    trace = translation_trace(tiny_translator())
    assert [(x.name, x.kind, len(x)) for x in trace.streams] == [
        ("encoder", "text", 5), ("decoder", "text", 3)
    ]  # fmt: skip
    assert [group.name for group in trace.groups] == [
        "encoder.attn", "decoder.attn", "decoder.cross_attn"
    ]  # fmt: skip
    assert [len(group.records) for group in trace.groups] == [3, 2, 2]
    assert [x.site.address for x in trace.attention[3:]] == [
        "decoder.blocks.0.attn", "decoder.blocks.0.cross_attn",
        "decoder.blocks.1.attn", "decoder.blocks.1.cross_attn",
    ]  # fmt: skip
    assert trace.tokens == ("x", "y", "z")
    assert [x.tolist() for x in trace.given] == [SOURCE[0], TARGET[0]]
    assert trace.output.shape == (3, 17)


def test_cross_attention_is_a_rectangle_of_target_by_source() -> None:
    trace = translation_trace(tiny_translator(d_model=36, n_heads=6, n_kv_heads=2))
    record = trace.record(Site("decoder", "cross", 1))
    assert (record.queries, record.keys) == ("decoder", "encoder")
    assert record.pattern.shape == (6, 3, 5)
    assert (record.q.shape, record.k.shape) == ((6, 3, 6), (2, 5, 6))
    assert record.mask.all(), "every word of the source may be attended to"
    own = trace.record(Site("decoder", "self", 1))
    np.testing.assert_array_equal(own.mask, np.tri(3, dtype=bool))
    assert trace.record(Site("encoder", "self", 2)).mask.all()


def test_a_picture_is_a_row_of_patches_behind_the_class_token() -> None:
    picture = tiny_picture()
    trace = capture_image(tiny_vision(), picture)
    assert (trace.main.name, trace.main.kind, trace.main.ids) == ("encoder", "patches", None)
    assert trace.tokens == (CLASS_TOKEN, *(f"{row},{x}" for row in range(3) for x in range(3)))
    np.testing.assert_array_equal(trace.given, picture)
    assert trace.logits.shape == (1, 5)
    assert trace.attention[0].pattern.shape == (3, 10, 10)
    picture[0] = 7
    assert trace.given.max() <= 1, "the trace has its own copy"


def test_facts_are_of_the_config() -> None:
    for name, (model, trace) in every_trace().items():
        assert trace.facts.architecture == name
        for field in fields(trace.facts):
            if hasattr(model.config, field.name):
                assert getattr(trace.facts, field.name) == getattr(model.config, field.name)
    traces = {name: trace for name, (_, trace) in every_trace().items()}
    assert {name: trace.facts.predicts for name, trace in traces.items()} == {
        "decoder": "next token", "encoder": "hidden token", "encoder_decoder": "next token",
        "vision": "class",
    }  # fmt: skip
    assert {name for name, trace in traces.items() if "logits" in trace.offers} == {
        "decoder",
        "encoder_decoder",
    }, "those of the next token, which views show as that"
    assert traces["vision"].facts.vocab_size is None
    assert every_trace()["encoder"][1].facts.mask is None


def test_a_mask_takes_the_place_of_seeing_everything() -> None:
    mask = np.tri(5, dtype=bool)
    trace = capture(tiny_encoder(), *SOURCE, mask)
    np.testing.assert_array_equal(trace.attention[0].mask, mask)
    assert (trace.attention[0].pattern[:, ~mask] == 0).all()
    only_itself = np.eye(10, dtype=bool)
    trace = capture_image(tiny_vision(), tiny_picture(), only_itself)
    np.testing.assert_array_equal(trace.attention[1].pattern[0], np.eye(10))
    with pytest.raises(ValueError, match=r"mask has shape .* expected \(1, 10, 10\)"):
        capture_image(tiny_vision(), tiny_picture(), np.eye(9, dtype=bool))


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="5 ids but 1 tokens"):
        capture_translation(tiny_translator(), ([3, 1, 4, 1, 5], ["a"]), TARGET)
    with pytest.raises(ValueError, match=r"call model\.eval"):
        capture_image(tiny_vision(dropout=0.2).train(), tiny_picture())
    with pytest.raises(ValueError, match=r"call model\.eval"):
        capture(tiny_encoder(attention_dropout=0.2).train(), *SOURCE)


def test_a_trace_of_attention_alone_has_no_input() -> None:
    trace = translation_trace(tiny_translator())
    bare = tuple(type(x)(x.name, x.kind, x.labels) for x in trace.streams)
    with pytest.raises(ValueError, match="has no input"):
        _ = Trace(trace.facts, bare, trace.attention).given
