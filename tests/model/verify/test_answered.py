"""Protects what pages tell of one input in words, as it is worked out once more."""

import numpy as np
import pytest

from model.reference import Files
from model.verify.derived import Ran
from model.verify.found import copies
from model.verify.merged import MERGED
from model.verify.searched import IndependentTexts, Tree
from model.verify.texts import NO_WORDS, Vocabulary

TEXTS = Vocabulary(
    {0: b"a", 1: b"b", 2: b" ", 3: b" a", 4: "é".encode()[:1]},
    keeps_all=True,
    merges={(2, 0): (6, 3)},
)


def ran(ids: list[int]) -> Ran:
    """Nothing but ids."""
    return Ran(Files({}, {}), {"decoder.ids": np.array(ids)}, TEXTS)


def test_a_text_is_counted_without_the_space_before_it_and_without_a_cut_character() -> None:
    text = ran([3, 1, 3, 4])  # “ ab a” and half of an é
    assert MERGED["text.sizes"](text, 4, 1).tolist() == [4, 4, 2, 4]
    assert MERGED["text.sizes"](text, 4, 0).tolist() == [5, 5, 2, 4]
    assert MERGED["text.tokens_per_word"](text, 4, 1) == 2
    assert MERGED["text.bytes_per_token"](text, 2, 1) == 1


def test_each_token_has_its_bytes_its_merges_and_the_last_of_them() -> None:
    text = ran([3, 1])
    assert MERGED["merges.bytes_of_each"](text, 2).tolist() == [2, 1]
    assert MERGED["merges.of_each"](text, 2).tolist() == [1, 0]
    assert MERGED["merges.last_of_each"](text, 2).tolist() == [7, -1]


def test_copies_are_what_came_after_the_same_token() -> None:
    weights = np.arange(32.0).reshape(1, 2, 4, 4)
    arrays = {"decoder.ids": np.array([5, 6, 5, 6])}
    arrays["decoder.blocks.0.attn.pattern"] = weights[0]
    found = copies(Ran(Files({}, {}), arrays), "decoder.attn")
    assert [tuple(place) for place in np.argwhere(found[0, 1])] == [(2, 1), (3, 2)]
    assert found[0, 1, 3, 2] == weights[0, 1, 3, 2]


AFTER = {
    (): np.log([0.5, 0.3, 0.15, 0.05]),
    (0,): np.log([0.4, 0.3, 0.2, 0.1]),
    (1,): np.log([0.7, 0.1, 0.1, 0.1]),
    (2,): np.log([0.7, 0.1, 0.1, 0.1]),
}


class _Predicted(IndependentTexts):
    """What follows each text of a vocabulary of four, as it is made up."""

    @property
    def after(self) -> dict[tuple[int, ...], np.ndarray]:
        """By the text."""
        return AFTER


FOUND = ((0,), (1,), (2,), (3,), (1, 0), (0, 0), (0, 1), (0, 2), (0, 3))


def searched(places: tuple[int, ...], end_id: int = -1) -> _Predicted:
    """A search with two beams."""
    tree = Tree(FOUND, places, 2, end_id)
    return _Predicted(Files({}, {}), (), tree, 0.0, NO_WORDS)


def test_texts_have_their_places_among_all_continuations_of_their_step() -> None:
    run = searched((0, 1, 2, 3, 0, 1, 2, 3))
    assert run.array("texts.places").tolist()[:8] == [0, 1, 2, 3, 0, 1, 2, 3]
    assert np.isnan(run.array("texts.places")[8])  # another search looked at it
    assert run.array("texts.branches")[12:18].tolist() == pytest.approx(
        [1, 0, np.nan, 0, 1, np.nan], nan_ok=True
    )
    wrong = searched((1, 0, 2, 3, 1, 0, 2, 3))
    assert wrong.array("texts.places").tolist()[4:6] == [0, 1]


def test_what_follows_a_text_that_was_not_kept_has_no_place() -> None:
    run = searched((2, 1, 0, 3, 0, 1, 2, 3))
    assert np.isnan(run.array("texts.places")[5])


def test_the_winner_is_one_of_those_kept_last_or_ended() -> None:
    run = searched((0, 1, 2, 3, 0, 1, 2, 3))
    may_win = np.isfinite(run.array("texts.winners"))
    assert may_win.tolist() == [text in ((1, 0), (0, 0)) for text in FOUND]
    ended = searched((0, 1, 2, 3, 0, 1, 2, 3), end_id=1)
    may_win = np.isfinite(ended.array("texts.winners"))
    assert may_win.tolist() == [text in ((1,), (1, 0)) for text in FOUND]


def test_a_greedy_text_has_the_most_likely_token_each_time() -> None:
    greedy = searched((0, 1, 2, 3, 0, 1, 2, 3)).array("texts.greedy")
    assert np.isfinite(greedy).tolist() == [text in ((0,), (0, 0)) for text in FOUND]
