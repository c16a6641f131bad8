"""Protects what Findings picks: the strongest copy, the longest arrow, where an answer settles."""

import numpy as np
import pytest

from model.analysis.circuits import value_norms
from model.analysis.findings import heaviest_arrow, settled_from, strongest_copy
from tests.viz.builders import stories, stories_trace

TOM = "Tom had a red ball. Tom gave Sam the red ball."


def test_the_strongest_copy_is_the_largest_of_all_cells_of_its_kind() -> None:
    trace = stories_trace(TOM)
    found = strongest_copy(trace)
    assert found is not None
    ids = trace.ids.tolist()
    assert ids[found.key - 1] == ids[found.query]
    cells = [
        float(record.pattern[head, query, key])
        for record in trace.attention
        for head in range(record.n_heads)
        for query in range(len(ids))
        for key in range(1, query)
        if ids[key - 1] == ids[query]
    ]
    assert found.value == max(cells)
    record = next(x for x in trace.attention if x.site == found.site)
    assert record.pattern[found.head, found.query, found.key] == found.value


def test_where_nothing_comes_twice_there_is_no_copy() -> None:
    assert strongest_copy(stories_trace("A boy ran home.")) is None


def test_the_heaviest_arrow_is_the_longest_vector_that_is_added() -> None:
    trace, model = stories_trace(TOM), stories().model
    norms = [value_norms(record, model) for record in trace.attention]
    found = heaviest_arrow(trace.attention, norms)
    assert found is not None
    longest = 0.0
    for record in trace.attention:
        w_out = model.get_submodule(f"blocks.{record.site.layer}.attn").out_proj.weight
        columns = w_out.detach().double().numpy().reshape(w_out.shape[0], record.n_heads, -1)
        for head in range(record.n_heads):
            written = record.v[record.kv_head(head)].astype(np.float64) @ columns[:, head].T
            lengths = record.pattern[head, 1:] * np.linalg.norm(written, axis=-1)
            longest = max(longest, float(lengths.max()))
    assert found.value == pytest.approx(longest, rel=1e-5)


def test_a_single_token_has_no_arrow_to_choose() -> None:
    trace, model = stories_trace("A"), stories().model
    norms = [value_norms(record, model) for record in trace.attention]
    assert heaviest_arrow(trace.attention, norms) is None


@pytest.mark.parametrize(
    ("best", "row"), [([3, 3, 3], 0), ([1, 3, 3], 1), ([3, 1, 3], 2), ([1, 2, 3], 2), ([7], 0)]
)
def test_an_answer_settles_where_it_changes_for_the_last_time(best: list[int], row: int) -> None:
    assert settled_from(best) == row
