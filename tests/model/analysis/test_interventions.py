"""Protects runs under many edits at once: each row is the run under its own edits alone."""

import numpy as np
import pytest
import torch
from torch import Tensor

from model.analysis.interventions import n_at_once, run_rows
from model.architectures.base import Transformer
from model.tap import Edit, Editor, attach, set_at
from tests.model.builders import (
    set_head,
    set_position,
    set_weight,
    tiny_encoder,
    tiny_model,
    tiny_picture,
    tiny_translator,
    tiny_vision,
)

IDS, OTHER = [3, 1, 4, 1, 5, 9, 2], [2, 7, 1, 8]


def alone(model: Transformer, arguments: tuple[Tensor, ...], edits: tuple[Edit, ...]) -> Tensor:
    """The output of a single run under an editor."""
    editor = Editor(*edits)
    with torch.inference_mode():
        return model(*arguments, tap=attach(editor))[0]


CASES = {
    "decoder": (tiny_model, IDS, "decoder.blocks.1.attn"),
    "encoder": (tiny_encoder, IDS, "encoder.blocks.1.attn"),
    "translator, target": (tiny_translator, (IDS, OTHER), "decoder.blocks.1.cross_attn"),
    "translator, source": (tiny_translator, (IDS, OTHER), "encoder.blocks.2.attn"),
    "vision": (tiny_vision, tiny_picture(), "encoder.blocks.1.attn"),
}


@pytest.mark.parametrize("name", CASES)
def test_each_row_is_the_single_run_of_every_architecture(name: str) -> None:
    make, given, site = CASES[name]
    model = make()
    block = site.rpartition(".")[0]
    rows = [
        (set_head(site, 2),),
        (set_weight(site, 0, 3, 2),),
        (),
        (set_at(f"{block}.ffn.activation", (slice(None), slice(None), 5), 0.0),),
        (set_position(f"{block}.ffn_out", 2, 0.3), set_head(site, 0, -0.2)),
    ]
    found = run_rows(model, given, rows)
    parts = given if isinstance(given, tuple) else (given,)
    arguments = tuple(torch.tensor(np.asarray(part))[None] for part in parts)
    for row, edits in enumerate(rows):
        expected = alone(model, arguments, edits)
        worst = (found[row] - expected).abs().max() / expected.abs().max()
        assert worst <= 1e-5, rows[row]
    assert (found[0] - found[2]).abs().max() > 1e-4, "the edits matter"


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
