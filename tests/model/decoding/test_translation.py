"""Protects translating: the cache changes nothing, greedy and beam search find what they should."""

import pytest
import torch

from model.data.tokenizer import END_OF_TEXT, PADDING, START_OF_TEXT, train_characters
from model.decoding.beam import beam_search
from model.decoding.filters import GREEDY, Sampling
from model.decoding.sampling import CONTEXT_FULL, Continuation, generate
from model.decoding.sampling import END_OF_TEXT as ENDED
from model.decoding.translation import (
    Translating,
    Way,
    source_ids,
    target_text,
    translated,
    write,
)
from model.kv_cache import KVCache
from tests.model.builders import tiny_translator

SOURCE = [3, 1, 4, 1, 5]
START, END = 0, 2
SEEDS = range(2)


@pytest.mark.parametrize("position", ["sinusoidal", "learned", "none"])
@pytest.mark.parametrize("placement", ["pre", "post"])
def test_cached_is_uncached(position: str, placement: str) -> None:
    model = tiny_translator(position=position, norm_placement=placement)
    source, target = (
        torch.tensor([SOURCE, SOURCE[::-1]]),
        torch.tensor([[0, 7, 2, 8], [0, 5, 5, 1]]),
    )
    with torch.inference_mode():
        memory = model.encode(source)
        cache = KVCache(model.config, 4, batch_size=2)
        pieces = [
            model.decode(part, memory, cache=cache) for part in target.split((2, 1, 1), dim=1)
        ]
    torch.testing.assert_close(torch.cat(pieces, dim=1), model(source, target), atol=1e-5, rtol=0)
    assert cache.length == 4
    keys, values = cache.layers[1].cross.held
    assert keys.shape == values.shape == (2, 3, 5, 10), "of the source, and only once"


def test_the_source_is_projected_once_and_follows_the_beams() -> None:
    model = tiny_translator()
    with torch.inference_mode():
        memory = model.encode(torch.tensor([SOURCE]))
        cache = KVCache(model.config, 6)
        assert cache.bytes_of_source == 0
        model.decode(torch.tensor([[0]]), memory, cache=cache)
        held = cache.layers[0].cross.held[0]
        assert cache.bytes_of_source == 4 * 2 * 2 * 5 * 30, "k and v, two layers, five tokens"
        model.decode(torch.tensor([[7]]), memory, cache=cache)
        assert cache.layers[0].cross.held[0] is held
        cache.reorder([0, 0, 0])
        assert cache.layers[0].cross.held[0].shape[0] == 3
        three = model.decode(torch.tensor([[2], [8], [9]]), memory, cache=cache)
    whole = model(torch.tensor([SOURCE]), torch.tensor([[0, 7, 8]]))
    torch.testing.assert_close(three[1, -1], whole[0, -1], atol=1e-5, rtol=0)


@pytest.mark.parametrize("seed", SEEDS)
def test_beam_1_is_greedy_and_greedy_is_step_by_step(seed: int) -> None:
    model = tiny_translator(seed)
    options = {"max_new_tokens": 7, "end_ids": {END}}
    greedy = [x.token_id for x in generate(Translating(model, SOURCE), [START], GREEDY, **options)]
    ids = [START]
    for _ in greedy:
        ids.append(int(model(torch.tensor([SOURCE]), torch.tensor([ids]))[0, -1].argmax()))
    assert ids[1:] == greedy
    *_, last = beam_search(Translating(model, SOURCE), [START], beam_width=1, **options)
    assert list(last.winner.ids) == greedy


def test_recorded_attention_is_that_of_the_target_to_itself() -> None:
    text = Continuation(Translating(tiny_translator(), SOURCE), [START, 7], record=True)
    assert [x.shape for x in text.prediction().attention] == [(3, 2), (3, 2)]


def test_ids_of_source_and_target() -> None:
    tokenizer = train_characters(["the cat"], (START_OF_TEXT, PADDING))
    ids = source_ids(tokenizer, "cat")
    assert ids == [*tokenizer.encode("cat"), tokenizer.end_id]
    start = tokenizer.id_of(START_OF_TEXT)
    assert target_text(tokenizer, [start, *ids]) == "cat"
    assert tokenizer.decode([tokenizer.end_id]) == END_OF_TEXT
    model = tiny_translator(vocab_size=tokenizer.vocab_size, max_seq_len=23)
    for width in (1, 3):
        found = translated(model, tokenizer, "the cat", beam_width=width)
        assert 1 <= len(found) <= 22
    with pytest.raises(ValueError, match="25 tokens, more than the model's context of 23"):
        translated(model, tokenizer, "the cat the cat the cat ")


WAYS = {"greedy": Way(), "drawn": Way(Sampling(seed=5)), "beams": Way(beam_width=3)}


@pytest.mark.parametrize("way", WAYS.values(), ids=list(WAYS))
def test_a_target_goes_on_from_what_it_is_to_begin_with(way: Way) -> None:
    model, begun = tiny_translator(), [7, 1, 8]
    found = write(model, SOURCE, [START, *begun], END, way)
    assert list(found.ids[:3]) == begun
    assert len(found.ids) <= 10, "the context less the start"
    assert bool(found.beams) == (way.beam_width is not None)
    if way.beam_width is None:
        steps = generate(
            Translating(model, SOURCE),
            [START, *begun],
            way.sampling,
            max_new_tokens=7,
            end_ids={END},
        )
        assert list(found.ids[3:]) == [step.token_id for step in steps]
    else:
        assert found.ids[3:] == found.beams[-1].winner.ids


def test_after_an_end_and_without_room_nothing_is_written() -> None:
    model = tiny_translator()
    ended = write(model, SOURCE, [START, 7, END, 8], END, Way())
    assert (ended.ids, ended.stopped) == ((7, END), ENDED)
    full = write(model, SOURCE, [START, *10 * [7]], END, Way())
    assert (full.ids, full.stopped) == (tuple(10 * [7]), CONTEXT_FULL)
