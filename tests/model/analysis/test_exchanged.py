"""Protects what heads are tried on, and the score of a trained induction head."""

import numpy as np
import pytest

from model.analysis.exchanged import (
    exchanged,
    exchanged_patches,
    length_of_half,
    prefix_matching,
    repeated,
)
from model.architectures.decoder import DecoderTransformer
from model.capture import capture
from model.config import DecoderConfig
from model.weights import initialise_evenly

VOCABULARY, CONTEXT = 24, 48
PLAIN = np.arange(VOCABULARY)


def toy() -> DecoderTransformer:
    """Two layers of one head of 32, fresh."""
    config = DecoderConfig(
        vocab_size=VOCABULARY,
        d_model=32,
        n_layers=2,
        n_heads=1,
        d_ff=32,
        max_seq_len=CONTEXT,
        position="rope",
        norm="rms",
        tied_embeddings=False,
    )
    model = DecoderTransformer(config)
    initialise_evenly(model, 0)
    return model


def test_the_score_by_a_loop() -> None:
    model = toy().eval()
    found = prefix_matching(model, PLAIN)
    weights = []
    for number in range(16):
        ids = repeated(PLAIN, 24, number)
        trace = capture(model, ids.tolist(), [""] * 48)
        weights.append([trace.attention[1].pattern[0, i, i - 23] for i in range(24, 48)])
    assert found.values[1, 0] == pytest.approx(np.mean(weights), abs=1e-6)
    assert found.n_queries[1, 0] == 16 * 24


def test_random_tokens_are_said_twice() -> None:
    drawn = {tuple(repeated(PLAIN, 10, number)) for number in range(5)}
    assert len(drawn) == 5
    for row in drawn:
        assert len(set(row[:10])) == 10
        assert row[:10] == row[10:]


def test_exchanged_words_are_the_same_words_elsewhere() -> None:
    ids = [3, 9, 0, 4, 4, 7, 8, 0, 5]
    other = exchanged(ids, {0})
    assert sorted(other) == sorted(ids)
    assert other != ids
    assert [place for place, token in enumerate(other) if token == 0] == [2, 7]
    assert exchanged(ids, {0}) == other, "the same order each time"


def test_exchanged_patches_are_the_same_patches_elsewhere() -> None:
    image = np.arange(36.0).reshape(6, 6)
    other = exchanged_patches(image, 2)

    def patches(of: np.ndarray) -> list[tuple[float, ...]]:
        return [
            tuple(of[y : y + 2, x : x + 2].ravel()) for y in range(0, 6, 2) for x in range(0, 6, 2)
        ]

    assert sorted(patches(other)) == sorted(patches(image))
    assert patches(other) != patches(image)


def test_a_context_without_room_is_refused() -> None:
    assert length_of_half(256, 4000) == 64
    assert length_of_half(20, 4000) == 10
    with pytest.raises(ValueError, match="a context of 3 tokens and a vocabulary of 9"):
        length_of_half(3, 9)
