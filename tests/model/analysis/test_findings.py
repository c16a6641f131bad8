"""Protects what Findings picks: the head that copies, the longest edge, where answers settle."""

from dataclasses import replace

import numpy as np
import pytest

from model.analysis.circuits import value_norms
from model.analysis.findings import copied, heaviest_arrow, settled_from
from model.analysis.heads import Role, induction_head
from model.capture import capture
from tests.model.builders import tiny_model
from tests.viz.builders import stories, stories_trace

TOM = "Tom had a red ball. Tom gave Sam the red ball."


@pytest.mark.parametrize("text", [TOM, "The dog saw Mia and the dog was happy.", "no, no, no, yes"])
def test_the_induction_head_has_the_largest_mean_of_all(text: str) -> None:
    trace = stories_trace(text)
    found, ids = induction_head(trace), trace.ids.tolist()
    places = [[j for j in range(1, i) if ids[j - 1] == ids[i]] for i in range(len(ids))]
    means = {
        (layer, head): np.mean([pattern[i, js].sum() for i, js in enumerate(places) if js])
        for layer, record in enumerate(trace.attention)
        for head, pattern in enumerate(record.pattern)
    }
    assert found is not None
    site, head, role = found
    assert (site.layer, head) == max(means, key=lambda at: means[at])
    assert role.value == pytest.approx(max(means.values()), abs=1e-6)


@pytest.mark.parametrize(
    ("always", "n_predicted", "is_told"),
    [(0.6, 2, True), (0.6, 1, False), (0.6, 0, False), (0.3, 4, False)],
)
def test_who_copies_at_each_repeat_is_named_before_who_did_so_once(
    always: float, n_predicted: int, is_told: bool
) -> None:
    """Of a text said twice L0 H0 copies one token with all its weight, L1 H2 each with a part.

    The rest lies on the first token. Nothing is told where the model predicts too few copies.
    """
    ids = np.array([3, 7, 5, 9, 3, 7, 5, 9])
    trace = capture(tiny_model(), ids.tolist(), [str(i) for i in ids])
    logits = np.zeros((8, 17))
    logits[range(4, 4 + n_predicted), ids[1 : 1 + n_predicted]] = 1.0
    patterns = np.zeros((2, 3, 8, 8))
    patterns[..., range(4), range(4)] = 1.0
    patterns[0, 0, 5, 2] = 1.0
    patterns[1, 2, range(4, 8), range(1, 5)] = always
    patterns[..., 0] += 1.0 - patterns.sum(axis=-1)
    records = zip(trace.attention, patterns, strict=True)
    attention = tuple(replace(record, pattern=pattern) for record, pattern in records)
    found = copied(planted := replace(trace, attention=attention, output=logits))
    assert (induction_head(planted) is not None) == (always == 0.6)
    assert (found is not None) == is_told
    if found:
        assert found.role == Role("induction", pytest.approx(always), 4)
        assert found.edge == (trace.attention[1].site, 2, 4, 1, pytest.approx(always))
        assert found.n_predicted == n_predicted


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
