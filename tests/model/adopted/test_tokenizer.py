"""Protects tokenizers of transformers: ids as it gives them, labels in the person's own letters."""

import pytest
import transformers as hf

from model.adopted.tokenizer import AdoptedTokenizer
from model.data.tokenizer import MASK
from tests.model.adopted.families import ENDED_WORDS, SPACE_APART, SPELLED_BYTES, tokens, words

TEXTS = ("the red ball", "", "<s>fox</s>", "[MASK] the [SEP]", "Ünïcode 😀  two\nlines", " dog")


@pytest.mark.parametrize("text", TEXTS)
def test_ids_are_those_of_transformers(text: str) -> None:
    for own in (tokens(), tokens(start="<s>"), words()):
        ids = AdoptedTokenizer(own).encode(text)
        assert ids == own(text, split_special_tokens=True)["input_ids"]


@pytest.mark.parametrize("text", TEXTS)
def test_labels_join_to_what_was_typed(text: str) -> None:
    tokenizer = AdoptedTokenizer(tokens(start="<s>"))
    ascii = text.encode("ascii", "ignore").decode()  # other characters are of several tokens
    labels = tokenizer.labels(ascii, tokenizer.encode(ascii))
    assert labels[0] == "<s>"  # once, however the text begins
    assert "".join(labels[1:]) == ascii


def test_labels_of_pieces_keep_letters_and_spaces() -> None:
    tokenizer = AdoptedTokenizer(words())
    ids = tokenizer.encode("The  REDd fox!")
    assert tokenizer.labels("The  REDd fox!", ids) == (
        "[CLS]", "The", "  RED", "d", " fox", "!", "[SEP]",
    )  # fmt: skip
    assert tokenizer.token_strings(ids)[1:4] == ("the", "red", "##d")
    assert tokenizer.reads("The  REDd fox!") == "the  redd [UNK]!"
    assert tokenizer.reads("the red") is None


def test_a_hidden_token_shows_that_it_is_hidden() -> None:
    tokenizer = AdoptedTokenizer(words())
    ids = tokenizer.encode("the red dog")
    hidden = [*ids[:2], tokenizer.id_of(MASK), *ids[3:]]
    assert tokenizer.labels("the red dog", hidden) == ("[CLS]", "the", "[MASK]", " dog", "[SEP]")


def test_characters_of_several_tokens_are_told_apart() -> None:
    tokenizer = AdoptedTokenizer(tokens())
    labels = tokenizer.labels("a😀", tokenizer.encode("a😀"))
    assert labels == ("a", "😀·1/4", "😀·2/4", "😀·3/4", "😀·4/4")


SHARED = ("😀·1/4", "😀·2/4", "😀·3/4", "😀·4/4")


@pytest.mark.parametrize(
    ("own", "text", "labels", "alone"),
    [
        (SPELLED_BYTES, "a\n 😀", (" ", "a", "\n", " ", *SHARED),
            [" ", "a", "\n", " ", "\\xf0", "\\x9f", "\\x98", "\\x80"]),
        (SPACE_APART, "He  Ho", (" ", "He", " ", " ", "H", "o"),
            [" ", "He", " ", " ", "H", "o"]),
        (ENDED_WORDS, "ab a c.", ("a", "b", " a", " c", "."), ["a", " b", " a", "<unk>", " ."]),
    ],
)  # fmt: skip
def test_a_token_has_one_name_whatever_its_vocabulary_spells(
    own: hf.PreTrainedTokenizerFast, text: str, labels: tuple[str, ...], alone: list[str]
) -> None:
    tokenizer = AdoptedTokenizer(own)
    ids = tokenizer.encode(text)
    assert tokenizer.labels(text, ids) == labels
    assert list(map(tokenizer.name, ids)) == alone  # where it is predicted, of no text
    assert tokenizer.reads(text) in (None, "ab a <unk>.")


def test_a_token_that_is_not_there_is_named() -> None:
    with pytest.raises(ValueError, match=r"has no \[MASK\] token"):
        AdoptedTokenizer(tokens()).id_of(MASK)


def test_pre_tokens_have_every_id_once() -> None:
    for own in (tokens(start="<s>"), words()):
        tokenizer = AdoptedTokenizer(own)
        text = "the red ball!"
        assert [i for part in tokenizer.pre_tokens(text) for i in part] == tokenizer.encode(text)
    assert AdoptedTokenizer(tokens()).merges() is not None
    assert AdoptedTokenizer(words()).merges() is None


def test_ids_without_a_token_have_a_name_and_no_text() -> None:
    tokenizer = AdoptedTokenizer(tokens(), n_ids=400)
    n = tokenizer.backend.get_vocab_size()
    assert tokenizer.vocab_size == 400 > n
    assert tokenizer.token_strings([n - 1, n, 399])[1:] == (f"⟨unused {n}⟩", "⟨unused 399⟩")
    ids = tokenizer.encode("the red")
    assert tokenizer.decode([*ids, 399]) == "the red"
    assert tokenizer.continuation(ids[:1], [399, *ids[1:], n, 399]) == (
        f"⟨unused 399⟩ red⟨unused {n}⟩⟨unused 399⟩"
    )
    assert tokenizer.lacking([*ids, 399, n, 399]) == [399, n]
    with pytest.raises(ValueError, match=r"token 400 is not in the vocabulary; ids are 0 to 399"):
        tokenizer.token_strings([400])


def test_what_goes_on_keeps_its_space_and_names_no_special_token() -> None:
    tokenizer = AdoptedTokenizer(words())
    ids = tokenizer.encode("the redd dog")
    assert tokenizer.continuation(ids[:2], ids[2:]) == " redd dog"


def test_windows_have_special_tokens_of_their_own_and_one_document() -> None:
    tokenizer = AdoptedTokenizer(words())
    found = tokenizer.windows("the red dog ball<|endoftext|>a dog", 5)
    assert found == [tokenizer.encode(text) for text in ("the red dog", "ball", "a dog")]
