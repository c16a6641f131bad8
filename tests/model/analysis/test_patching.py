"""Protects activation patching: each cell is a run of its own, the estimate is the gradient's."""

from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
import torch

from model import reference
from model.analysis.branching import Branch, Branches, logits_at
from model.analysis.interventions import Given, run_rows
from model.analysis.metrics import METRICS, Metric, telling_tokens
from model.analysis.patching import (
    GRIDS,
    Pair,
    begin,
    check_tokens,
    estimated,
)
from model.architectures.base import Transformer
from model.sources import checkpoint
from model.tap import Recorder, attach, set_at
from tests.model.builders import (
    softmax,
    tiny_checkpoint,
    tiny_encoder,
    tiny_model,
    tiny_picture,
    tiny_translator,
    tiny_vision,
)

BASE, SOURCE = [3, 1, 4, 1, 5, 9, 2], [3, 1, 7, 1, 5, 6, 2]
METRIC = Metric("difference", 6, 8, 11)


def filled(pair: Pair) -> dict[str, np.ndarray]:
    """All grids of a pair, computed to the end."""
    found = begin(pair)
    found.filling.advance(1e9)
    assert found.filling.is_done
    return found.exact


def patched(pair: Pair, address: str, changes: list) -> np.ndarray:
    """The metric of the base with each of these changes."""
    branches = Branches(pair.model, pair.base, pair.metric.position)
    return pair.metric.of(branches.logits([address] * len(changes), changes)).numpy()


@pytest.mark.parametrize(
    ("kind", "position"), list(zip(METRICS, ("sinusoidal", "rope", "alibi"), strict=True))
)
def test_every_cell_is_a_run_with_one_value_of_the_other(
    kind: str, position: str, tmp_path: Path
) -> None:
    changes = {"norm": "rms", "feedforward": "swiglu"} if position == "rope" else {}
    loaded = checkpoint.load(tiny_checkpoint(tmp_path / "model", position=position, **changes))
    metric = Metric(kind, 6, 8, 11)
    pair = Pair(loaded.decoder, BASE, SOURCE, metric)
    files, source = loaded.files, dict(reference.arrays(loaded.files, SOURCE))
    places = {"resid_pre": "resid_pre", "attn_out": "attn_out", "ffn_out": "ffn_out", "z": "attn.z"}
    for name, found in filled(pair).items():
        layer, column, of_head = 1, 2, name == "z"
        address = f"blocks.{layer}.{'attn.z' if of_head else name}"

        there = f"blocks.{layer}.{places[name]}"

        def change(
            place: str,
            array: np.ndarray,
            there: str = there,
            at: str = address,
            column: object = column,
        ) -> np.ndarray:
            if place != there:
                return array
            array = array.copy()
            array[column] = source[f"decoder.{at}"][column]
            return array

        changed = reference.Files(files.config, files.weights, change)
        logits = dict(reference.arrays(changed, BASE))["output"][6]
        expected = {
            "difference": logits[8] - logits[11],
            "logit": logits[8],
            "loss": -np.log(softmax(logits)[8]),
        }[kind]
        assert found[layer, column] == pytest.approx(expected, rel=1e-5, abs=1e-5), name
        assert np.ptp(found) > 1e-3, "patching does something"


def test_what_both_share_puts_back_nothing_and_everything_puts_back_all() -> None:
    pair = Pair(tiny_model(), BASE, SOURCE, METRIC)
    found, kept = filled(pair)["resid_pre"], begin(pair).kept
    same = np.array(BASE) == np.array(SOURCE)
    assert (found[0, same] == kept.of_base).all()
    assert (found[:, :2] == kept.of_base).all(), "a causal model has nothing new before token 2"
    assert (found[0, ~same] != kept.of_base).all()
    source = kept.source["decoder.blocks.0.resid_pre"][0]
    whole = patched(pair, "decoder.blocks.0.resid_pre", [((slice(None),), source)])
    assert whole == pytest.approx(kept.of_source, abs=1e-5)
    assert kept.restored(np.array([kept.of_base, kept.of_source])).tolist() == [0.0, 1.0]


CASES: dict[str, tuple[Transformer, Given, Given, str]] = {
    "encoder": (tiny_encoder(), BASE, SOURCE, "encoder"),
    "translator, source": (tiny_translator(), (BASE, [2, 7, 1]), (SOURCE, [2, 7, 1]), "encoder"),
    "translator, target": (tiny_translator(), (BASE, [2, 7, 1]), (SOURCE, [2, 8, 1]), "decoder"),
    "vision": (tiny_vision(), tiny_picture(0), tiny_picture(1), "encoder"),
}


