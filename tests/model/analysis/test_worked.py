"""Protects attention by hand: known examples to the digit, and one line for what is none."""

import numpy as np
import pytest

from model.analysis.worked import LARGEST, Example, read_cells, work_out

IDENTITY = ((1.0, 0.0), (0.0, 1.0))


def test_a_row_with_every_key_masked_has_no_weights() -> None:
    worked = work_out(Example(IDENTITY, IDENTITY, IDENTITY, masking="valid", n_valid=0))
    assert (worked.weights == 0).all()
    assert (worked.z == 0).all()


@pytest.mark.parametrize("masking", ["none", "causal", "valid"])
@pytest.mark.parametrize("n_heads", [1, 2])
@pytest.mark.parametrize("is_scaled", [True, False])
def test_every_step_is_that_of_a_plain_loop(masking: str, n_heads: int, is_scaled: bool) -> None:
    rng = np.random.default_rng(0)
    q, k, v, out = rng.normal(size=(4, 4, 4))
    rows = [tuple(map(tuple, x.tolist())) for x in (q, k, v, out)]
    worked = work_out(Example(*rows, n_heads, masking, 3, is_scaled))
    size = 4 // n_heads
    outputs = np.zeros((4, 4))
    for h in range(n_heads):
        part = slice(h * size, (h + 1) * size)
        for i in range(4):
            seen = {"none": 4, "causal": i + 1, "valid": 3}[masking]
            scores = [
                q[i, part] @ k[j, part] / (size**0.5 if is_scaled else 1) for j in range(seen)
            ]
            weights = np.exp(scores) / np.exp(scores).sum()
            np.testing.assert_allclose(worked.weights[h, i, :seen], weights, atol=1e-13)
            assert (worked.weights[h, i, seen:] == 0).all()
            outputs[i, part] = sum(w * v[j, part] for j, w in enumerate(weights))
    np.testing.assert_allclose(worked.output, outputs @ out, atol=1e-13)


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
