"""Protects the numbers behind the pages: recomputed here in float64, and never stale."""

import dataclasses
import gc
import weakref
from pathlib import Path

import numpy as np
import pytest
import torch

from model.data.tokenizer import train_characters
from model.decoding.filters import Sampling
from model.decoding.writing import write
from model.kv_cache import cache_bytes
from model.sources import checkpoint
from model.sources.handle import ModelHandle
from model.sources.places import WHERE
from tests.model.adopted.families import saved
from tests.model.builders import (
    GROUPED,
    tiny_checkpoint,
    tiny_model,
)
from viz import runs
from viz.runs import positions

CACHED = {
    "rope": {"position": "rope", **GROUPED},
    "prefix": {"mask": "prefix", "prefix_len": 4},
}


def handle(name: str) -> ModelHandle:
    """A model as its files are now, on the CPU."""
    return runs.handle_of(name, "cpu")


def test_nothing_is_written_for_who_asked_for_something_else(shelf: Path) -> None:
    tiny_checkpoint(shelf / "tiny", max_seq_len=24)
    ids, sampling = (3, 1, 4, 1, 5), Sampling(temperature=1.3, top_k=6, seed=5)
    tiny = handle("tiny")
    writing = write(runs.decoder(tiny), runs.end_ids(tiny), ids, sampling)
    assert (writing.steps, writing.stopped) == ([], None)
    writing.advance()
    assert writing.steps == [], "nobody asked for any"
    writing.run(9)
    writing.advance(60, lambda: True)
    assert len(writing.steps) == 1, "who asked for something else need not wait for the rest"


def test_replaced_checkpoint_is_not_remembered(shelf: Path) -> None:
    """A checkpoint trained again under its old name: all that is shown is the new one's."""
    folder = tiny_checkpoint(shelf / "mine")
    before = [
        runs.vocabulary(handle("mine")),
        positions.table(handle("mine")),
    ]
    tokenizer = train_characters(["other letters, and more of them"])
    model = tiny_model(vocab_size=tokenizer.vocab_size, max_seq_len=19, position="learned")
    checkpoint.save(folder, model, tokenizer, torch.float32)
    assert runs.checkpoint(handle("mine")).config == model.config
    assert runs.run(handle("mine"), "more").trace.logits.shape[-1] == tokenizer.vocab_size
    vocabulary = runs.vocabulary(handle("mine"))
    assert vocabulary != before[0]
    assert len(vocabulary) == tokenizer.vocab_size
    table = positions.table(handle("mine"))
    assert table == pytest.approx(model.position.table.weight.numpy())


def test_a_scheme_that_adds_nothing_has_no_table(shelf: Path) -> None:
    tiny_checkpoint(shelf / "tiny", position="rope")
    assert positions.table(handle("tiny")) is None


def test_collections_of_garbage_pass_over_a_model_and_it_goes_with_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(WHERE, str(tmp_path))
    for name in ("fox", "owl"):
        saved(tmp_path / name)
    model = runs.opened(handle("transformers:fox"))
    assert not any(x is model for x in gc.get_objects()), "none of those that are looked at"
    weight = weakref.ref(next(runs.decoder(handle("transformers:fox")).parameters()))
    del model
    runs.opened.clear()
    runs.opened(handle("transformers:owl"))
    assert weight() is None


def test_device_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADLIGHT_DEVICE", "cpu")
    assert runs.device_names()[0] == "cpu"
    assert len(set(runs.device_names())) == len(runs.device_names())
    monkeypatch.setenv("HEADLIGHT_DEVICE", "abacus")
    with pytest.raises(ValueError, match="abacus"):
        runs.device_names()


@pytest.mark.parametrize("n_prefill", [4, 13])
@pytest.mark.parametrize("variant", CACHED)
def test_keys_and_values_are_read_out_of_the_cache(
    variant: str, n_prefill: int, shelf: Path
) -> None:
    """Equal to the trace's k and v whatever the pieces, and as many bytes as the formula says."""
    tiny_checkpoint(shelf / "tiny", **CACHED[variant])
    run = runs.run(handle("tiny"), "the cat sat o")
    config, ids = run.trace.facts, tuple(run.trace.ids.tolist())
    cached = runs.cache_run(handle("tiny"), ids, n_prefill)
    for name, held in (("k", cached.keys), ("v", cached.values)):
        expected = np.stack([getattr(record, name) for record in run.trace.attention])
        assert np.stack(held) == pytest.approx(expected, abs=1e-5)
    sizes = config.n_layers, config.n_kv_heads, config.d_head
    assert cached.bytes_held == {
        n: cache_bytes(*sizes, n, 4) for n in (0, *range(n_prefill, len(ids) + 1))
    }
    assert cached.bytes_reserved == cache_bytes(*sizes, config.max_seq_len, 4)
    assert cached.is_kept
    assert max(cached.errors(run.trace, len(ids))) <= 1e-5


def test_errors_are_of_what_is_held(shelf: Path) -> None:
    tiny_checkpoint(shelf / "tiny")
    run = runs.run(handle("tiny"), "the cat")
    cached = runs.cache_run(handle("tiny"), tuple(run.trace.ids.tolist()), 2)
    values = [x.copy() for x in cached.values]
    values[-1][-1, 5, -1] += 0.5
    wrong = dataclasses.replace(cached, values=values)
    assert max(wrong.errors(run.trace, 5)) <= 1e-5
    keys_error, values_error = wrong.errors(run.trace, 6)
    assert keys_error <= 1e-5
    assert values_error > 0.05
