"""Protects what arrows are worth: each removal is a run of its own, each measure its formula."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from model import reference
from model.analysis import branching, explanation
from model.analysis.explanation import (
    Arrows,
    measure,
    removals,
    telling_arrows,
    unseen,
)
from model.analysis.flow import flow, rollout, with_residual
from model.analysis.input_gradients import Integrated, integrated
from model.analysis.interventions import run_rows
from model.analysis.metrics import Metric
from model.architectures.base import Transformer
from model.capture import capture
from model.tap import set_at
from tests.model.builders import (
    GROUPED,
    files_of,
    tiny_encoder,
    tiny_model,
    tiny_translator,
    translation_trace,
)

IDS = [3, 1, 4, 1, 5, 9, 2]
ALL = slice(None)
METRIC = Metric("difference", 6, 8, 11)


def effects_of(question: Arrows) -> np.ndarray:
    """What every arrow's removal takes, (L, H, T)."""
    measured = measure(question)
    found = removals(question, measured)
    found.advance(1e9)
    return found.exact.reshape(measured.weights.shape)


def plain(
    model: Transformer, name: str, index: tuple[int | slice, ...], more: float | None = None
) -> float:
    """The metric of an independent run with a part of a value at zero, or by `more` larger."""

    def change(at: str, value: np.ndarray) -> np.ndarray:
        if not at.endswith(name):
            return value
        value = value.copy()
        value[index] = 0.0 if more is None else value[index] + more
        return value

    row = dict(reference.arrays(replace(files_of(model), change=change), IDS))["output"][6]
    return float(row[8] - row[11])


def test_every_removal_is_a_plain_forward_without_that_weight() -> None:
    model = tiny_model()
    whole = plain(model, "nothing", ())
    found = effects_of(Arrows(model, IDS, METRIC))
    assert found.shape == (2, 3, 7)
    for layer, head, key in np.ndindex(found.shape):
        expected = whole - plain(model, f"{layer}.attn.pattern", (head, 6, key))
        assert found[layer, head, key] == pytest.approx(expected, abs=1e-5)
    assert np.abs(found).max() > 1e-2


