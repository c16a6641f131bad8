"""Protects what Explanation and Patching are compared with beyond their grids."""

import numpy as np
import pytest

from model.analysis.explanation import Question, measure, removals, unseen
from model.analysis.flow import flow, rollout, with_residual
from model.analysis.input_gradients import integrated
from model.analysis.metrics import Metric
from model.analysis.patching import GRIDS, Pair, begin, estimated, pieces
from model.verify.arrows import IndependentArrowsOf
from model.verify.asked import Wanted
from model.verify.edited import as_given
from model.verify.patched import IndependentPatches
from model.verify.texts import NO_WORDS
from model.verify.worth import IndependentWorth, max_flow
from tests.model.builders import (
    GROUPED,
    tiny_encoder,
    tiny_model,
    tiny_picture,
    tiny_translator,
    tiny_vision,
)
from tests.model.verify.test_other_architectures import files_of

IDS, OTHER = (3, 1, 4, 1, 5, 9), (3, 1, 7, 1, 5, 9)
MODELS = {
    "pre-norm": {},
    "grouped": {**GROUPED, "position": "rope", "norm": "rms", "feedforward": "swiglu"},
    "post-norm": {"norm_placement": "post", "position": "alibi"},
}
ROUNDING = 2e-6  # of a logit in float32
METRICS = [Metric("logit", 5, 2, 7), Metric("difference", 5, 2, 7), Metric("loss", 5, 2, 7)]


def wanted(metric: Metric) -> Wanted:
    return Wanted(metric.kind, metric.position, metric.answer, metric.other)


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.kind)
@pytest.mark.parametrize("name", MODELS)
def test_every_measure_of_a_token_is_the_analysis(name: str, metric: Metric) -> None:
    model = tiny_model(**MODELS[name])
    question = Question(model, list(IDS), metric)
    measured = measure(question)
    layers = with_residual(measured.patterns)
    last = [found for found in integrated(question) if found is not None][-1]
    ours = {
        "removed": np.concatenate([effects for _, effects in unseen(question)]),
        "weights": measured.weights.mean(axis=(0, 1)),
        "rollout": rollout(layers, 5),
        "flow": np.array([flow(layers, 5, key) for key in range(6)]),
        f"integrated.{last.n_steps}": last.attributions,
    }
    run = IndependentWorth(files_of(model), IDS, wanted(metric), NO_WORDS)
    for row, values in ours.items():
        assert np.abs(values).max() > 0
        largest = np.abs(values).max()
        assert run.array(f"worth.{row}") == pytest.approx(
            values / largest, abs=1e-5 + ROUNDING / largest
        ), row


def test_flow_of_a_network_that_can_be_drawn() -> None:
    layers = np.zeros((2, 3, 3))
    layers[1, 2], layers[0, :, 0] = [0.5, 0.25, 0.25], [1, 0.125, 0.5]
    assert max_flow(layers, 0, 2) == pytest.approx(0.5 + 0.125 + 0.25)
    assert max_flow(layers, 1, 2) == max_flow(layers, 0, 1) == 0


SOURCE, SECOND, TARGET = (3, 1, 4, 0), (3, 7, 4, 0), (2, 5, 6)
OF_STACKS = {
    **{name: (tiny_model(**changes), IDS, OTHER, "decoder") for name, changes in MODELS.items()},
    "encoder": (tiny_encoder(), IDS, OTHER, "encoder"),
    "first stack": (tiny_translator(), (SOURCE, TARGET), (SECOND, TARGET), "encoder"),
    "second stack": (
        tiny_translator(norm_placement="post"),
        (SOURCE, TARGET),
        (SECOND, TARGET),
        "decoder",
    ),
    "vision": (tiny_vision(), tiny_picture().tobytes(), tiny_picture(1).tobytes(), "encoder"),
}


# The model, what it is given, the position that predicts, and arrows of which query of which group.
ASKED = {
    "a blank": (tiny_encoder(), IDS, 2, "encoder.attn", 2),
    "another query": (tiny_encoder(norm_placement="post"), IDS, 2, "encoder.attn", 4),
    "of a source": (tiny_translator(), (SOURCE, TARGET), 2, "encoder.attn", 1),
    "on a source": (tiny_translator(), (SOURCE, TARGET), 2, "decoder.cross_attn", 2),
    "of a target": (
        tiny_translator(norm_placement="post"),
        (SOURCE, TARGET),
        1,
        "decoder.attn",
        1,
    ),
    "a class": (tiny_vision(), tiny_picture().tobytes(), 0, "encoder.attn", 0),
}


