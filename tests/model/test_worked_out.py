"""Protects scores and patterns that are worked out when looked at: the parts of a whole array."""

import numpy as np
import pytest

from model.worked_out import Attending, Square, WorkedOut, softmax

ALL = slice(None)
INDICES = (
    2, -1, slice(1, 3), slice(4, 9), (2, 3), (2, 3, -2), (1, ALL, 3), (ALL, 3), (ALL, 3, 2),
    (ALL, slice(2, 4)), (slice(0, 2), ALL, slice(1, 4)), (..., 1), (ALL, [0, 2]), np.array([3, 0]),
)  # fmt: skip


@pytest.mark.parametrize("name", ["scores", "pattern"])
def test_what_is_looked_at_is_that_part_of_the_whole(name: Square) -> None:
    draw = np.random.default_rng(0)
    q, k = (draw.normal(size=size).astype(np.float32) for size in ((4, 5, 8), (2, 7, 8)))
    mask = draw.random((4, 5, 7)) > 0.4
    mask[1, 3] = False
    found = WorkedOut(Attending(q=q, k=k, scale=0.3, mask=mask), name)
    whole = 0.3 * q @ np.repeat(k, 2, axis=0).swapaxes(1, 2)
    if name == "pattern":
        powers = np.where(mask, np.exp(whole), 0)
        whole = powers / np.maximum(powers.sum(axis=-1, keepdims=True), 1e-9)
    assert (found.shape, found.ndim, found.size, len(found)) == (whole.shape, 3, whole.size, 4)
    np.testing.assert_allclose(np.stack(list(found)), whole, atol=1e-6)
    for index in INDICES:
        assert (found[index].shape, found[index].dtype) == (whole[index].shape, np.float32), index
        np.testing.assert_allclose(found[index], whole[index], atol=1e-6)
    assert not found[1].flags.writeable and not np.asarray(found).flags.writeable
    with pytest.raises(IndexError):
        found[4]


def test_softmax_by_hand() -> None:
    """Scores ln 1, ln 3 and ln 4, a sink of ln 2, and a row that sees nothing."""
    scores = np.log([[1.0, 3.0, 4.0], [1e-300, 1e300, 1.0]])
    np.testing.assert_allclose(softmax(scores), [[0.125, 0.375, 0.5], [0, 1, 0]], atol=1e-12)
    mask = np.array([[True, True, False], [False, False, False]])
    np.testing.assert_allclose(softmax(scores, mask), [[0.25, 0.75, 0], [0, 0, 0]])
    np.testing.assert_allclose(softmax(scores, mask, np.log(2)), [[1 / 6, 0.5, 0], [0, 0, 0]])
    assert scores[0, 0] == 0, "what is given stays as it is"
