"""Protects a stream as a sum of its writers: at every sublayer it is the run's own stream."""

import numpy as np
import pytest
import torch

from model.analysis.writers import Stretch, Writer, written
from model.architectures.base import Transformer
from model.frozen_norm import frozen
from model.trace import Trace
from model.work import result_of
from tests.model.adopted.test_parts import FAMILIES, captured
from tests.model.analysis.test_attribution import CASES, Changes, Make, ran
from tests.model.builders import tiny_translator

OFF = 5e-6  # of the largest value of a stream: what float32 leaves in the runs of small models


def check_sums(model: Transformer, trace: Trace) -> None:
    """All that was written is the stream, wherever it is read, and at the end."""
    for parts in model.stacks:
        residuals = trace.stream(parts.name).residuals
        reads = [(one.layer, one.writes, one.reads) for one in parts.sublayers]
        places = [((layer, writes), getattr(residuals[layer], at)) for layer, writes, at in reads]
        of_one_stream = [at == "resid_pre" and writes != "attn_out" for _, writes, at in reads]
        for (place, stream), reads_earlier in zip(places, of_one_stream, strict=True):
            if not reads_earlier:
                whole = result_of(written(Stretch(trace, model, parts.name, place))).whole
                assert_same(whole, stream)
        whole = result_of(written(Stretch(trace, model, parts.name))).whole
        assert_same(whole, residuals[-1].resid_post)


def assert_same(found: torch.Tensor, stream: np.ndarray) -> None:
    np.testing.assert_allclose(found, stream, rtol=0, atol=OFF * np.abs(stream).max())


@pytest.mark.parametrize(("make", "changes"), CASES)
def test_of_our_models_writers_add_up_to_every_stream(make: Make, changes: Changes) -> None:
    check_sums(*ran(make(**changes)))


@pytest.mark.parametrize("family", FAMILIES)
def test_of_models_of_others_writers_add_up_to_every_stream(family: str) -> None:
    check_sums(*captured(family))


def test_writers_are_named_in_the_order_of_the_pass() -> None:
    model, trace = ran(tiny_translator())
    stretch = Stretch(trace, model, "decoder", (1, "attn_out"))
    names = [one.name for one in result_of(written(stretch)).writers]
    heads = [f"H{head}" for head in range(model.config.n_heads)]
    assert names == [
        "embedding",
        "position",
        *(f"L0 {head}" for head in heads),
        *(f"L0 cross {head}" for head in heads),
        "MLP 0",
    ]
    assert Writer("attention", 3).name == "L3 attention"


def test_what_is_no_norm_is_refused() -> None:
    with pytest.raises(ValueError, match="a Tanh is no norm"):
        frozen(torch.nn.Tanh(), torch.linspace(-2, 2, 12).double().view(3, 4))
