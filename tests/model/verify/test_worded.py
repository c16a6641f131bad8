"""Protects what is said in words beside figures: which tokens are named, and what is lower."""

import numpy as np
import pytest

from model.reference import Files
from model.verify.derived import Ran
from model.verify.schemes import OF_SCHEMES
from model.verify.sized import SIZED
from model.verify.worded import WORDED, WORDED_OF_A_SITE

IDS = np.array([7, 3, 9, 5])
SITE = "decoder.blocks.0.attn"


def ran(**arrays: np.ndarray) -> Ran:
    """A run of four tokens with these arrays of its one layer."""
    own = {f"{SITE}.{name}": array for name, array in arrays.items()}
    return Ran(Files({}, {}), {"decoder.ids": IDS, **own})


def pattern(*cells: tuple[int, int, float]) -> np.ndarray:
    """One head's weights, (1, 4, 4): all on the first key but for these."""
    found = np.zeros((1, 4, 4))
    found[0, :, 0] = 1.0
    for query, key, weight in cells:
        found[0, query, [0, key]] = 1 - weight, weight
    return found


def test_the_strongest_pair_passes_over_the_first_key_and_a_tokens_own() -> None:
    strongest = WORDED_OF_A_SITE["strongest"]
    found = pattern((2, 2, 0.9), (3, 1, 0.2), (2, 1, 0.1))
    assert strongest(ran(pattern=found), SITE).tolist() == [[5, 3]]
    assert strongest(ran(pattern=pattern()), SITE).tolist() == [[-1, -1]], "four of the same"
    alike = pattern((2, 1, 0.2), (3, 1, 0.2 + 1e-7))
    assert strongest(ran(pattern=alike), SITE).tolist() == [[-1, -1]]


def test_a_row_that_is_masked_whole_sums_to_nothing() -> None:
    scores = np.random.default_rng(0).normal(size=(3, 4, 4))
    assert WORDED_OF_A_SITE["emptied"](ran(scores=scores), SITE).tolist() == [0, 0, 0]


def test_pad_tokens_are_nobodys_words() -> None:
    assert WORDED["pads.ids"](ran(), 0, 2).tolist() == [-1, -1, 9, 5]
    assert WORDED["pads.row"](ran(), 0, 3).tolist() == [-1, 5]
    assert WORDED["pads.row"](ran(), 2, 4).tolist() == [7, 3, -1]


def test_masks_in_numbers() -> None:
    mask = np.tri(4, dtype=bool)
    mask[2] = False
    mask[1, 2] = True
    of = ran(mask=mask)
    assert WORDED["mask.empty"](of).tolist() == [2]
    assert (int(WORDED["mask.ahead"](of)), int(WORDED["mask.pairs"](of))) == (1, 16)
    assert int(WORDED["window.before"](of, 3)) == 2
    assert [int(WORDED["first.tokens"](of, n)) for n in (2, 9)] == [2, 4]


def test_the_likeliest_other_token_is_not_the_last_one() -> None:
    logits = np.array([[0.0, 0, 0, 0, 0, 0, 0, 0, 0, 0], [0, 1, 2, 3, 4, 9, 5, 0, 0, 0]])
    of = Ran(Files({}, {}), {"decoder.ids": np.array([1, 5]), "output": logits[[1, 0]]})
    assert WORDED["past.exchanged"](of).tolist() == [5, 6]


def test_orders_of_layers() -> None:
    found = SIZED["layers.costs"](ran(), 10, 4, 3, 4)
    assert found.tolist() == [[400, 1, 1], [160, 10, 10], [480, 1, 3], [160, 1, 3]]


def test_what_is_said_to_extrapolate_must(monkeypatch: pytest.MonkeyPatch) -> None:
    line = {"window": 8, "by_position": [4.0, 3.0, 2.0, 2.5]}
    monkeypatch.setattr("model.verify.schemes.stored", lambda of, window: line)
    assert OF_SCHEMES["stored.inside"](ran(), 8, 4) == 3.0
    assert OF_SCHEMES["stored.no_more"](ran(), 8, 4) == 2.25
    assert np.isnan(OF_SCHEMES["stored.more"](ran(), 8, 4))
