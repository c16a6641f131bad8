"""Protects token labels: what a person typed is shown as text, readable, one label a token."""

import html
import re
import sys
import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.viz.builders import stories
from viz.labels import (
    clipped,
    escape,
    signs,
    thinned,
    token_labels,
    told_apart,
    unique,
    visible,
    word_groups,
    word_labels,
    words_of,
)

ISOLATES = "\u2068\u2069"
UNREADABLE = ("Cc", "Cf", "Zl", "Zp", "Co", "Cs", "Cn")
any_text = st.text(
    st.characters() | st.sampled_from("<>$%&; \n\u200b\u2068\u202eאa1\u0301\u3164\ufe0f"),
    max_size=8,
)


@pytest.mark.parametrize(
    ("token", "shown"),
    [
        (" cat", "cat"),
        (" ", "␣"),
        ("  cat", "␣cat"),
        ("cat ", "cat␣"),
        ("\n", "⏎"),
        ("\r\n", "␍⏎"),
        ("\t", "⇥"),
        ("\x00", "␀"),
        ("\x1b[31m", "␛[31m"),
        ("\x9f", "⟨U+009F⟩"),
        ("\u00a0", "⍽"),
        ("\u00ad", "⟨U+00AD⟩"),
        ("\u2067x\u2069", "⟨U+2067⟩x⟨U+2069⟩"),
        ("\ue000", "⟨U+E000⟩"),
        ("שלום", "\u2068שלום\u2069"),
        ("😀·1/4", "😀·1/4"),
        ("<script>", "<script>"),
        ("", ""),
    ],
    ids=ascii,
)
def test_visible(token: str, shown: str) -> None:
    assert visible(token) == shown


def test_every_white_space_character_gets_a_sign() -> None:
    spaces = [c for c in map(chr, range(sys.maxunicode + 1)) if c.isspace()]
    assert len(spaces) > 20
    assert [f"U+{ord(c):04X}" for c in spaces if not visible(c).strip()] == []


@given(any_text)
def test_visible_text_has_no_unreadable_character(text: str) -> None:
    shown = visible(text)
    left = [c for c in shown if unicodedata.category(c) in UNREADABLE and c not in ISOLATES]
    assert left == []
    assert (shown[:1] == ISOLATES[0]) == (shown[-1:] == ISOLATES[1])
    assert not set(shown[1:-1]) & set(ISOLATES)
    drawn = shown.strip(ISOLATES)
    assert not text or drawn.strip("\u115f\u1160\u2800\u3164\uffa0")
    assert not drawn or not unicodedata.category(drawn[0]).startswith("M")


@pytest.mark.parametrize(
    ("text", "labels", "words"),
    [
        ("\u2764\ufe0f", ["\u2764", "⟨U+FE0F⟩"], ["\u2764", "⟨U+FE0F⟩"]),
        ("cafe\u0301", ["c", "…a", "…f", "…e", "◌\u0301"], ["cafe\u0301"]),
        ("\u0e01\u0e31\u0e19", ["\u0e01", "◌\u0e31", "…\u0e19"], ["\u0e01\u0e31\u0e19"]),
        ("\u0939\u093f\u0902", ["\u0939", "◌\u093f", "◌\u0902"], ["\u0939\u093f\u0902"]),
        ("a\u3164b", ["a", "⟨U+3164⟩", "b"], ["a", "⟨U+3164⟩", "b"]),
        ("a\u034fb", ["a", "⟨U+034F⟩", "b"], ["a", "⟨U+034F⟩", "b"]),
    ],
    ids=ascii,
)
def test_marks_and_fillers_are_seen(text: str, labels: list[str], words: list[str]) -> None:
    assert token_labels(text) == labels
    assert word_labels(text, word_groups(text)) == words
    assert visible(f" {text}").replace("◌", "") == "".join(map(visible, text)).replace("◌", "")


def test_a_clip_leaves_marks_with_their_letter() -> None:
    assert [clipped("cafe\u0301s", n) for n in (6, 5, 4)] == ["cafe\u0301s", "caf…", "caf…"]
    assert clipped("a" + 9 * "\u0301", 4) == "a\u0301\u0301…"


def test_tokens_of_one_list_are_told_apart_by_what_can_be_seen() -> None:
    tokens = ["the", " the", '"', ' "', "x", " ", "\u0301", " \u0301", "a", "a", "a #9", ""]
    assert list(told_apart(tokens, range(12)).values()) == [
        "…the", "the", '"', '␣"', "x", "␣", "◌\u0301", "␣◌\u0301", "…a", "…a #9", "a␣#9", "#11"
    ]  # fmt: skip
    assert told_apart(tokens, [3, 1, 3]) == {3: '"', 1: "the"}, "signs only where two are alike"


def test_no_two_tokens_of_a_vocabulary_have_one_name() -> None:
    tokenizer = stories().tokenizer
    tokens = [tokenizer.token_strings([i])[0] for i in range(tokenizer.vocab_size)]
    names = told_apart(tokens, range(len(tokens)))
    assert len(set(names.values())) == len(tokens) == len(names)
    assert sum(names[i] != visible(token) for i, token in enumerate(tokens)) == 387
    assert (names[2], names[322]) == ('"', '␣"')


def test_a_piece_of_a_word_shows_that_it_goes_on() -> None:
    tokens = [" un", "believ", "able", "!", "x", " y", "2", "\n", "z"]
    assert token_labels(tokens) == ["un", "…believ", "…able", "!", "x", "y", "…2", "⏎", "z"]


