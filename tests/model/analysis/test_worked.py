"""Protects attention by hand: known examples to the digit, and one line for what is none."""

import numpy as np
import pytest

from model.analysis.worked import LARGEST, Example, read_cells, work_out
from model.verify.by_hand import IndependentByHand

IDENTITY = ((1.0, 0.0), (0.0, 1.0))


def independent(example: Example) -> IndependentByHand:
    """The same numbers for the code that shares nothing with ours."""
    return IndependentByHand(**vars(example))


def test_two_tokens_attend_with_one_third_and_two_thirds() -> None:
    """The example of two tokens: scores 0 and 1/√2, printed as 0.33 and 0.67."""
    worked = work_out(Example(IDENTITY, IDENTITY, IDENTITY))
    np.testing.assert_array_equal(worked.weights[0].round(2), [[0.67, 0.33], [0.33, 0.67]])


def test_three_dot_products_are_not_what_a_text_prints() -> None:
    """The example of three tokens: a text prints 0.72, −0.53 and 1.02."""
    q, k = ((1.0, 0.4),) * 3, ((0.6, 0.4), (-0.55, 0.1), (0.9, 0.4))
    worked = work_out(Example(q, k, k))
    np.testing.assert_array_equal(worked.products[0, 0].round(12), [0.76, -0.51, 1.06])


def test_padding_gets_nothing_and_the_rest_adds_up_to_one() -> None:
    """The example of valid lengths."""
    q = ((1.0, 0.0), (0.0, 1.0), (1.0, 1.0))
    worked = work_out(Example(q, q, q, masking="valid", n_valid=2))
    assert (worked.weights[0, :, 2] == 0).all()
    np.testing.assert_allclose(worked.weights[0].sum(axis=-1), 1)


def test_a_row_with_every_key_masked_has_no_weights() -> None:
    worked = work_out(Example(IDENTITY, IDENTITY, IDENTITY, masking="valid", n_valid=0))
    assert (worked.weights == 0).all()
    assert (worked.z == 0).all()


@pytest.mark.parametrize("masking", ["none", "causal", "valid"])
@pytest.mark.parametrize("n_heads", [1, 2])
@pytest.mark.parametrize("is_scaled", [True, False])
def test_every_step_is_that_of_independent_code(
    masking: str, n_heads: int, is_scaled: bool
) -> None:
    rng = np.random.default_rng(0)
    q, k, v, out = (tuple(map(tuple, rng.normal(size=(4, 4)).tolist())) for _ in range(4))
    example = Example(q, k, v, out, n_heads, masking, 3, is_scaled)
    worked, other = work_out(example), independent(example)
    for head in range(n_heads):
        for name in ("products", "scores", "weights", "z"):
            ours = getattr(worked, name)[head]
            np.testing.assert_allclose(ours, other.array(f"hand.{name}.{head}"), atol=1e-13)
        hidden = np.isneginf(other.array(f"hand.masked.{head}"))
        np.testing.assert_array_equal(hidden, ~worked.mask)
    np.testing.assert_allclose(worked.output, other.array("hand.output"), atol=1e-13)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("1,x|2|3|", "Q row 1, column 2: “x” is not a number"),
        ("1|2|3", "2 bars: three are needed, between Q, K, V and W_O, which may be empty"),
        ("", "0 bars: three are needed"),
    ],
)
def test_text_that_is_no_matrices_is_refused_in_a_line(text: str, line: str) -> None:
    with pytest.raises(ValueError, match=line):
        read_cells(text)


@pytest.mark.parametrize(
    ("cells", "line"),
    [
        ("|1|1|", "Q needs rows of the same length, one number at least"),
        ("1,2;3|1,2;3,4|1;1|", "Q needs rows of the same length"),
        ("1|1;2|1|", "Q is 1 × 1 and K 2 × 1: both need the same size"),
        ("1|1|1;2|", "V has 2 rows and K 1: one value for each key"),
        ("nan|1|1|", "Q row 1, column 1: nan is not within ±1000"),
        ("inf|1|1|", "Q row 1, column 1: inf is not within"),
        (f"{10 * LARGEST}|1|1|", "10000 is not within ±1000"),
        ("1|1|1|1;1", "W_O has 2 rows: one for each of 1 columns"),
        (f"{','.join('1' * 7)}|1|1|", "Q is 1 × 7: at most 6 × 6 numbers"),
    ],
)
def test_numbers_that_do_not_fit_are_refused_in_a_line(cells: str, line: str) -> None:
    with pytest.raises(ValueError, match=line):
        Example(*read_cells(cells))


def test_heads_share_columns_evenly_or_not_at_all() -> None:
    one = ((1.0, 2.0, 3.0),)
    with pytest.raises(ValueError, match="3 of Q's columns cannot be split among 2 heads"):
        Example(one, one, one, n_heads=2)
    with pytest.raises(ValueError, match="3 columns of V cannot be split among 2 heads"):
        Example(((1.0, 2.0),), ((1.0, 2.0),), one, n_heads=2)
    with pytest.raises(ValueError, match="no masking “all”"):
        Example(one, one, one, masking="all")


@pytest.mark.parametrize("address", ["hand.weights.2", "hand.weights", "hand.output", "x", "q[9]"])
def test_there_is_nothing_at_other_addresses(address: str) -> None:
    with pytest.raises(ValueError, match="there is nothing at"):
        independent(Example(IDENTITY, IDENTITY, IDENTITY)).array(address)
