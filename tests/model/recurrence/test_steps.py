"""Protects the counts of steps, and the times: what is timed is what is said."""

import pytest
import torch
from torch import nn

from model.analysis.timing import summarise_ways
from model.recurrence import timing
from model.recurrence.gru import GatedUnit
from model.recurrence.steps import steps
from model.recurrence.timing import time_translators
from model.recurrence.translators import Recurrent, Translator
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
    fixed, additive, transformer = (steps(tiny(x), n) for x in ("fixed", "additive", "transformer"))
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
    assert len(taken) - (n + 2) == steps(model, n).known


class _Strange(Translator):
    forward = begin = fields = nn.Module.forward


def test_of_another_kind_nothing_is_known() -> None:
    with pytest.raises(TypeError, match="_Strange"):
        steps(_Strange(), 3)


def test_every_model_is_timed_at_every_length(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timing, "LENGTHS", (3, 5))
    models = {name: tiny(name) for name in ("fixed", "transformer")}
    timings = list(time_translators(models, budget_s=1e-9))
    assert len(timings) == 2 * 2 * timing.LEAST_ROUNDS
    assert [x.progress for x in timings] == sorted(x.progress for x in timings)
    assert timings[-1].progress == 1
    found = summarise_ways(timings, list(models))
    assert found is not None
    assert {name: list(x) for name, x in found.seconds.items()} == {name: [3, 5] for name in models}
    for name, by_n in found.quartiles.items():
        for n, (low, high) in by_n.items():
            assert low <= found.seconds[name][n] <= high
    assert found.difference < 1e-5
