"""Protects what a browser is sent of a score: each sum of it is the score that ran."""

import numpy as np
import pytest

from model.analysis.why.reasons import reasons
from tests.model.builders import softmax
from tests.viz.builders import scheme_model, stories, trace_of
from viz.kit.parts.why import why_part

TEXT = "Tom saw a dog. Tom saw"


@pytest.mark.parametrize("scheme", ["", "alibi", "rope"])
def test_each_sum_is_the_row_that_ran(scheme: str) -> None:
    loaded = scheme_model(scheme) if scheme else stories()
    trace = trace_of(loaded, TEXT)
    record = trace.attention[1]
    query, key = len(trace.tokens) - 1, 2
    part = why_part(reasons(trace, loaded.model, record.site).cell(1, query, key))
    arrays = {name: part.arrays[name].astype(float) for name in part.arrays}
    seen = part.arrays["seen"]
    ran = record.scores[1][query][seen]
    for name in ("kinds", "words", "query", "keys"):
        terms = arrays[name].reshape(-1, len(seen))
        scores = (terms.sum(axis=0) + arrays["added"])[seen]
        np.testing.assert_allclose(scores, ran, atol=2e-5)
        np.testing.assert_allclose(softmax(scores), arrays["weights"][seen], atol=1e-5)
    assert np.any(arrays["added"]) == (scheme == "alibi")


def test_a_second_key_is_compared_from_the_start() -> None:
    loaded = stories()
    trace = trace_of(loaded, TEXT)
    asked = reasons(trace, loaded.model, trace.attention[2].site)
    part = why_part(asked.cell(0, 6, 5, other=0))
    assert (part.spec["against"], part.state["other"]) == (0, 0)
    assert why_part(asked.cell(0, 6, 5)).state == {"taken": "", "other": None}