def test_what_no_token_attends_to_is_gone_in_every_layer_and_head() -> None:
    model = tiny_model()
    whole = plain(model, "nothing", ())
    found = np.concatenate([effects for _, effects in unseen(Arrows(model, IDS, METRIC))])
    expected = [
        whole - plain(model, ".pattern", (slice(None), slice(None), key)) for key in range(7)
    ]
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_a_query_that_is_not_the_last_is_run_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the keys held of those before it or without, a removal is the same."""
    model = tiny_model()
    held = effects_of(Arrows(model, IDS, METRIC))
    monkeypatch.setattr(explanation, "_held_before", lambda question, n: None)
    np.testing.assert_allclose(effects_of(Arrows(model, IDS, METRIC)), held, atol=1e-5)
    longer = Arrows(model, [*IDS, 12, 3], METRIC)
    np.testing.assert_allclose(effects_of(longer)[..., :7], held, atol=1e-5)
    assert (effects_of(longer)[..., 7:] == 0).all()


def test_both_sides_of_an_encoder_have_arrows() -> None:
    model = tiny_encoder()
    question = Arrows(model, IDS, Metric("logit", 2, 8, 11))
    measured, found = measure(question), effects_of(question)
    trace = capture(model, IDS, list("abcdefg"))
    patterns = np.stack([record.pattern for record in trace.attention])
    np.testing.assert_allclose(measured.weights, patterns[:, :, 2], atol=1e-6)
    assert (found[..., 3:] != 0).all()


def test_of_a_translation_both_rows_are_weighed_and_hidden() -> None:
    model = tiny_translator()
    trace = translation_trace(model)
    last, where = len(trace.tokens) - 1, {"source": [], "target": []}
    for record in trace.attention:
        where["target" if record.site.group == "decoder.attn" else "source"].append(record.site)
    question = Arrows(model, trace.given, Metric("logit", last, 3, 4), "decoder.cross_attn")
    rows = [
        np.mean(
            [trace.record(site).pattern[:, last] for site in sites if site.stack == "decoder"],
            (0, 1),
        )
        for sites in where.values()
    ]
    np.testing.assert_allclose(measure(question).token_weights, np.concatenate(rows), atol=1e-6)
    found = np.concatenate([effects for _, effects in unseen(question)])
    whole = trace.output[last, 3]
    for number, (sites, key) in enumerate(
        (sites, key)
        for sites, row in zip(where.values(), rows, strict=True)
        for key in range(len(row))
    ):
        hiding = [set_at(f"{x.address}.pattern", (ALL, ALL, ALL, key), 0.0) for x in sites]
        (logits,) = run_rows(model, trace.given, [hiding])
        assert found[number] == pytest.approx(whole - float(logits[last, 3]), abs=1e-5)


@pytest.mark.parametrize("changes", [{}, GROUPED], ids=str)
def test_norms_are_of_what_a_weight_writes(changes: dict) -> None:
    model = tiny_model(**changes).double()
    measured = measure(Arrows(model, IDS, METRIC))
    trace, d_head = capture(model, IDS, list("abcdefg")), model.config.d_head
    for layer, head, key in np.ndindex(measured.norms.shape):
        v = trace.attention[layer].v
        own = slice(d_head * head, d_head * (head + 1))
        written = (
            model.blocks[layer].attn.out_proj.weight.numpy()[:, own]
            @ (v[head * len(v) // model.config.n_heads, key])
        )
        expected = measured.weights[layer, head, key] * np.sqrt((written**2).sum())
        assert measured.norms[layer, head, key] == pytest.approx(expected, rel=1e-5)


def test_gradients_are_slopes_of_a_plain_forward() -> None:
    """By central differences in float64: h²·f‴ and 2⁻⁵³/h stay below 1e-8 of a slope of one."""
    model, h = tiny_model().double(), 1e-5
    measured = measure(Arrows(model, IDS, METRIC))
    for layer, head, key in np.ndindex(measured.weights.shape):
        place = f"{layer}.attn.pattern", (head, 6, key)
        slope = (plain(model, *place, h) - plain(model, *place, -h)) / (2 * h)
        expected = measured.weights[layer, head, key] * slope
        assert measured.gradients[layer, head, key] == pytest.approx(expected, rel=1e-5, abs=1e-8)
    assert np.abs(measured.gradients).max() > 1e-3


def test_integrated_gradients_are_complete_and_each_is_a_path_integral() -> None:
    model = tiny_model().double()
    question = Arrows(model, IDS, METRIC)
    *begun, found = integrated(question)
    assert set(begun) == {None}
    assert isinstance(found, Integrated)
    assert found.error <= 0.005
    whole = plain(model, "nothing", ())
    assert found.value == pytest.approx(whole, abs=1e-6)
    assert found.attributions.sum() == pytest.approx(found.value - found.baseline, rel=0.005)
    files, n_steps, step = files_of(model), 100, 1e-5
    embed = files.weights["embed.weight"]
    own, mean = embed[IDS], embed.mean(axis=0)
    untied = {**files.config, "tied_embeddings": False}

    def metric(rows: np.ndarray) -> float:
        weights = {**files.weights, "embed.weight": rows, "unembed.weight": embed}
        row = dict(reference.arrays(reference.Files(untied, weights), list(range(7))))["output"][6]
        return float(row[8] - row[11])

    for token in (2, 6):
        towards = np.zeros_like(own)
        towards[token] = step * (own[token] - mean)
        total = 0.0
        for place in (np.arange(n_steps) + 0.5) / n_steps:
            rows = mean + place * (own - mean)
            total += (metric(rows + towards) - metric(rows - towards)) / (2 * step * n_steps)
        assert found.attributions[token] == pytest.approx(total, rel=0.02, abs=0.02)
    assert found.baseline == pytest.approx(metric(np.broadcast_to(mean, own.shape)), abs=1e-6)


def test_telling_arrows_are_by_weight_and_effect() -> None:
    weights = np.array([[[0.9, 0.7, 0.05], [0.6, 0.0, 0.08]]])
    effects = np.array([[[0.3, 0.01, 0.2], [-0.4, 9.0, -0.5]]])
    assert telling_arrows(weights, effects) == {
        "idle": (0, 0, 1),
        "strong": (0, 1, 2),
        "against": (0, 1, 0),
    }
    assert telling_arrows(np.full((1, 1, 4), 0.25), np.ones((1, 1, 4))) == {}


def test_flow_is_the_least_cut_of_every_way_to_cut() -> None:
    rng = np.random.default_rng(3)
    scores = np.where(np.tri(3, dtype=bool), rng.normal(size=(2, 2, 3, 3)), -np.inf)
    patterns = np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)
    layers = with_residual(patterns)
    for query, key in product(range(3), range(3)):
        start, end = 6 + query, key
        others = [node for node in range(9) if node not in (start, end)]
        cuts = []
        for sides in product([False, True], repeat=len(others)):
            kept = {start, *(node for node, side in zip(others, sides, strict=True) if side)}
            cuts.append(
                sum(
                    layers[layer, above, below]
                    for layer, above, below in np.ndindex(layers.shape)
                    if 3 * (layer + 1) + above in kept and 3 * layer + below not in kept
                )
            )
        assert flow(layers, query, key) == pytest.approx(min(cuts), abs=1e-9)


def test_rollout_is_the_share_of_all_paths() -> None:
    rng = np.random.default_rng(4)
    patterns = rng.dirichlet(np.ones(4), size=(3, 2, 4))
    layers = with_residual(patterns)
    np.testing.assert_allclose(layers[1], (patterns[1, 0] + patterns[1, 1]) / 4 + np.eye(4) / 2)
    expected = [
        sum(
            layers[2, 3, a] * layers[1, a, b] * layers[0, b, key]
            for a in range(4)
            for b in range(4)
        )
        for key in range(4)
    ]
    np.testing.assert_allclose(rollout(layers, 3), expected)
    assert rollout(layers, 3).sum() == pytest.approx(1)


def test_a_text_of_too_many_tokens_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(branching, "MOST_CELLS", 6 * 6**2)
    with pytest.raises(ValueError, match="has 7 tokens; gradients of 6 heads are kept for up to 6"):
        measure(Arrows(tiny_model(), IDS, METRIC))
    assert measure(Arrows(tiny_model(), IDS[:6], Metric("logit", 5, 8, 11))).weights.size
