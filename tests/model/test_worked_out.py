"""Protects scores and patterns that are worked out when looked at: the numbers of a whole array."""

import numpy as np
import pytest
import torch

from model.adopted.attention import softcapped, sunk
from model.attention import attention_pattern, attention_scores, share_kv_heads
from model.worked_out import Attending, Square, WorkedOut

H, TQ, TK, SCALE, CAP = 4, 5, 7, 0.3, 2.0
ALL = slice(None)
INDICES = (
    2, -1, slice(1, 3), slice(4, 9), (2, 3), (2, 3, -2), (1, ALL, 3), (ALL, 3), (ALL, 3, 2),
    (ALL, slice(2, 4)), (slice(0, 2), ALL, slice(1, 4)), (..., 1), (ALL, [0, 2]), np.array([3, 0]),
)  # fmt: skip


def both(name: Square, *, is_plain: bool) -> tuple[WorkedOut, np.ndarray]:
    """What is worked out, and the same by torch. One row of a head may attend to nothing."""
    generator = torch.Generator().manual_seed(0)
    q, k = (torch.randn(1, n, 8, 8, generator=generator) for n in (H, H // 2))
    q, k, mask = q[:, :, :TQ], k[:, :, :TK], torch.rand(H, TQ, TK, generator=generator) > 0.4
    mask[1, 3] = False
    bias = None if is_plain else torch.randn(H, TQ, TK, generator=generator)
    sinks = None if is_plain else torch.randn(H, generator=generator)
    scores = attention_scores(q, share_kv_heads(k, H), bias, SCALE)
    scores = scores if is_plain else softcapped(scores, CAP)
    pattern = attention_pattern(scores, mask) if sinks is None else sunk(scores, mask[None], sinks)
    given = Attending(
        q=q[0].numpy(),
        k=k[0].numpy(),
        scale=SCALE,
        bias=None if bias is None else bias.numpy(),
        mask=mask.numpy(),
        softcap=None if is_plain else CAP,
        sinks=None if sinks is None else sinks.numpy(),
    )
    return WorkedOut(given, name), {"scores": scores, "pattern": pattern}[name][0].numpy()


@pytest.mark.parametrize("is_plain", [True, False])
@pytest.mark.parametrize("name", ["scores", "pattern"])
def test_what_is_looked_at_is_that_part_of_the_whole(name: Square, is_plain: bool) -> None:
    found, whole = both(name, is_plain=is_plain)
    assert (found.shape, found.ndim, found.size, len(found)) == (whole.shape, 3, whole.size, H)
    np.testing.assert_allclose(np.asarray(found), whole, atol=1e-6)
    np.testing.assert_allclose(np.stack(list(found)), whole, atol=1e-6)
    for index in INDICES:
        part = found[index]
        assert (part.shape, part.dtype) == (whole[index].shape, np.float32), index
        np.testing.assert_allclose(part, whole[index], atol=1e-6)
    assert not found[1].flags.writeable and not np.asarray(found).flags.writeable
    with pytest.raises(IndexError):
        found[H]
