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


def test_a_table_has_no_more_digits_than_float32() -> None:
    """Probabilities are summed in float64, but of logits in float32."""
    rows = [{"token": "a", "probability": 1 / 3, "id": 2**40}]
    _, *found = csv_rows(tables.frame_csv(tables.frame(rows)))
    assert found == [["a", "0.33333334", str(2**40)]]
    found = csv_rows(tables.matrix_csv(np.array([[0.1, 2 / 3]]), corner="row"))[1]
    assert found == ["0", "0.1", "0.6666667"]
