"""Protects what a masked language model predicts of tokens hidden in turn, and its proof."""

from pathlib import Path

import numpy as np
import pytest
import torch

from model.analysis.blanks import predicted_in_turn
from model.data.tokenizer import MASK
from model.sources import checkpoint
from model.sources.checkpoint import Checkpoint
from tests.model.builders import (
    softmax,
    tiny_encoder,
    tiny_ids,
    tiny_tokenizer,
)

HIDING = 16


def encoder_checkpoint(folder: Path) -> Checkpoint:
    """A small untrained encoder whose tokenizer has [MASK]."""
    tokenizer = tiny_tokenizer().with_specials([MASK])
    model = tiny_encoder(vocab_size=tokenizer.vocab_size, max_seq_len=64)
    checkpoint.save(folder, model, tokenizer)
    return checkpoint.load(folder, "cpu")


@pytest.mark.parametrize("is_causal", [False, True])
def test_each_loss_is_that_of_a_pass_of_its_own(is_causal: bool) -> None:
    model, ids = tiny_encoder(), tiny_ids()[0].tolist()
    seen = torch.tensor([HIDING if i == 2 else x for i, x in enumerate(ids)])[None]
    ids[2] = int(model(seen)[0, 2].argmax())  # one that is found
    mask = torch.ones(len(ids), len(ids)).tril().bool() if is_causal else None
    expected, firsts = [], []
    for place, token in enumerate(ids):
        given = torch.tensor([HIDING if i == place else x for i, x in enumerate(ids)])[None]
        probs = softmax(model(given, mask=mask)[0, place].double().numpy())
        expected.append(-np.log(probs[token]))
        firsts.append(probs.argmax() == token)
    losses, is_found = predicted_in_turn(model, ids, HIDING, is_causal=is_causal)
    np.testing.assert_allclose(losses, expected, rtol=1e-5)
    assert is_found.tolist() == firsts
    np.testing.assert_allclose(
        predicted_in_turn(model, ids, HIDING, n=3, is_causal=is_causal).losses,
        expected[:3],
        rtol=1e-5,
    )


def test_many_rows_are_cut_into_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    model, ids = tiny_encoder(), tiny_ids()[0].tolist()
    whole, sizes = predicted_in_turn(model, ids, HIDING).losses, []
    monkeypatch.setattr("model.analysis.blanks.MOST_AT_ONCE", 2 * len(ids))
    model.register_forward_pre_hook(lambda _, given: sizes.append(len(given[0])))
    np.testing.assert_allclose(predicted_in_turn(model, ids, HIDING).losses, whole, rtol=1e-5)
    assert sizes == [2, 2, 2, 1]


def test_no_token_and_too_many_are_refused() -> None:
    model = tiny_encoder()
    with pytest.raises(ValueError, match="the text is empty"):
        predicted_in_turn(model, [], HIDING)
    with pytest.raises(ValueError, match=str(model.config.max_seq_len)):
        predicted_in_turn(model, (model.config.max_seq_len + 1) * [1], HIDING)
