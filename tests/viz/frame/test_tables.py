"""Protects tables: a spreadsheet reads one row per token, whatever the tokens are."""

import numpy as np
import pytest

from tests.viz.builders import ODD_SENTENCES, csv_rows, stories_trace
from viz.frame import tables


@pytest.mark.parametrize("name", ["line-breaks", "control", "right-to-left", "latex"])
def test_table_has_one_row_a_token(name: str) -> None:
    trace = stories_trace(ODD_SENTENCES[name])
    values = trace.attention[0].pattern[0]
    header, *rows = csv_rows(tables.tokens_csv(values, trace.tokens))
    assert header[0] == "query \\ key"
    assert len(rows) == len(trace.tokens)
    assert np.array([row[1:] for row in rows], float) == pytest.approx(values)
