"""Protects runs under many edits at once: each row is the run under its own edits alone."""

import pytest

from model.analysis.interventions import n_at_once, run_rows
from tests.model.builders import (
    set_head,
    set_position,
    tiny_model,
    tiny_translator,
)

IDS, OTHER = [3, 1, 4, 1, 5, 9, 2], [2, 7, 1, 8]


def test_refusals_name_what_is_wrong() -> None:
    model = tiny_model()
    with pytest.raises(ValueError, match="0 rows"):
        run_rows(model, IDS, [])
    with pytest.raises(ValueError, match=r"no value at decoder\.blocks\.7\.attn\.z"):
        run_rows(model, IDS, [(set_head("decoder.blocks.7.attn", 0),)])
    with pytest.raises(ValueError, match=r"all 2 rows .* share decoder\.positions"):
        run_rows(model, IDS, [(), (set_position("decoder.positions", 0, 1.0),)])
    with pytest.raises(ValueError, match="a source and a target"):
        run_rows(tiny_translator(), IDS, [()])


def test_batches_hold_as_many_rows_as_tokens_allow() -> None:
    assert n_at_once(range(32)) == 64
    assert n_at_once((range(20), range(12))) == 64
    assert n_at_once(range(5000)) == 1