@pytest.mark.parametrize("kind", ["logit", "difference", "loss"])
@pytest.mark.parametrize("name", ASKED)
def test_arrows_of_every_kind_are_the_analysis(name: str, kind: str) -> None:
    model, given, position, group, query = ASKED[name]
    metric = Metric(kind, position, 2, 3)
    question = Question(model, as_given(given), metric, group, query)
    measured = measure(question)
    effects = np.zeros_like(measured.weights)
    for removed in removals(question, measured):
        effects[removed.layer, removed.heads, removed.keys] = removed.effects
    assert (effects[measured.weights > 0] != 0).any(axis=None)
    run = IndependentArrowsOf(
        files_of(model), (), wanted(metric), NO_WORDS, given, group, query, effects.shape
    )
    for row, values in (
        ("weights", measured.weights),
        ("norms", measured.norms),
        ("gradients", measured.gradients),
        ("effects", effects),
    ):
        assert run.array(f"explain.{row}") == pytest.approx(values.ravel(), abs=1e-5), row
    assert float(run.array("explain.answer")) == pytest.approx(measured.value, abs=1e-5)
    layer, head, key = np.unravel_index(np.abs(effects).argmax(), effects.shape)
    for row, values in (("effects", effects), ("gradients", measured.gradients)):
        one = run.array(f"explain.one.{row}.{layer}.{head}.{key}")
        assert float(one[0]) == pytest.approx(values[layer, head, key], abs=1e-5)


@pytest.mark.parametrize("name", ["a blank", "on a source", "of a target", "a class"])
def test_worth_of_the_tokens_of_every_kind_is_the_analysis(name: str) -> None:
    model, given, position, group, query = ASKED[name]
    metric = Metric("difference", position, 2, 3)
    question = Question(model, as_given(given), metric, group, query)
    measured = measure(question)
    last = [found for found in integrated(question) if found is not None][-1]
    assert last.error <= 0.01
    ours = {
        "removed": np.concatenate([effects for _, effects in unseen(question)]),
        "weights": measured.token_weights,
        f"integrated.{last.n_steps}": last.attributions,
    }
    if len(question.lengths) == 1:  # both are defined for one stack
        layers = with_residual(measured.patterns)
        ours["rollout"] = rollout(layers, position)
        ours["flow"] = np.array([flow(layers, position, key) for key in range(layers.shape[-1])])
    run = IndependentWorth(files_of(model), (), wanted(metric), NO_WORDS, given)
    for row, values in ours.items():
        assert len(values) == len(question.tokens)
        assert np.abs(values).max() > 0
        largest = np.abs(values).max()
        assert run.array(f"worth.{row}") == pytest.approx(
            values / largest, abs=1e-5 + ROUNDING / largest
        ), row
    assert float(run.array("worth.difference")) == pytest.approx(
        last.value - last.baseline, abs=1e-5
    )


def test_what_comes_after_a_position_is_worth_nothing_to_it() -> None:
    model = tiny_translator()
    question = Question(model, (SOURCE, TARGET), Metric("logit", 2, 2, 3), "decoder.attn")
    found = np.concatenate([effects for _, effects in unseen(question)])
    assert len(found) == len(SOURCE) + len(TARGET)
    assert (np.abs(found) > 1e-6).all()
    earlier = Question(model, (SOURCE, TARGET), Metric("logit", 0, 2, 3), "decoder.attn")
    found = np.concatenate([effects for _, effects in unseen(earlier)])
    assert np.abs(found[len(SOURCE) + 1 :]).max() < 1e-5 < np.abs(found[: len(SOURCE)]).min()


@pytest.mark.parametrize("name", OF_STACKS)
def test_grids_and_their_estimates_are_the_analysis(name: str) -> None:
    model, base, source, stack = OF_STACKS[name]
    position = {"vision": 0, "first stack": 2, "second stack": 2}.get(name, 5)
    metric = Metric("difference", position, 2, 3)
    pair = Pair(model, as_given(base), as_given(source), metric, stack)
    patched = begin(pair)
    for piece in pieces(pair, patched.kept):
        patched.take(piece)
    estimate = estimated(pair, patched.kept)
    run = IndependentPatches(files_of(model), IDS, wanted(metric), NO_WORDS, base, source, stack)
    for grid in GRIDS:
        exact = patched.kept.restored(patched.values[grid])
        first_order = patched.kept.restored(estimate[grid])
        assert run.array(f"patch.{grid}") == pytest.approx(exact, abs=1e-4)
        assert run.array(f"cells.patch.{grid}") == pytest.approx(exact.ravel(), abs=1e-4)
        assert run.array(f"cells.slope.patch.{grid}") == pytest.approx(
            first_order.ravel(), abs=1e-4
        )
        assert np.abs(exact - first_order).max() > 1e-6


def test_values_that_are_all_alike_correlate_with_nothing() -> None:
    """Of one token, every value of the stream puts all of the metric back: each share is 1."""
    model = tiny_model()
    metric = Metric("logit", 0, 2, 3)
    run = IndependentPatches(files_of(model), (3,), wanted(metric), NO_WORDS, (3,), (7,), "decoder")
    assert run.array("patch.resid_pre") == pytest.approx(1.0, abs=1e-6)
    assert np.isnan(run.array("r.patch.resid_pre"))
    assert not np.isnan(run.array("r.patch.z"))
