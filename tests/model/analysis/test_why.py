"""Protects why a head looks there: sums are the scores that ran, and words are who they name."""

from copy import deepcopy
from typing import Any

import numpy as np
import pytest
import torch

from model import reference
from model.analysis.why.opened import in_words, with_mlps_opened
from model.analysis.why.reasons import KINDS, Cell, Reasons, reasons
from model.analysis.why.sentence import sentence
from model.analysis.why.sides import sides_of
from model.analysis.why.tables import number_of, word_rows
from model.analysis.writers import written
from model.architectures.base import Transformer
from model.capture import capture
from model.sources import checkpoint
from model.trace import Site, Trace
from tests.model.adopted.test_parts import FAMILIES, captured
from tests.model.analysis.test_attribution import CASES, IDS, Changes, Make, ran
from tests.model.builders import all_arrays, files_of, tiny_model

Array = np.ndarray
PICTURES = {"vit", "deit", "dinov2"}  # whose traces here have no picture that could be run again
EXACT = 5e-6  # of the largest score of a row


def cells_of(model: Transformer, trace: Trace) -> list[Cell]:
    """Two cells of each attention: the last query's strongest key, and an early one's first."""
    cells = []
    for record in trace.attention:
        asked, head = reasons(trace, model, record.site), record.site.layer % record.n_heads
        for query in (1, record.q.shape[1] - 1):
            seen = record.mask_of(head)[query]
            if seen.sum() > 1:
                key = int(np.where(seen, record.pattern[head][query], -1).argmax())
                cells.append(asked.cell(head, query, key))
    return cells


def check_cell(cell: Cell) -> None:
    """All ways to write one score give the one that ran."""
    of, record = cell.of, cell.of.record
    own = np.asarray(record.scores[of.head][of.query], float)
    least = EXACT * np.abs(own[of.seen]).max() + 1e-7
    query, keys = cell.writers
    for scores in (
        cell.apart.scores,
        cell.words.scores,
        query.terms.sum(axis=0) + of.added,
        keys.terms.sum(axis=0) + of.added,
    ):
        np.testing.assert_allclose(of.bent(scores)[of.seen], own[of.seen], rtol=0, atol=least)
    raw = cell.apart.scores
    expected = raw[cell.key] - raw[of.seen].mean()
    assert sum(cell.kinds.values()) == pytest.approx(expected, abs=4 * least)
    rest = of.against(of.added, cell.key)
    assert cell.words.centred(cell.key).sum() + rest == pytest.approx(expected, abs=4 * least)
    np.testing.assert_allclose(
        of.weights(raw), np.asarray(record.pattern[of.head])[of.query], rtol=0, atol=1e-5
    )


@pytest.mark.parametrize(("make", "changes"), CASES)
def test_sums_are_the_scores_of_our_models(make: Make, changes: Changes) -> None:
    cells = cells_of(*ran(make(**changes)))
    assert cells
    for cell in cells:
        check_cell(cell)
        assert sentence(cell)


@pytest.mark.parametrize("family", sorted({*FAMILIES} - PICTURES))
def test_sums_are_the_scores_of_models_of_others(family: str) -> None:
    model, trace = captured(family)
    for cell in cells_of(model, trace):
        check_cell(cell)
        assert sentence(cell)
