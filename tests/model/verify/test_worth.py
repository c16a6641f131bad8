"""Protects what Explanation and Patching are compared with beyond their grids."""

import numpy as np
import pytest

from model.analysis.explanation import Question, measure, unseen
from model.analysis.flow import flow, rollout, with_residual
from model.analysis.input_gradients import integrated
from model.analysis.metrics import Metric
from model.analysis.patching import GRIDS, Pair, begin, estimated, pieces
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
        relative = values / np.abs(values).max()
        assert run.array(f"worth.{row}") == pytest.approx(relative, abs=2e-5), row


def test_flow_of_a_network_that_can_be_drawn() -> None:
    layers = np.zeros((2, 3, 3))
    layers[1, 2], layers[0, :, 0] = [0.5, 0.25, 0.25], [1, 0.125, 0.5]
    assert max_flow(layers, 0) == pytest.approx(0.5 + 0.125 + 0.25)
    assert max_flow(layers, 1) == 0


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
