"""Protects what figures are compared with: worked out anew, it is what the model's analyses say."""

from pathlib import Path

import numpy as np
import pytest

from model.analysis.cosine import cosine_similarity
from model.analysis.lens import logit_lens
from model.analysis.masking import future_shares, layers_to_reach
from model.analysis.probabilities import given_probabilities, next_token_losses
from model.positions import alibi_slopes
from model.sources import checkpoint
from model.sources.checkpoint import Checkpoint
from model.trace import Trace
from model.verify.derived import DERIVED
from model.verify.independent import IndependentRun
from tests.model.builders import (
    GROUPED,
    SENTENCE,
    tiny_checkpoint,
    tiny_translation_checkpoint,
)

VARIANTS = {
    "pre-norm": {},
    "post-norm, grouped": {"norm_placement": "post", "norm": "rms", **GROUPED},
    "window": {"mask": "sliding_window", "window": 3, "position": "learned"},
    "alibi": {"position": "alibi", "tied_embeddings": False},
}
Opened = tuple[Checkpoint, Trace, IndependentRun]


@pytest.fixture(params=VARIANTS.values(), ids=list(VARIANTS))
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Opened:
    """A small checkpoint, a run of it, and the independent one."""
    found = checkpoint.load(tiny_checkpoint(tmp_path / "tiny", **request.param), "cpu")
    trace = found.trace(SENTENCE).trace
    return found, trace, IndependentRun(found.files, trace.ids)


def test_the_lens_is_the_models(opened: Opened) -> None:
    found, trace, run = opened
    lens = logit_lens(trace, found.decoder, 5)
    assert run.array("lens.top") == pytest.approx(lens.probs[..., 0], abs=1e-6)
    assert run.array("lens.falling")[..., :5] == pytest.approx(lens.probs, abs=1e-6)
    assert run.array("lens.entropy") == pytest.approx(lens.entropy, abs=1e-5)
    assert (run.array("lens.place") == lens.rank + 1).all()


def test_probabilities_and_losses_are_the_models(opened: Opened) -> None:
    _, trace, run = opened
    assert run.array("given") == pytest.approx(given_probabilities(trace), abs=1e-6, nan_ok=True)
    assert run.array("losses") == pytest.approx(
        next_token_losses(trace.logits, trace.ids), abs=1e-5
    )


def test_positions_and_masks_are_the_models(opened: Opened) -> None:
    found, trace, run = opened
    table = run.array("positions.table")
    assert table[: len(trace.ids)] == pytest.approx(trace.positions, abs=1e-6)
    assert len(table) == found.config.max_seq_len
    assert run.array("positions.cosines") == pytest.approx(cosine_similarity(table))
    assert run.array("positions.embedded") == pytest.approx(trace.embed + trace.positions, abs=1e-6)
    assert run.array("positions.slopes") == pytest.approx(alibi_slopes(found.config.n_heads))
    mask = trace.attention[0].mask
    assert (~np.isnan(run.array("mask.allowed")) == mask).all()
    reach = layers_to_reach(mask)
    assert np.nan_to_num(run.array("mask.reach"), nan=-1).tolist() == reach.tolist()


def test_what_lies_ahead_is_counted(opened: Opened) -> None:
    found, trace, _ = opened
    n = len(trace.ids)
    everything = np.ones((n, n), bool)
    run = IndependentRun(found.files, trace.ids, everything)
    shares = run.array("mask.future")
    later = np.triu(everything, 1)
    expected = [
        [(record[later].sum() / record.sum()) for record in run.array(f"{site}.pattern")]
        for site in (record.site.address for record in trace.attention)
    ]
    assert shares == pytest.approx(np.array(expected))
    assert (shares > 0).all()
    assert future_shares(trace) == pytest.approx(np.zeros(shares.shape))


def test_cached_vectors_have_their_lengths(opened: Opened) -> None:
    _, trace, run = opened
    for name, array in (("keys", "k"), ("values", "v")):
        vectors = np.stack([getattr(record, array) for record in trace.attention])
        lengths = np.linalg.norm(vectors, axis=-1)
        assert run.array(f"cache.{name}") == pytest.approx(lengths, rel=1e-5)
        assert run.array(f"cache.mean_{name}") == pytest.approx(lengths.mean(axis=1), rel=1e-5)


def test_unmasked_arrays_are_empty_where_masked(opened: Opened) -> None:
    _, trace, run = opened
    record = trace.attention[1]
    drawn = run.array("decoder.blocks.1.attn.unmasked_pattern[1]")
    assert (np.isnan(drawn) == ~record.mask_of(1)).all()
    assert drawn[record.mask_of(1)] == pytest.approx(record.pattern[1][record.mask_of(1)], abs=1e-6)


def test_parts_of_arrays_are_asked_for_as_in_python(opened: Opened) -> None:
    _, _, run = opened
    top = run.array("lens.top")
    assert run.array("lens.top[:,1:3]").tolist() == top[:, 1:3].tolist()
    assert run.array("lens.top[-1,::2]").tolist() == top[-1, ::2].tolist()
    assert run.array("lens.top[1,2]") == top[1, 2]
    for wrong in ("lens.top[9,9,9]", "lens.top[99]", "lens.top[]", "lens.top[1;2]", "lens.nothing"):
        with pytest.raises(ValueError, match=r"lens|has no array"):
            run.array(wrong)


def test_each_has_numbers(opened: Opened) -> None:
    _, _, run = opened
    for name in DERIVED:
        assert np.isfinite(run.array(name)).any(), name


def test_the_mean_of_heads_is_that_of_a_layer_or_of_all(tmp_path: Path) -> None:
    found = checkpoint.load(tiny_translation_checkpoint(tmp_path / "tiny"), "cpu")
    trace = found.trace("the cat").trace
    run = IndependentRun(found.files, trace.given)
    for group in trace.groups:
        patterns = group.patterns()  # (L, H, Tq, Tk)
        mean = run.array(f"{group.name}.mean_pattern")
        assert mean == pytest.approx(patterns.mean(axis=(0, 1)), abs=1e-6)
        for layer, record in enumerate(group.records):
            mean = run.array(f"{record.site.address}.mean_pattern")
            assert mean == pytest.approx(patterns[layer].mean(axis=0), abs=1e-6)
    with pytest.raises(ValueError, match="no array encoder"):
        run.array("encoder.cross_attn.mean_pattern")
