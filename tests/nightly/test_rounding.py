"""Protects the bounds of arithmetic: other weights than those of the tests leave them room."""

from collections.abc import Callable

import numpy as np
import pytest
import torch

from model.adopted import model as adopted
from model.adopted.adopt import adopt
from model.decoding.predict import cache_for
from model.verify.check import relative_error
from tests.model.adopted.families import DECODERS, FAMILIES, UNEVEN, build, given
from tests.model.adopted.test_adopted import EXACT, afresh, expected

SEEDS = range(100, 110)
SPARE = 4  # what another processor adds up in another order may be off by so much more


def through_the_tap(family: str, seed: int) -> float:
    """Of patterns and output, from those of transformers."""
    _, trace = afresh(family, seed)
    out, patterns = expected.__wrapped__(family, seed)
    errors = [
        relative_error(np.asarray(record.pattern), pattern[0].numpy())
        for record, pattern in zip(trace.attention, patterns, strict=True)
    ]
    assert trace.output is not None
    return max(*errors, relative_error(trace.output, np.atleast_2d(out.logits[0])))


def worked_out(family: str, seed: int) -> float:
    """Of the scores and the output of a long run, from those of one that keeps all."""
    _, whole = afresh(family, seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(adopted, "KEPT_CELLS", 0)
        _, trace = afresh(family, seed)
    errors = [
        relative_error(np.asarray(record.scores), kept.scores)
        for record, kept in zip(trace.attention, whole.attention, strict=True)
    ]
    assert trace.output is not None and whole.output is not None
    return max(*errors, relative_error(trace.output, whole.output))


def through_the_cache(family: str, seed: int) -> float:
    """Of logits of a text that came in three parts, in float32."""
    model, ids = adopt(build(family, seed)), given(family, 9)["input_ids"]
    cache = cache_for(model)
    with torch.inference_mode():
        whole = model(ids)
        parts = [model(part, cache=cache) for part in ids.split([3, 1, 5], dim=1)]
    return relative_error(torch.cat(parts, dim=1).numpy(), whole.numpy())


@pytest.mark.parametrize(
    ("error", "families"),
    [
        (through_the_tap, FAMILIES),
        (worked_out, FAMILIES),
        (through_the_cache, DECODERS | UNEVEN),
    ],
    ids=lambda x: getattr(x, "__name__", ""),
)
def test_bounds_leave_room_for_other_processors(
    error: Callable[[str, int], float],
    families: dict[str, object],
    record_property: Callable[[str, object], None],
) -> None:
    worst = {family: max(error(family, seed) for seed in SEEDS) / EXACT for family in families}
    lines = [f"{family:.<20} {ratio:.3f}" for family, ratio in worst.items()]
    record_property(f"error / bound, {error.__name__}", "\n".join(lines))
    assert max(worst.values()) < 1 / SPARE
