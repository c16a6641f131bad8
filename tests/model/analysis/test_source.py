"""Protects what damage to a source costs: each is what it says, and the losses are the model's."""

import numpy as np
import pytest
import torch

from model.analysis.source import (
    AS_IT_IS,
    NO_POSITIONS,
    OUTPUT_AVERAGED,
    OUTPUT_SHUFFLED,
    WORDS_SHUFFLED,
    losses_when_damaged,
    shuffled,
)
from model.architectures.encoder_decoder import EncoderDecoderTransformer
from tests.model.builders import tiny_translator

SOURCE, TARGET = [3, 1, 4, 1, 5, 9, 2], [0, 7, 2, 8, 2]


def losses(
    model: EncoderDecoderTransformer, source: list[int], memory: object = None
) -> np.ndarray:
    """−ln p of the target from the model's own output, by its definition."""
    with torch.inference_mode():
        encoded = model.encode(torch.tensor([source]))
        if memory is not None:
            encoded = encoded._replace(states=memory(encoded.states))
        logits = model.decode(torch.tensor([TARGET[:-1]]), encoded)[0].double().numpy()
    powers = np.exp(logits)
    probs = powers / powers.sum(axis=-1, keepdims=True)
    return -np.log(probs[range(len(TARGET) - 1), TARGET[1:]])


@pytest.mark.parametrize("position", ["sinusoidal", "learned"])
def test_each_damage_is_what_it_says(position: str) -> None:
    model = tiny_translator(position=position)
    found = losses_when_damaged(model, SOURCE, TARGET, seed=3)
    assert found[AS_IT_IS] == pytest.approx(losses(model, SOURCE), abs=1e-5)
    assert found[OUTPUT_SHUFFLED] == pytest.approx(found[AS_IT_IS], abs=1e-5)
    words = [*(SOURCE[i] for i in shuffled(6, 3)), SOURCE[-1]]
    assert words != SOURCE
    assert found[WORDS_SHUFFLED] == pytest.approx(losses(model, words), abs=1e-5)
    averaged = losses(model, SOURCE, lambda x: x.mean(dim=1, keepdim=True).expand_as(x))
    assert found[OUTPUT_AVERAGED] == pytest.approx(averaged, abs=1e-5)
    for name in (WORDS_SHUFFLED, OUTPUT_AVERAGED, NO_POSITIONS):
        assert np.abs(found[name] - found[AS_IT_IS]).max() > 1e-3, name


def test_without_positions_the_order_of_the_words_is_lost() -> None:
    model = tiny_translator()
    turned = [*SOURCE[:-1][::-1], SOURCE[-1]]
    first, second = (
        losses_when_damaged(model, source, TARGET)[NO_POSITIONS] for source in (SOURCE, turned)
    )
    assert first == pytest.approx(second, abs=1e-5)


def test_a_model_without_positions_has_none_to_lose() -> None:
    model = tiny_translator(position="none")
    assert NO_POSITIONS not in losses_when_damaged(model, SOURCE, TARGET)


@pytest.mark.parametrize("n", range(5))
def test_shuffled_is_another_order_where_there_is_one(n: int) -> None:
    for seed in range(20):
        order = shuffled(n, seed)
        assert sorted(order) == list(range(n))
        assert order != list(range(n)) or n < 2