@pytest.mark.parametrize("name", CASES)
def test_cells_of_every_architecture_are_the_single_runs(name: str) -> None:
    model, base, source, stack = CASES[name]
    position = 2 if name.startswith("translator") else 0
    pair = Pair(model, base, source, Metric("logit", position, 3, 4), stack)
    found, kept = filled(pair), begin(pair).kept
    for grid in GRIDS:
        assert len(found[grid]) == pair.n_layers
        for layer, place in np.ndindex(found[grid].shape):
            address = pair.address(grid, layer)
            to = kept.source[address][0, place]
            output = run_rows(model, base, [[set_at(address, (slice(None), place), to)]])[0]
            row = output if output.ndim == 1 else output[position]
            assert found[grid][layer, place] == pytest.approx(float(row[3]), abs=2e-5)


def test_the_estimate_is_the_slope_towards_the_other_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """By central differences in float64 along base + ε (source − base), cell by cell."""
    pair = Pair(tiny_model().double(), BASE, SOURCE, METRIC)
    ran = Mock(side_effect=logits_at)
    monkeypatch.setattr("model.analysis.patching.logits_at", ran)
    kept, step = begin(pair).kept, 1e-4
    assert ran.call_count == 2, "each input once"
    estimate = estimated(pair, kept)
    for grid in GRIDS:
        for layer, place in np.ndindex(estimate[grid].shape):
            address = pair.address(grid, layer)
            own, other = kept.base[address][0, place], kept.source[address][0, place]
            ends = [((place,), own + sign * step * (other - own)) for sign in (1, -1)]
            above, below = patched(pair, address, ends)
            slope = (above - below) / (2 * step)
            assert estimate[grid][layer, place] - kept.of_base == pytest.approx(slope, abs=1e-6)


def test_a_metric_is_of_the_logits_by_hand() -> None:
    logits = np.array([0.5, 2.0, -1.0, 3.5])
    probs = softmax(logits)
    given = torch.from_numpy(np.stack([logits, -logits]))
    assert Metric("logit", 0, 1, 3).of(given).tolist() == [2.0, -2.0]
    assert Metric("difference", 0, 1, 3).of(given).tolist() == [-1.5, 1.5]
    assert float(Metric("loss", 0, 1, 3).of(given)[0]) == pytest.approx(-np.log(probs[1]))
    with pytest.raises(ValueError, match="'odds' is none of difference, logit, loss"):
        Metric("odds", 0, 1, 3).of(given)
    with pytest.raises(ValueError, match="token 4 is not among the 4"):
        Metric("logit", 0, 4, 0).of(given)


def test_telling_tokens_are_those_whose_probability_turns() -> None:
    first, second = np.array([3.0, 2.9, 0.0, -5.0]), np.array([2.9, 0.0, 3.0, -5.0])
    assert telling_tokens(first, second) == (1, 2)
    assert telling_tokens(first, first) == (0, 1)


def test_refusals_name_both_counts_and_where_the_sentences_part() -> None:
    with pytest.raises(ValueError, match="have 7 and 6 tokens"):
        begin(Pair(tiny_model(), BASE, SOURCE[:6], METRIC))
    with pytest.raises(ValueError, match=r"part at the end and “\.”"):
        check_tokens((" a",), (" a", "."))
    with pytest.raises(ValueError) as told:
        check_tokens((" The", " girl", " ran"), (" The", " boys", " ran", "."))
    assert str(told.value) == (
        "the first sentence has 3 tokens, the second 4; they part at “girl” and “boys”: give "
        "both as many"
    )


def test_without_a_gap_there_is_nothing_to_put_back() -> None:
    kept = begin(Pair(tiny_model(), BASE, BASE, METRIC)).kept
    assert kept.gap == 0.0
    assert np.isnan(kept.restored(np.array([1.0]))).all()
    model = tiny_model()
    rows = model.embed.weight
    rows[7], rows[6] = rows[4] + 1e-5 * rows[0], rows[9] + 1e-5 * rows[8]
    kept = begin(Pair(model, BASE, SOURCE, METRIC)).kept
    assert kept.of_base != kept.of_source
    assert kept.gap == 0.0, "it is but rounding"


def test_a_branch_computes_what_comes_before_it_once() -> None:
    recorder = Recorder({"resid_pre"})
    branch = Branch("decoder.blocks.1.attn.z", [((0,), 0.0), ((2, 3), 0.5), ((1,), 0.0)])
    with torch.inference_mode():
        logits = logits_at(tiny_model(), BASE, 6, attach(recorder, branch))
    assert [len(x) for x in recorder.values.values()] == [1, 1]
    assert logits.shape == (3, 17)