@pytest.mark.parametrize(
    ("tokens", "groups", "words"),
    [
        ([" un", "believ", "able", "!"], [0, 0, 0, 1], ["unbelievable", "!"]),
        ([" didn", "'t", " go"], [0, 0, 1], ["didn't", "go"]),
        ([" can", "’t"], [0, 0], ["can’t"]),
        ([" a", " 1", "2", ".", "5"], [0, 1, 1, 2, 3], ["a", "12", ".", "5"]),
        ([" x", "_", "y"], [0, 1, 2], ["x", "_", "y"]),
        (["one", "\n", "two", "\t"], [0, 1, 2, 3], ["one", "⏎", "two", "⇥"]),
        ([" <", "script", ">"], [0, 1, 2], ["<", "script", ">"]),
        ([' "', "no", '"'], [0, 1, 2], ['"', "no", '"']),
        ([" 😀·1/4", "😀·2/4", "😀·3/4", "😀·4/4", " 😀"], [0, 0, 0, 0, 1], ["😀", "😀"]),
        (["😀·1/2", "😀·2/2", "😀·1/2", "😀·2/2"], [0, 0, 1, 1], ["😀", "😀"]),
        (["של", "ום", " w"], [0, 0, 1], ["\u2068שלום\u2069", "w"]),
        ([" caf", "é·1/2", "é·2/2", "s"], [0, 0, 0, 0], ["cafés"]),
        (["😀·1/2", "😀·2/2", "a"], [0, 0, 1], ["😀", "a"]),
        ([" can", "’·1/2", "’·2/2", "t"], [0, 0, 0, 0], ["can’t"]),
        (["d", "o", "n", "'", "t", "!"], [0, 0, 0, 0, 0, 1], ["don't", "!"]),
        ([" '", "go", "'"], [0, 1, 2], ["'", "go", "'"]),
        (["x"], [0], ["x"]),
    ],
    ids=ascii,
)
def test_pieces_join_to_words(tokens: list[str], groups: list[int], words: list[str]) -> None:
    assert word_groups(tokens) == groups
    assert word_labels(tokens, groups) == words


def test_no_word_goes_on_over_a_border() -> None:
    tokens = [" un", "believ", "able", "'", "s", "o"]
    assert word_groups(tokens, {2, 4}) == [0, 0, 1, 1, 2, 2]
    assert word_labels(tokens, word_groups(tokens, {2, 4})) == ["unbeliev", "able'", "so"]


@given(st.lists(any_text.filter(lambda text: "·" not in text), min_size=1, max_size=12))
def test_words_are_runs_of_tokens(tokens: list[str]) -> None:
    """Groups count up from 0 without a hole, and each word is its tokens joined."""
    groups = word_groups(tokens)
    assert (groups[0], len(groups)) == (0, len(tokens))
    assert {after - before for before, after in pairwise(groups)} <= {0, 1}
    words = [""] * (groups[-1] + 1)
    for token, group in zip(tokens, groups, strict=True):
        words[group] += token
    assert word_labels(tokens, groups) == list(map(visible, words))


@given(any_text)
def test_escaped_text_reads_as_the_text(text: str) -> None:
    assert html.unescape(escape(text)) == text
    assert not set("<>$%") & set(escape(text))


@given(st.lists(any_text, max_size=12))
def test_axis_labels_are_unique_and_no_markup(tokens: list[str]) -> None:
    labels = unique(token_labels(tokens))
    assert len(labels) == len(set(labels)) == len(tokens)
    for label, shown in zip(labels, token_labels(tokens), strict=True):
        assert not set("<>$%") & set(label)
        assert re.fullmatch(r"(?:[^&]|&(?:amp|lt|gt|#36|#37);)*", label, re.DOTALL)
        assert html.unescape(label.rstrip("\u200b")) == shown


def test_signs_are_explained_where_they_stand() -> None:
    assert signs([]) == signs(["cat", "."]) == []
    assert signs([visible("\n\n"), visible(" ")]) == ["␣ is a space", "⏎ is a line break"]
    assert signs(token_labels([" un", "true"])) == ["… continues a word"]


def test_words_of_pieces_and_of_characters_are_the_same() -> None:
    pieces = ["Two", " chil", "dren", " play", "."]
    groups, labels = words_of(pieces)
    assert (groups, labels) == ([0, 1, 1, 2, 3], ["Two", "children", "play", "."])
    characters = list("Two children play.")
    groups, labels = words_of(characters)
    assert labels == ["Two", "children", "play", "."]
    assert groups == [0, 0, 0, *9 * [1], *5 * [2], 3], "a space is of the word after it"
    assert words_of([" ", " "]) == ([0, 0], ["␣␣"])
    assert words_of(["a", " "])[0] == [0, 0]


@pytest.mark.parametrize(
    ("n", "pixels", "each", "first", "step"),
    [
        (6, 78, 13, 0, 1),
        (6, 77, 13, 0, 2),
        (30, 242, 13, 0, 2),
        (31, 380, 27, 1, 5),
        (1000, 20, 1, 0, 50),
        (1, 0, 13, 0, 1),
        (3, 1, 100, 0, 5),
        (0, 5, 13, 0, 1),
    ],
)
def test_every_so_many_labels_are_shown_as_have_room(
    n: int, pixels: float, each: float, first: int, step: int
) -> None:
    assert thinned(n, pixels, each, first) == range(first, n, step)
