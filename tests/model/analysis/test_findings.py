"""Protects what Findings picks: the head that copies, the longest edge, where answers settle."""

from dataclasses import replace

import numpy as np
import pytest

from model.analysis.circuits import value_norms
from model.analysis.findings import copied, heaviest_arrow, settled_from
from model.analysis.heads import induction_head
from model.capture import capture
from model.trace import Trace
from tests.model.builders import tiny_model
from tests.viz.builders import stories, stories_trace

TOM = "Tom had a red ball. Tom gave Sam the red ball."


def mean_by_hand(trace: Trace, layer: int, head: int) -> float:
    """The mean weight of a head, over all tokens that come again, on what followed them before."""
    ids, pattern = trace.ids.tolist(), trace.attention[layer].pattern[head]
    again = {i: [j for j in range(1, i) if ids[j - 1] == ids[i]] for i in range(len(ids))}
    return float(np.mean([sum(pattern[i, j] for j in keys) for i, keys in again.items() if keys]))


@pytest.mark.parametrize("text", [TOM, "The dog saw Mia and the dog was happy.", "no, no, no, yes"])
def test_the_induction_head_has_the_largest_mean_of_all(text: str) -> None:
    trace = stories_trace(text)
    named = induction_head(trace)
    assert named is not None
    heads = {(i, j): mean_by_hand(trace, i, j) for i in range(6) for j in range(8)}
    assert (named.site.layer, named.head) == max(heads, key=lambda head: heads[head])
    assert named.role.value == pytest.approx(max(heads.values()), abs=1e-6)


def planted(always: float, predicts: int) -> Trace:
    """A text said twice. L0 H0 copies once, with all its weight, L1 H2 at each of the repeats.

    The rest lies on the first token. predicts: at how many repeats the model expects the copy.
    """
    ids = np.array([3, 7, 5, 9, 3, 7, 5, 9])
    trace = capture(tiny_model(), ids.tolist(), [str(i) for i in ids])
    logits = np.zeros((8, 17))
    logits[range(4, 4 + predicts), ids[1 : 1 + predicts]] = 1.0
    wanted = {(0, 0): [0.0, 1.0, 0.0, 0.0], (1, 2): [always] * 4}
    records = []
    for layer, record in enumerate(trace.attention):
        pattern = np.zeros_like(record.pattern)
        pattern[:, range(4), range(4)] = 1.0
        for head in range(record.n_heads):
            weights = np.array(wanted.get((layer, head), [0.0] * 4))
            pattern[head, range(4, 8), range(1, 5)] = weights
            pattern[head, range(4, 8), 0] = 1.0 - weights
        records.append(replace(record, pattern=pattern))
    return replace(trace, attention=tuple(records), output=logits)


def test_a_head_that_always_copies_comes_before_one_that_did_so_once() -> None:
    trace = planted(0.6, predicts=2)
    found = copied(trace)
    assert found is not None
    assert (found.edge.site.layer, found.edge.head) == (1, 2)
    assert (found.role.value, found.role.n_queries) == (pytest.approx(0.6), 4)
    assert (found.edge.query, found.edge.key, found.edge.value) == (4, 1, pytest.approx(0.6))
    assert found.n_predicted == 2
    assert induction_head(planted(0.3, predicts=4)) is None


@pytest.mark.parametrize(("always", "predicts"), [(0.6, 0), (0.6, 1), (0.3, 4)])
def test_no_copy_is_told_of_where_no_head_is_named_or_the_model_copies_nothing(
    always: float, predicts: int
) -> None:
    assert copied(planted(always, predicts)) is None


def test_where_nothing_comes_twice_there_is_no_copy() -> None:
    assert induction_head(stories_trace("A boy ran home.")) is None


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
