"""Protects that labels and ids are compared with the tokenizer's file, read by other code."""

from pathlib import Path

import pytest

from model.sources import checkpoint
from model.verify.texts import check_text, texts_of
from tests.model.builders import tiny_checkpoint
from tests.viz.builders import ODD_SENTENCES, stories


def test_every_id_of_a_shipped_tokenizer_is_read_alike() -> None:
    found = stories()
    texts = texts_of(found.folder)
    assert len(texts) == found.tokenizer.vocab_size
    assert all(found.tokenizer.token_bytes(i) == text for i, text in texts.items())


@pytest.mark.parametrize("text", [*ODD_SENTENCES, "Hello", " a", "  a", "\n\n", "😀é", "a\u0301"])
def test_ids_of_odd_texts_stand_for_them(text: str) -> None:
    found = stories()
    ids, texts = found.tokenizer.encode(text), texts_of(found.folder)
    assert check_text(text, ids, texts, is_cut=False).passed
    assert check_text(text, ids[:2], texts, is_cut=len(ids) > 2).passed


def test_other_ids_are_noticed() -> None:
    found = stories()
    text = "The cat sat."
    ids, texts = found.tokenizer.encode(text), texts_of(found.folder)
    for wrong in (ids[1:], ids[:-1], ids[::-1], [*ids, ids[-1]], [ids[0] + 1, *ids[1:]], []):
        check = check_text(text, wrong, texts, is_cut=False)
        assert not check.passed, wrong
        assert check.error >= 1
    assert not check_text(text.upper(), ids, texts, is_cut=False).passed


def test_a_vocabulary_of_characters_is_read_too(tmp_path: Path) -> None:
    found = checkpoint.load(tiny_checkpoint(tmp_path / "tiny"), "cpu")
    texts = texts_of(found.folder)
    assert all(found.tokenizer.token_bytes(i) == text for i, text in texts.items())
