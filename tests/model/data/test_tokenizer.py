"""Protects the tokenizers: text comes back as it was, and nobody can type the end of a text."""

import os
import signal
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import AddedToken, Regex, pre_tokenizers

from model.data import tokenizer as module
from model.data.text import encode_texts
from model.data.tokenizer import (
    END_OF_TEXT,
    MASK,
    PADDING,
    START_OF_TEXT,
    UNKNOWN,
    Tokenizer,
    beside,
    train_bpe,
    train_characters,
)
from tests.model.builders import edit_json

CORPUS = [
    "the cat sat on the mat. the cat saw the cat.\n\nThe cat isn't here; the mat's there. ",
    "héllo wörld, 1984 cats!\r\n\r\n日本語 日本 😀😀 مرحبا",
]
ODD_TEXTS = [
    "😀 👩‍👩‍👧 🏳️‍🌈",
    "مرحبا بالعالم ‮abc‬",
    "\x00\x01\x1b[31m\x7f\x85",
    "<|endoftext|>",
    "a<|endoftext|>b </s> <s> <unk> [MASK]",
    "$x$ **x** <script>alert(1)</script> \\n %s",
    "  two  spaces \t tab \n\n\n lines \r\n",
    "\u200b\ufeff\u00a0\u2028é́",
    "don't isn't I'll we're I've 12345",
    "Ġ Ċ ▁ ##ing",
]


@cache
def bpe() -> Tokenizer:
    """A byte-level tokenizer with room for some merges."""
    return train_bpe(CORPUS, 300)


@cache
def characters() -> Tokenizer:
    """One token per character of the corpus."""
    return train_characters(CORPUS)


def test_vocabulary_is_as_large_as_asked_and_has_every_byte() -> None:
    assert bpe().vocab_size == 300
    assert len({i for byte in range(256) for i in bpe().encode(chr(byte))}) > 100


def test_first_word_is_the_token_it_is_anywhere() -> None:
    assert bpe().encode("cat") == bpe().encode("the cat")[1:]
    assert len(bpe().encode("cat")) == 1
    assert bpe().encode("cat cat") == 2 * bpe().encode("cat")


def test_a_text_that_starts_with_white_space_gets_no_other() -> None:
    assert bpe().encode(" cat") == bpe().encode("cat")
    for text in ("\ncat", "\tcat", "  cat"):
        assert bpe().decode(bpe().encode(text)) == text


def test_nothing_gives_nothing() -> None:
    assert bpe().encode("") == characters().encode("") == bpe().encode_documents("") == []


@given(st.text())
def test_any_text_comes_back(text: str) -> None:
    ids = bpe().encode(text)
    assert bpe().decode(ids) in (text, f" {text}")
    assert bpe().end_id not in ids


@given(st.lists(st.sampled_from(["cat", " ", "\n\n", END_OF_TEXT, "'s", "😀", "1", "é"])))
def test_documents_come_back_with_their_separators(parts: list[str]) -> None:
    text = "".join(parts)
    ids = bpe().encode_documents(text)
    assert ids.count(bpe().end_id) == text.count(END_OF_TEXT)
    assert bpe().decode(ids).replace(" ", "") == text.replace(" ", "")


def test_every_document_starts_like_a_sentence() -> None:
    cat, end = bpe().encode("cat"), [bpe().end_id]
    assert bpe().encode_documents(f"cat{END_OF_TEXT}cat") == cat + end + cat
    assert bpe().encode_documents(f"{END_OF_TEXT}cat") == end + cat
    assert bpe().encode_documents(f"cat{END_OF_TEXT}") == cat + end


def test_a_file_in_pieces_is_the_file_whole() -> None:
    text = "the cat.\n\nThe mat.\n\n\n\n  the cat\n\n"
    assert bpe().encode_documents(text) == bpe().encode(text)
    for long in ("the cat. The mat,\n a 😀 " * 3000, "the\n\ncat" * 5 + "  " * 20_001):
        assert bpe().encode_documents(long) == bpe().encode(long)


