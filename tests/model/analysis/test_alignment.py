"""Protects alignments: words merged as defined, links as attended, agreement by hand."""

import numpy as np
import pytest

from model.analysis.alignment import (
    agreement,
    merged_to_words,
)


def test_weights_to_pieces_are_summed_and_those_from_them_averaged() -> None:
    pattern = np.random.default_rng(0).dirichlet(np.ones(5), size=4)
    rows, columns = [0, 0, 1, 2], [0, 1, 1, 1, 2]
    expected = [
        [
            np.mean([sum(pattern[i, j] for j in range(5) if columns[j] == column)
                     for i in range(4) if rows[i] == row])
            for column in range(3)
        ]
        for row in range(3)
    ]  # fmt: skip
    merged = merged_to_words(pattern, rows, columns)
    assert merged == pytest.approx(np.array(expected))
    assert merged.sum(axis=1) == pytest.approx(1)


def test_agreement_is_that_of_the_definition() -> None:
    """Four found, five by hand, three of them the same: 1 − 6 / 9."""
    found = {(0, 0), (1, 1), (2, 2), (5, 3)}
    sure = {(0, 0), (1, 1), (2, 2), (3, 3), (4, 3)}
    result = agreement(found, sure)
    assert (result.precision, result.recall) == (3 / 4, 3 / 5)
    assert result.error_rate == pytest.approx(1 / 3)
    assert agreement(sure, sure).error_rate == 0
    assert agreement({(9, 9)}, sure).error_rate == 1


def test_nothing_to_compare_is_named() -> None:
    with pytest.raises(ValueError, match="0 links found and 1 by hand"):
        agreement(set(), {(0, 0)})
