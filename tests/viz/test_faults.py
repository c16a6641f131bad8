"""Protects what the badge is for: a model that is not what its files say turns it red."""

import pytest
import torch

from model.sources import checkpoint
from tests.viz.apps import TOM, open_page
from viz import runs


@pytest.mark.parametrize(("factor", "says"), [(1.001, "checks failed"), (1.0, "Verified")])
def test_the_badge_is_red_where_a_weight_is_not_its_file_s(
    factor: float, says: str, monkeypatch: pytest.MonkeyPatch, forgetful: None
) -> None:
    """What each check sees: `tests/model/verify`."""
    found = checkpoint.load("stories", "cpu")
    with torch.inference_mode():
        found.decoder.blocks[4].ffn.up.weight.mul_(factor)
    monkeypatch.setattr(runs.table, "open_model", lambda handle: found)
    (badge,) = open_page("Attention", sentence=TOM).get("popover")
    assert says in badge.proto.popover.label
