"""Protects the counts of steps: as many are really taken."""

import pytest
import torch

from model.architectures.recurrent import GatedUnit, Recurrent
from model.recurrence.steps import steps
from tests.model.recurrence.test_translators import tiny


def units_to_an_end(model: Recurrent, n_source: int, place: int) -> int:
    """How many states of a direction a token changes, in the direction where they are fewer."""
    x = torch.randn(1, n_source, model.config.n_embedding)
    reached = []
    for backwards in (False, True):
        states = model.forwards(x, backwards=backwards)[0]  # (Ts, h), of the row's places
        changed = x.clone()
        changed[0, place] += 1
        moved = (model.forwards(changed, backwards=backwards)[0] != states).any(dim=-1)
        reached.append(int(moved.sum()))
    return min(reached)


@pytest.mark.parametrize("n", [1, 2, 9, 16, 31])
def test_steps_grow_with_a_row_where_states_follow_each_other(n: int) -> None:
    fixed, additive, transformer = (
        steps(tiny(x).config, n) for x in ("fixed", "additive", "transformer")
    )
    assert fixed.known == fixed.writing == additive.known == 2 * n + 3
    assert (transformer.known, transformer.writing) == (4, 2 + 2 * (n + 1))
    model = tiny("fixed")
    assert isinstance(model, Recurrent)
    walked = [units_to_an_end(model, n + 2, place) for place in range(1, n + 1)]
    assert fixed.from_source == max(walked)
    assert (additive.from_source, transformer.from_source) == (2, 1)
    assert (fixed.within_target, transformer.within_target) == (n + 1, 1)


def test_as_many_steps_are_really_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both directions of the encoder run side by side, so its calls count once."""
    taken: list[int] = []
    whole = GatedUnit.step

    def counted(self: GatedUnit, projected: torch.Tensor, h: torch.Tensor) -> torch.Tensor:
        taken.append(1)
        return whole(self, projected, h)

    monkeypatch.setattr(GatedUnit, "step", counted)
    n, model = 6, tiny("additive")
    model(torch.zeros(1, n + 2, dtype=torch.long), torch.zeros(1, n + 1, dtype=torch.long))
    assert len(taken) - (n + 2) == steps(model.config, n).known