def test_little_of_a_long_text_is_encoded_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The library takes 100 bytes a token, and hears no Ctrl-C meanwhile."""
    monkeypatch.setattr(module, "_PIECES_AT_ONCE", 2)
    tokenizer, lengths = train_characters(CORPUS), []
    own = tokenizer.backend

    def batch(texts: list[str], **options: Any) -> Any:  # noqa: ANN401
        lengths.append(sum(map(len, texts)))
        return own.encode_batch_fast(texts, **options)

    tokenizer.backend = SimpleNamespace(encode=own.encode, encode_batch_fast=batch)
    tokenizer.backend.get_vocab_size = own.get_vocab_size
    ids = encode_texts(tokenizer, ["cat" * 15_000])
    assert lengths == [20_000, 15_000], "after the first piece"
    assert (ids.tolist(), ids.itemsize) == ([*own.encode("cat").ids * 15_000, tokenizer.end_id], 2)


def test_a_word_without_end_is_cut() -> None:
    letters = "ACGT" * 600
    tokenizer = train_bpe([letters], 300)
    assert len(tokenizer.pre_tokens(letters)) == 3
    assert tokenizer.decode(tokenizer.encode(letters)) == letters
    with pytest.raises(ValueError, match=r"4,000,200 characters of .* runs .*: break"):
        train_bpe(["ACGT" * 50 + "\n" + "ACGT" * 1_000_050], 300)


def test_ctrl_c_is_heard_while_the_library_works() -> None:
    heard = threading.Event()

    def work() -> None:
        os.kill(os.getpid(), signal.SIGINT)
        heard.wait()

    with pytest.raises(KeyboardInterrupt):
        beside(work)
    heard.set()
    with pytest.raises(ValueError, match="at least"):
        beside(lambda: train_bpe(CORPUS, 3).save(Path()))


@given(st.text(alphabet=st.characters(max_codepoint=127)))
def test_strings_of_unsplit_characters_join_to_the_text(text: str) -> None:
    strings = bpe().token_strings(bpe().encode(text))
    assert "".join(strings) in (text, f" {text}")


def test_a_split_character_is_shown_in_each_part() -> None:
    strings = bpe().token_strings(bpe().encode("cat 🦊é"))
    assert strings == (" cat", " ", "🦊·1/3", "🦊·2/3", "🦊·3/3", "é·1/2", "é·2/2")


def test_bytes_that_form_no_character_are_hexadecimal() -> None:
    ids = bpe().encode("🦊")
    assert bpe().token_strings(ids[-1:]) == ("\\x8a",)
    assert bpe().token_strings([]) == ()


def test_tokens_that_cut_every_character_are_still_shown_as_characters() -> None:
    """A merge of the last byte of one letter with the first of the next."""
    letters = "".join(chr(a) + chr(b) for a in range(0xFE, 0x580, 64) for b in range(0x430, 0x43F))
    tokenizer = train_bpe([letters], 258)
    ids = tokenizer.encode("оооо")
    assert len(ids) == 5
    assert not [string for string in tokenizer.token_strings(ids) if "\\x" in string]


def test_the_end_of_a_text_is_shown_by_its_name() -> None:
    for tokenizer in (bpe(), characters()):
        ids = tokenizer.encode_documents(f"cat{END_OF_TEXT}")
        assert tokenizer.token_strings(ids)[-1] == END_OF_TEXT


def test_a_character_is_a_token() -> None:
    ids = characters().encode("the cat")
    assert len(ids) == 7
    assert characters().token_strings(ids) == tuple("the cat")
    assert characters().decode(ids) == "the cat"
    assert characters().vocab_size == len(set("".join(CORPUS))) + 2
    assert characters().encode("t") == ids[:1]


def test_unknown_characters_become_the_replacement_character() -> None:
    assert characters().decode(characters().encode("cat Ω")) == f"cat {UNKNOWN}"
    assert characters().token_strings(characters().encode("Ω")) == (UNKNOWN,)


@given(st.text(alphabet=sorted(set("".join(CORPUS)))))
def test_any_text_of_known_characters_comes_back(text: str) -> None:
    assert characters().decode(characters().encode(text)) == text


@pytest.mark.parametrize("make", [bpe, characters])
def test_saved_and_loaded_is_the_same(make: Callable[[], Tokenizer], tmp_path: Path) -> None:
    make().save(tmp_path / "tokenizer.json")
    loaded = Tokenizer.load(tmp_path / "tokenizer.json")
    assert (loaded.vocab_size, loaded.end_id) == (make().vocab_size, make().end_id)
    for text in (*ODD_TEXTS, *CORPUS):
        assert loaded.encode(text) == make().encode(text)
        assert loaded.encode_documents(text) == make().encode_documents(text)
        assert loaded.decode(loaded.encode(text)) == make().decode(make().encode(text))


def test_too_small_a_vocabulary_is_refused() -> None:
    with pytest.raises(ValueError, match=r"vocab_size is 256; .* at least 257"):
        train_bpe(CORPUS, 256)


def test_text_with_half_a_character_is_refused() -> None:
    """A terminal that is not UTF-8 hands over surrogates."""
    with pytest.raises(ValueError, match=r"UTF-8|Unicode|surrogate"):
        bpe().encode("a\udcff")


def forget_the_end(path: Path) -> None:
    """A tokenizer without the end of text."""
    edit_json(path, lambda fields: fields["model"].update(vocab={"a": 0}, merges=[]))
    edit_json(path, lambda fields: fields.update(added_tokens=[]))


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (Path.unlink, "tokenizer.json is missing; copy"),
        (lambda path: path.write_text("{"), "tokenizer.json is not a valid tokenizer: .*copy"),
        (lambda path: path.write_text("[1, 2]"), "tokenizer.json is not a valid tokenizer: .*copy"),
        (
            lambda path: path.write_bytes(b"\xff\xfe"),
            "tokenizer.json is not UTF-8 at byte 0; copy it again",
        ),
        (forget_the_end, r"no <\|endoftext\|> token; train it again"),
    ],
    ids=["missing", "not JSON", "not a tokenizer", "not UTF-8", "no end of text"],
)
def test_broken_file_is_refused(
    damage: Callable[[Path], object], message: str, tmp_path: Path
) -> None:
    path = tmp_path / "tokenizer.json"
    bpe().save(path)
    damage(path)
    with pytest.raises(ValueError, match=message):
        Tokenizer.load(path)


def test_added_tokens_are_text_as_it_is(tmp_path: Path) -> None:
    """Such as runs of spaces, which real tokenizers add: no stand-ins of bytes."""
    tokenizer = bpe()
    tokenizer.backend.add_tokens([AddedToken("   ", normalized=False), "日本"])
    tokenizer.save(tmp_path / "tokenizer.json")
    loaded = Tokenizer.load(tmp_path / "tokenizer.json")
    for text in ("the   cat", "the 日本 cat", "日"):
        ids = loaded.encode(text)
        assert "".join(loaded.token_strings(ids)).strip() == text or "·" in "".join(
            loaded.token_strings(ids)
        )
        assert loaded.reads(text) is None
    assert "   " in loaded.token_strings(loaded.encode("the   cat"))


def test_what_the_library_cannot_do_is_one_line() -> None:
    """A regular expression that gives up on a text is a panic of the library's Rust."""
    tokenizer = train_characters(["xy"])
    tokenizer.backend.pre_tokenizer = pre_tokenizers.Split(Regex("(x+x+)+y"), "isolated")
    with pytest.raises(ValueError, match=r"the tokenizer cannot take this text: .*; use another"):
        tokenizer.encode("x" * 40)


