"""Protects the checks against an independent run: what is off is named; arrays by address."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from model.sources import checkpoint
from model.sources.checkpoint import Checkpoint
from model.trace import Trace
from model.verify.independent import check_independently
from tests.model.builders import GROUPED, SENTENCE, tiny_checkpoint


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Checkpoint:
    """A small model with grouped heads and a bias."""
    folder = tmp_path_factory.mktemp("tiny")
    return checkpoint.load(tiny_checkpoint(folder, position="alibi", **GROUPED), "cpu")


def with_record(trace: Trace, layer: int, **arrays: np.ndarray | None) -> Trace:
    """A trace with other arrays in one layer."""
    records = list(trace.attention)
    records[layer] = replace(records[layer], **arrays)
    return replace(trace, attention=tuple(records))


def failed(trace: Trace, loaded: Checkpoint) -> dict[str, float]:
    """The checks that failed, and their errors."""
    checks = check_independently(trace, loaded.files)
    return {item.name: item.error for item in checks if not item.passed}


def test_a_trace_of_the_model_passes(loaded: Checkpoint) -> None:
    trace = loaded.trace(SENTENCE).trace
    checks = check_independently(trace, loaded.files)
    assert [item.name for item in checks if not item.passed] == []
    n_heads = sum(record.n_heads for record in trace.attention)
    assert f"pattern of {n_heads} heads = an independent float64 run" in [x.name for x in checks]


def test_what_is_off_is_named_by_the_first_array(loaded: Checkpoint) -> None:
    trace = loaded.trace(SENTENCE).trace
    pattern = trace.attention[1].pattern
    off = with_record(trace, 1, pattern=np.ascontiguousarray(pattern[::-1]))
    (name,) = failed(off, loaded)
    assert name.endswith("first in decoder.blocks.1.attn.pattern")


def test_what_is_missing_or_too_much_is_an_infinite_error(loaded: Checkpoint) -> None:
    trace = loaded.trace(SENTENCE).trace
    (error,) = failed(with_record(trace, 0, bias=None), loaded).values()
    assert error == math.inf
    sinusoidal = checkpoint.load(tiny_checkpoint(Path(loaded.folder).parent / "other"), "cpu")
    plain = sinusoidal.trace(SENTENCE).trace
    added = with_record(plain, 0, bias=np.zeros_like(plain.attention[0].scores))
    (error,) = failed(added, sinusoidal).values()
    assert error == math.inf
