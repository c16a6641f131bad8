"""Protects the cache: what it gives is what the whole sequence gives, and what it holds."""

from collections.abc import Iterator
from itertools import pairwise

import pytest
import torch
from torch import Tensor

from model import masks
from model.architectures.decoder import DecoderTransformer
from model.kv_cache import KVCache, cache_bytes
from model.masks import MASKS
from model.positions import POSITIONS
from model.tap import Recorder, attach
from tests.model.builders import GROUPED, causal_rows, tiny_config, tiny_ids, tiny_model

T = 9
MASK_SIZES = {"window": 3, "prefix_len": 4, "n_global": 2}
PIECES = [(4, 5, 6, 7, 8, 9), (4, 9), (5, 6, 9), (8, 9), (9,)]  # each prefill covers the prefix


def pieces(ids: Tensor, stops: tuple[int, ...]) -> Iterator[Tensor]:
    """The ids up to each stop, cut there."""
    return (ids[:, start:stop] for start, stop in pairwise((0, *stops)))


def cached_logits(
    model: DecoderTransformer, ids: Tensor, stops: tuple[int, ...], **options: Recorder
) -> Tensor:
    """Logits of all positions, fed to a cache piece by piece."""
    cache = KVCache(model.config, batch_size=len(ids))
    return torch.cat([model(x, cache=cache, **options) for x in pieces(ids, stops)], dim=1)


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("position", POSITIONS)
def test_every_step_is_the_whole_sequences(position: str, mask: str) -> None:
    model = tiny_model(**GROUPED, **MASK_SIZES, position=position, mask=mask)
    ids = tiny_ids(batch_size=2, seq_len=T)
    whole = model(ids)
    assert whole.std() > 0.1
    for stops in PIECES:
        logits = cached_logits(model, ids, stops)
        torch.testing.assert_close(logits, whole, atol=1e-4, rtol=0)
        recorded = cached_logits(model, ids, stops, tap=attach(Recorder()))
        torch.testing.assert_close(recorded, whole, atol=1e-4, rtol=0)


@pytest.mark.parametrize("position", POSITIONS)
def test_padding_is_hidden_in_the_cache_too(position: str) -> None:
    """Filler in the middle of the batch, given as rows of one mask over all keys."""
    model, ids = tiny_model(position=position), tiny_ids(batch_size=2, seq_len=T)
    mask = causal_rows(T) & masks.padding(torch.tensor([T, 3]), T)
    mask = mask | torch.eye(T, dtype=torch.bool)  # each sees itself, so that no row is empty
    whole, cache = model(ids, mask=mask), KVCache(model.config, batch_size=2)
    for start, stop in pairwise((0, 4, 5, T)):
        rows = mask[:, :, start:stop, :stop]
        logits = model(ids[:, start:stop], mask=rows, cache=cache)
        torch.testing.assert_close(logits, whole[:, start:stop], atol=1e-4, rtol=0)


def test_bytes_measured_are_the_formulas() -> None:
    model = tiny_model(**GROUPED, n_layers=3)
    cache = KVCache(model.config, 8, batch_size=5)
    for n_new in (4, 1, 2):
        model(tiny_ids(batch_size=5, seq_len=n_new), cache=cache)
        held = [x[:, :, : cache.length] for y in cache.layers for x in (y.keys, y.values)]
        expected = cache_bytes(3, 2, 6, cache.length, bytes_per_value=4, batch=5)
        assert sum(x.numel() * x.element_size() for x in held) == cache.bytes_held == expected
    assert cache.length == 7
    assert cache.bytes_reserved == cache_bytes(3, 2, 6, 8, bytes_per_value=4, batch=5)


def test_a_pass_that_breaks_off_adds_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    model, ids, cache = tiny_model(), tiny_ids(seq_len=T), KVCache(tiny_config())
    model(ids[:, :4], cache=cache)
    with monkeypatch.context() as patch, pytest.raises(ZeroDivisionError):
        patch.setattr(model.blocks[1].ffn, "forward", lambda x, tap: 1 / 0)
        model(ids[:, 4:], cache=cache)
    assert cache.length == 4
    torch.testing.assert_close(model(ids[:, 4:], cache=cache), model(ids)[:, 4:])


@pytest.mark.parametrize(
    ("capacity", "n_cached", "n_new", "message"),
    [
        (11, 7, 5, "12 tokens, 7 of them in the cache, more than the model's context of 11 tok"),
        (11, 0, 12, "the text has 12 tokens, more than the model's context of 11"),
        (8, 7, 2, "holds 7 tokens and has room for 8, so 2 more .* capacity 9"),
        (8, 7, 0, "0 tokens; give at least 1"),
    ],
)
def test_what_does_not_fit_is_refused(
    capacity: int, n_cached: int, n_new: int, message: str
) -> None:
    model, cache = tiny_model(), KVCache(tiny_config(), capacity)
    if n_cached:
        model(tiny_ids(seq_len=n_cached), cache=cache)
    with pytest.raises(ValueError, match=message):
        model(tiny_ids(seq_len=n_new), cache=cache)
    assert cache.length == n_cached


def test_a_prefix_in_pieces_is_refused() -> None:
    model = tiny_model(mask="prefix", prefix_len=4)
    cache = KVCache(model.config)
    model(tiny_ids(seq_len=3), cache=cache)
    with pytest.raises(ValueError, match=r"first 4 tokens see each other .* given 3 of them"):
        model(tiny_ids(seq_len=1), cache=cache)


def test_nonsense_is_refused() -> None:
    cache = KVCache(tiny_config(), batch_size=2)
    with pytest.raises(ValueError, match="the ids have 3 rows but the cache has 2"):
        tiny_model()(tiny_ids(batch_size=3), cache=cache)
    with pytest.raises(ValueError, match="holds 0 tokens and cannot be cut to 1; give 0 to 0"):
        cache.truncate(1)
    for rows in ([], [0, 2], [-1]):
        with pytest.raises(ValueError, match="each 0 to 1"):
            cache.reorder(rows)
    for sizes in ({"capacity": 0}, {"batch_size": 0}):
        with pytest.raises(ValueError, match="holds nothing; give at least 1"):
            KVCache(tiny_config(), **sizes)