SPECIALS = (START_OF_TEXT, PADDING, MASK)


@pytest.mark.parametrize("kind", ["bpe", "characters", "added later"])
def test_special_tokens_have_ids_that_no_text_becomes(kind: str, tmp_path: Path) -> None:
    if kind == "added later":
        made = train_bpe(CORPUS, 300).with_specials(SPECIALS)
        assert made.vocab_size == train_bpe(CORPUS, 300).vocab_size + 3
    else:
        made = (
            train_bpe(CORPUS, 300, SPECIALS)
            if kind == "bpe"
            else train_characters(CORPUS, SPECIALS)
        )
    made.save(tmp_path / "tokenizer.json")
    loaded = Tokenizer.load(tmp_path / "tokenizer.json")
    ids = [loaded.id_of(special) for special in SPECIALS]
    assert len({*ids, loaded.end_id}) == 4
    assert loaded.token_strings(ids) == SPECIALS
    assert all(map(loaded.is_added, ids))
    for special in SPECIALS:
        assert not {*ids, loaded.end_id} & set(loaded.encode(f"cat {special} cat"))
        assert not set(ids) & set(loaded.encode_documents(f"cat{special}cat"))


def test_special_tokens_added_later_leave_all_ids_as_they_were() -> None:
    plain, more = bpe(), bpe().with_specials((MASK,))
    text = "the cat sat on 😀 mats, didn't it?"
    assert more.encode(text) == plain.encode(text)
    assert more.id_of(MASK) == plain.vocab_size
    assert more.merges() == plain.merges()


def test_a_special_token_that_is_not_there_is_named() -> None:
    with pytest.raises(ValueError, match=r"the tokenizer has no \[MASK\] token"):
        bpe().id_of(MASK)
    with pytest.raises(ValueError, match="vocab_size is 259; byte-level BPE needs at least 260"):
        train_bpe(CORPUS, 259, SPECIALS)
