"""Protects checkpoints of every architecture: saved and loaded they are what they were."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from model.architectures.base import Transformer
from model.data.tokenizer import MASK, PADDING, START_OF_TEXT, Tokenizer, train_characters
from model.given import Blanked, Translation
from model.sources import checkpoint
from model.sources.offers import OF_KIND
from tests.model.builders import (
    SENTENCE,
    tiny_encoder,
    tiny_translator,
    tiny_vision,
)

TOKENIZER = train_characters([SENTENCE], (START_OF_TEXT, PADDING, MASK))
TEXT = {"vocab_size": TOKENIZER.vocab_size, "max_seq_len": 23}
MADE: dict[str, tuple[Callable[..., Transformer], Tokenizer | None, dict[str, int]]] = {
    "encoder": (tiny_encoder, TOKENIZER, TEXT),
    "encoder_decoder": (tiny_translator, TOKENIZER, TEXT),
    "vision": (tiny_vision, None, {}),
}


def saved(folder: Path, name: str, **changes: object) -> Transformer:
    """The model that a folder was made from, in float32."""
    build, tokenizer, sizes = MADE[name]
    model = build(**sizes | changes)
    checkpoint.save(folder, model, tokenizer, torch.float32)
    return model


def test_a_picture_has_no_tokenizer_and_a_text_is_no_picture(tmp_path: Path) -> None:
    saved(tmp_path, "vision")
    loaded = checkpoint.load(tmp_path)
    assert loaded.offers == {*OF_KIND["vision"], *checkpoint.OWN, "sums"}
    assert loaded.input_kind == "image"
    with pytest.raises(ValueError, match="takes pictures, not text"):
        _ = loaded.tokenizer
    with pytest.raises(ValueError, match="takes a picture, not a text"):
        loaded.trace("a text")
    with pytest.raises(ValueError, match=r"shape \(1, 5, 5\); expected \(B, 12, 12\)"):
        loaded.trace(np.zeros((5, 5)))


def test_a_source_is_translated_to_be_traced(tmp_path: Path) -> None:
    saved(tmp_path, "encoder_decoder")
    loaded = checkpoint.load(tmp_path)
    assert loaded.offers == {*OF_KIND["encoder_decoder"], *checkpoint.OWN}
    trace, n_cut, reads = loaded.trace("the cat")
    assert (n_cut, reads) == (0, None)
    source, target = trace.given
    assert source.tolist() == [*TOKENIZER.encode("the cat"), TOKENIZER.end_id]
    assert target[0] == TOKENIZER.id_of(START_OF_TEXT)
    following = trace.logits.argmax(axis=-1)  # each token was the most likely after those before it
    np.testing.assert_array_equal(following[:-1], target[1:])
    long = loaded.trace("the cat sat on a mat. the cat")
    assert (len(long.trace.stream("encoder")), long.n_cut) == (23, 7)


def test_tokens_are_hidden_behind_mask(tmp_path: Path) -> None:
    """What is typed as [MASK] stays text; a place beyond the text is refused."""
    saved(tmp_path, "encoder")
    loaded = checkpoint.load(tmp_path)
    plain, hidden = loaded.trace(SENTENCE).trace, loaded.trace(Blanked(SENTENCE, (1, 4))).trace
    mask = loaded.tokenizer.id_of(MASK)
    where = np.flatnonzero(hidden.ids == mask)
    np.testing.assert_array_equal(where, [1, 4])
    np.testing.assert_array_equal(np.delete(hidden.ids, where), np.delete(plain.ids, where))
    assert hidden.tokens[1] == MASK
    n = len(plain.tokens)
    with pytest.raises(
        ValueError, match=rf"token {n} is to be a blank but the text has {n} tokens"
    ):
        loaded.trace(Blanked(SENTENCE, (0, n)))


def test_a_target_is_fed_in(tmp_path: Path) -> None:
    """Teacher forcing: the output is what the model says after each token that was given."""
    model = saved(tmp_path, "encoder_decoder")
    loaded = checkpoint.load(tmp_path)
    target = (*TOKENIZER.encode("sat the"), TOKENIZER.end_id)
    trace, n_cut, _ = loaded.trace(Translation("the cat", target))
    start = TOKENIZER.id_of(START_OF_TEXT)
    source = [*TOKENIZER.encode("the cat"), TOKENIZER.end_id]
    assert (trace.ids.tolist(), n_cut) == ([start, *target[:-1]], 0)
    whole = model(torch.tensor([source]), torch.tensor([[start, *target[:-1]]]))[0]
    assert trace.logits == pytest.approx(whole.detach().numpy(), abs=1e-5)
    long = loaded.trace(Translation("the cat", tuple(30 * [3])))
    assert (len(long.trace.main), long.n_cut) == (23, 8)
    with pytest.raises(ValueError, match="token 999 of the target is not among"):
        loaded.trace(Translation("the cat", (1, 999)))
    with pytest.raises(ValueError, match="the text is empty"):
        loaded.trace(Translation("", (1,)))
