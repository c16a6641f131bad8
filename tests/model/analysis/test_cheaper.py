"""Protects the lesson on cheaper attention: each way is what its paper says."""

from typing import Any

import numpy as np
import pytest

from model.analysis.cheaper import (
    WAYS,
    Head,
    Sizes,
    difference,
    errors_by_size,
    multiplications,
    positive_map,
    running_sum,
    sizes_tried,
)
from model.worked_out import Attending

T, DH = 11, 6
ALL = Sizes(window=T, n_global=0, rank=DH)


def head(seed: int = 3) -> Head:
    """A causal head of random vectors, with a bias."""
    rng = np.random.default_rng(seed)
    q, k, v = rng.standard_normal((3, T, DH))
    bias = -0.3 * np.abs(np.subtract.outer(np.arange(T), np.arange(T)))
    return made_up(q, k, v, bias=bias, mask=np.tril(np.ones((T, T), bool)), scale=DH**-0.5)


def made_up(q: np.ndarray, k: np.ndarray, v: np.ndarray, **given: Any) -> Head:  # noqa: ANN401
    """The only head of a layer. bias: (T, T), sinks: (1,)."""
    bias = given.pop("bias")[None]
    layer = Attending(q=q[None], k=k[None], bias=bias, **{"scale": 1.0} | given)
    return Head(layer, 0, v, layer.pattern_of(0, dtype=np.float64))


@pytest.mark.parametrize("more", [{}, {"softcap": 0.7}, {"sinks": np.array([1.5])}], ids=str)
@pytest.mark.parametrize("way", ["window", "global", "low_rank"])
def test_with_all_of_it_a_way_is_exact(way: str, more: dict[str, Any]) -> None:
    own = made_up(head().q, head().k, head().v, bias=np.zeros((T, T)), mask=head().mask, **more)
    apart = difference(own, WAYS[way](own, ALL))
    assert max(apart) < 1e-12
    fewer = difference(own, WAYS[way](own, Sizes(window=2, n_global=1, rank=1)))
    assert min(fewer) > 0.01


def test_the_exact_weights_are_those_of_torch() -> None:
    torch = pytest.importorskip("torch")
    own = head()
    q, k, v = (torch.tensor(x)[None, None] for x in (own.q, own.k, own.v))
    assert own.given.bias is not None
    added = torch.tensor(np.where(own.mask, own.given.bias[0], -np.inf))
    z = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=added)
    np.testing.assert_allclose(own.weights @ own.v, z[0, 0].numpy(), atol=1e-12)


def test_a_running_sum_gives_what_the_weights_of_linear_attention_give() -> None:
    own = head()
    summed = running_sum(positive_map(own.q), positive_map(own.k), own.v)
    np.testing.assert_allclose(summed, WAYS["linear"](own, Sizes()) @ own.v, atol=1e-12)


def test_the_feature_map_is_elu_and_one() -> None:
    torch = pytest.importorskip("torch")
    x = np.linspace(-5, 5, 21)
    expected = torch.nn.functional.elu(torch.tensor(x)).numpy() + 1
    np.testing.assert_allclose(positive_map(x), expected, atol=1e-12)
    assert (positive_map(x) > 0).all()


def test_low_rank_is_the_best_of_its_rank() -> None:
    """Without bias and mask, the logarithms of its weights are the products of that rank."""
    q, k, v = head().q, head().k, head().v
    own = made_up(q, k, v, bias=np.zeros((T, T)), mask=np.ones((T, T), bool))
    logs = np.log(WAYS["low_rank"](own, Sizes(rank=2)))
    values = np.linalg.svd(own.q @ own.k.T)[1]
    centred = logs - logs.mean(axis=-1, keepdims=True)  # softmax drops what all keys have alike
    assert np.linalg.matrix_rank(centred, tol=1e-9) == 2
    products = own.q @ own.k.T
    left = products - products.mean(axis=-1, keepdims=True) - centred
    assert np.linalg.norm(left) <= np.sqrt(np.square(values[2:]).sum())


def test_two_weights_by_hand() -> None:
    """Weights 1/4 and 3/4 become 0 and 1: a quarter moves."""
    v, bias = np.array([[4.0], [0.0]]), np.log([[1.0, 1.0], [1.0, 3.0]])
    nothing = np.zeros((2, 1))
    own = made_up(nothing, nothing, v, bias=bias, mask=np.tril(np.ones((2, 2), bool)))
    found = difference(own, np.eye(2))
    assert found.moved == pytest.approx(0.25 / 2)  # mean of two rows, of which one is the same
    assert found.error == pytest.approx(1 / np.hypot(4, 1))  # z is (4, 1), and becomes (4, 0)


def test_errors_by_size_end_at_zero() -> None:
    assert sizes_tried(11) == [1, 2, 4, 8, 16, 32, 64]
    assert sizes_tried(65)[-1] == 128
    for way in ("window", "global", "low_rank"):
        errors = errors_by_size(head(), way, Sizes())
        assert errors[0] > 0.01
        assert errors[-1] < 1e-12
    assert len(set(errors_by_size(head(), "linear", Sizes()).tolist())) == 1


def test_multiplications_by_hand() -> None:
    """66 pairs of 11 tokens; with a window of 3 there are 30, and 8 more to the first token."""
    sizes = Sizes(window=3, n_global=1, rank=2)
    found = [multiplications(head(), way, sizes) for way in ("exact", *WAYS)]
    assert found == [12 * 66, 12 * 30, 12 * 38, 11 * 78, 2 * 11 * 2 * 6 + 66 * 8]
