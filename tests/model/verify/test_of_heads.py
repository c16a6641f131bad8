"""Protects what instruments are compared with: of many heads, worked out anew and by hand."""

from pathlib import Path

import numpy as np
import pytest

from model import reference
from model.analysis import heads
from model.analysis.summary import summarise_patterns
from model.sources import checkpoint
from model.trace import Trace
from model.verify import of_heads
from model.verify.derived import Ran
from model.verify.independent import IndependentRun
from tests.model.builders import GROUPED, SENTENCE, tiny_checkpoint
from viz.live.core.tiles import MASKED, ZERO, tiles

VARIANTS = {
    "causal": {},
    "grouped": GROUPED,
    "window": {"mask": "sliding_window", "window": 3, "position": "learned"},
}
GROUP = "decoder.attn"
Opened = tuple[Trace, IndependentRun]


@pytest.fixture(params=VARIANTS.values(), ids=list(VARIANTS))
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Opened:
    """A run of a small checkpoint, and the independent one."""
    found = checkpoint.load(tiny_checkpoint(tmp_path / "tiny", **request.param), "cpu")
    trace = found.trace(SENTENCE).trace
    return trace, IndependentRun(found.files, trace.ids)


def by_hand(*rows: list[float], ids: tuple[int, ...] = ()) -> Ran:
    """One layer with one head, whose weights are given; masked where they are zero."""
    pattern = np.array([rows])
    arrays = {
        "decoder.blocks.0.attn.pattern": pattern,
        "decoder.blocks.0.attn.mask": pattern > 0,
        "decoder.ids": np.array(ids),
    }
    return Ran(reference.Files({}, {}), arrays)


def test_measures_by_hand() -> None:
    ran = by_hand([1, 0, 0], [0.25, 0.75, 0], [0.5, 0.25, 0.25], ids=(7, 8, 7))
    expected = {
        "sharpness": (0.75 + 0.5) / 2,
        "previous": (0.25 + 0.25) / 2,
        "first": (0.25 + 0.5) / 2,
        "self": (0.75 + 0.25) / 2,
        "same": 0.5,
        "same_queries": 1,
        "self_queries": 2,
    }
    for name, value in expected.items():
        assert of_heads.OF_A_GROUP[name](ran, GROUP) == pytest.approx(np.array([[value]])), name
    broad = ((0.25 * 2 + 0.75 * np.log2(4 / 3)) + 1.5 / np.log2(3)) / 2
    assert of_heads.OF_A_GROUP["broad"](ran, GROUP)[0, 0] == pytest.approx(broad)


def test_measures_are_the_models(opened: Opened) -> None:
    trace, run = opened
    (group,) = trace.groups
    assert run.array(f"{GROUP}.sharpness") == pytest.approx(
        heads.sharpness(group.patterns()), abs=1e-6
    )
    for layer, record in enumerate(group.records):
        for name, (values, n) in heads.measures(record, trace.ids).items():
            found = run.array(f"{GROUP}.{name}[{layer}]")
            assert found == pytest.approx(values, abs=1e-6, nan_ok=True), name
            assert run.array(f"{GROUP}.{name}_queries[{layer}]").tolist() == n.tolist()


@pytest.mark.parametrize("how", ["mean", "maximum"])
def test_summaries_are_the_models(opened: Opened, how: str) -> None:
    trace, run = opened
    (group,) = trace.groups
    for over, part in (("layer", "[1]"), ("head", "[1]"), ("all", "")):
        expected = summarise_patterns(group.patterns(), how, over, 1 if part else 0)
        found = run.array(f"{GROUP}.{how}_{over}{part}")
        assert found == pytest.approx(expected, abs=1e-6), over
        assert ((run.array(f"{GROUP}.open_{over}{part}") > 0) == (expected > 0)).all()


@pytest.mark.parametrize("n", [1, 5, 48, 49, 101])
def test_small_maps_have_the_cells_that_are_drawn(n: int) -> None:
    rng = np.random.default_rng(n)
    mask = np.tri(n, dtype=bool)
    weights = rng.random((1, 2, n, n)) * mask
    weights /= weights.sum(axis=-1, keepdims=True)
    arrays = {
        "decoder.blocks.0.attn.pattern": weights[0],
        "decoder.blocks.0.attn.mask": mask,
    }
    found = of_heads.tiles(Ran(reference.Files({}, {}), arrays), GROUP)
    drawn = tiles(weights, mask[None, None]).reshape(2, -1)
    assert found.shape == drawn.shape
    assert ((drawn == MASKED) == np.isnan(found)).all()
    steps = (255 - ZERO) * np.sqrt(found) + ZERO
    assert np.nanmax(np.abs(steps - np.where(np.isnan(found), np.nan, drawn))) <= 0.5 + 1e-9


def test_the_entropy_and_the_probabilities(opened: Opened) -> None:
    trace, run = opened
    p = trace.attention[1].pattern[1].astype(float)
    row_bits = -(p * np.log2(np.where(p > 0, p, 1))).sum(axis=-1)
    found = run.array("decoder.blocks.1.attn.mean_entropy[1]")
    assert found == pytest.approx(row_bits.mean(), abs=1e-5)
    probs = run.array("probs")
    assert probs.sum(axis=-1) == pytest.approx(1)
    assert (probs.argmax(axis=-1) == trace.logits.argmax(axis=-1)).all()


def test_a_group_that_there_is_not(opened: Opened) -> None:
    _, run = opened
    for wrong in ("encoder.attn.sharpness", "decoder.nothing.tiles", "sharpness", ".sharpness"):
        with pytest.raises(ValueError, match="has no array"):
            run.array(wrong)
