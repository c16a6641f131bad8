"""Protects what is asked of a trace: masking three ways, similarity, means, the logit lens."""

import math

import numpy as np
import pytest

from model.analysis.cosine import cosine_similarity
from model.analysis.lens import logit_lens
from model.analysis.masking import layers_to_reach
from model.analysis.summary import summarise_patterns
from model.architectures.decoder import DecoderTransformer
from model.capture import capture
from model.trace import Trace
from tests.model.builders import softmax, tiny_model, tiny_trace


def test_similarity_by_hand() -> None:
    similarity = cosine_similarity(np.array([[1.0, 0], [3, 3], [0, -2], [0, 0]]))
    root = math.sqrt(0.5)
    expected = [[1, root, 0, 0], [root, 1, -root, 0], [0, -root, 1, 0], [0, 0, 0, 0]]
    np.testing.assert_allclose(similarity, expected, atol=1e-12)


@pytest.mark.parametrize("scale", [1e-30, 1e30])
def test_similarity_knows_no_length(scale: float) -> None:
    x = np.random.default_rng(0).normal(size=(5, 7)).astype(np.float32)
    scaled = cosine_similarity(x * np.float32(scale))
    np.testing.assert_allclose(scaled, cosine_similarity(x), atol=1e-6)


def test_summaries_by_hand() -> None:
    """Two layers of two heads; each head reads with a share of its own, from 0 to 3 quarters."""
    shares = np.array([[0, 0.25], [0.5, 0.75]])
    patterns = np.stack([shares, 1 - shares], axis=-1)[:, :, None, :]  # (2, 2, 1, 2)
    expected = {
        ("mean", "layer", 0): [[0.125, 0.875]],
        ("mean", "layer", 1): [[0.625, 0.375]],
        ("mean", "head", 0): [[0.25, 0.75]],
        ("mean", "all", 0): [[0.375, 0.625]],
        ("maximum", "layer", 1): [[0.75, 0.5]],
        ("maximum", "head", 1): [[0.75, 0.75]],
        ("maximum", "all", 0): [[0.75, 1.0]],
    }
    found = {asked: summarise_patterns(patterns, *asked).tolist() for asked in expected}
    assert found == expected


@pytest.mark.parametrize(
    ("how", "over", "index", "word"),
    [
        ("median", "layer", 0, "median"),
        ("", "all", 0, "mean or maximum"),
        ("mean", "row", 0, "row"),
        ("mean", "layer", 2, "layer 2"),
        ("maximum", "head", 3, "head 3"),
        ("mean", "layer", -1, "layer -1"),
    ],
)
def test_a_summary_that_does_not_exist_is_refused(
    how: str, over: str, index: int, word: str
) -> None:
    with pytest.raises(ValueError, match=word):
        summarise_patterns(np.zeros((2, 3, 4, 4)), how, over, index)


def lens_logits(trace: Trace, model: DecoderTransformer) -> np.ndarray:
    """Every row of the lens in numpy float64, by the definition of LayerNorm. (L + 1, T, V)."""
    stream = [trace.residuals[0].resid_pre, *(record.resid_post for record in trace.residuals)]
    x = np.stack(stream).astype(np.float64)
    if model.config.norm_placement == "pre":
        centred = x - x.mean(axis=-1, keepdims=True)
        deviation = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + model.config.norm_eps)
        norm = model.final_norm
        x = centred / deviation * norm.gain.double().numpy() + norm.offset.double().numpy()
    return x @ model.unembed.weight.double().numpy().T


@pytest.mark.parametrize("placement", ["pre", "post"])
def test_lens_by_definition(placement: str) -> None:
    """A post-norm model has no final norm, so its stream is unembedded as it is."""
    model = tiny_model(norm_placement=placement, n_layers=3)
    trace = tiny_trace(model)
    lens, logits = logit_lens(trace, model, k=4), lens_logits(trace, model)
    order, probs = np.argsort(-logits), softmax(logits)
    assert lens.ids.tolist() == order[..., :4].tolist()
    assert lens.ids.shape == lens.probs.shape == lens.logits.shape == (4, 7, 4)
    np.testing.assert_allclose(lens.probs, np.take_along_axis(probs, lens.ids, -1), atol=1e-5)
    np.testing.assert_allclose(
        np.exp(lens.logits - lens.log_total[..., None]), lens.probs, atol=1e-12
    )
    np.testing.assert_allclose(lens.entropy, -(probs * np.log(probs)).sum(axis=-1), atol=1e-5)
    answers = order[-1, :, 0]
    places = (order == answers[None, :, None]).argmax(axis=-1)
    assert lens.rank.tolist() == places.tolist()


def test_the_lens_of_another_model_is_found_out() -> None:
    model, other = tiny_model(), tiny_model(seed=1)
    assert logit_lens(tiny_trace(model), other).error > 1e-2


def test_lens_keeps_the_whole_vocabulary_when_that_is_all_there_is() -> None:
    model = tiny_model(vocab_size=5)
    lens = logit_lens(capture(model, [3], ["x"]), model, k=10)
    assert lens.ids.shape == (3, 1, 5)
    np.testing.assert_allclose(lens.probs.sum(axis=-1), 1, atol=1e-12)


def test_equally_likely_tokens_share_the_better_rank() -> None:
    """With nothing unembedded all tokens are alike: entropy ln V, and the answer is first."""
    model = tiny_model(tied_embeddings=False)
    model.unembed.weight.zero_()
    lens = logit_lens(tiny_trace(model), model)
    assert (lens.rank == 0).all()
    np.testing.assert_allclose(lens.entropy, math.log(17), atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_reach_is_the_shortest_path(seed: int) -> None:
    """By squaring nothing: breadth first from each token."""
    mask = np.random.default_rng(seed).random((9, 9)) < 0.2
    for token, found in enumerate(layers_to_reach(mask)):
        distance, frontier = {token: 0}, [token]
        while frontier:
            node = frontier.pop(0)
            for other in np.flatnonzero(mask[node]).tolist():
                if other not in distance:
                    distance[other] = distance[node] + 1
                    frontier.append(other)
        assert found.tolist() == [distance.get(j, -1) for j in range(9)]
