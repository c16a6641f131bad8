"""Protects attention: torch's own numbers, the worked examples, and rows that mean something."""

import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from model.attention import (
    MultiHeadAttention,
    additive_mask,
    attention_pattern,
    attention_scores,
    fused_attention,
    scaled_dot_product,
    share_kv_heads,
)
from model.positions import POSITIONS
from model.tap import NO_TAP, Recorder, attach
from tests.model.builders import GROUPED, causal_rows, normal, randomise, tiny_config

B, H, TQ, TK, DH = 2, 3, 5, 7, 11


def tiny_attention(**changes: object) -> tuple[MultiHeadAttention, nn.Module]:
    """An attention layer with random weights, and its position scheme."""
    config = tiny_config(**{"position": "none"} | changes)
    return randomise(MultiHeadAttention(config)), POSITIONS[config.position](config)


def some_mask(seed: int = 5) -> Tensor:
    """A random mask in which every query sees at least one key. (Tq, Tk)."""
    return (normal(TQ, TK, seed=seed) > 0.3) | torch.eye(TQ, TK, dtype=torch.bool)


@pytest.mark.parametrize("has_mask", [False, True])
@pytest.mark.parametrize("has_bias", [False, True])
def test_both_paths_are_torchs_scaled_dot_product(has_mask: bool, has_bias: bool) -> None:
    q, k, v = normal(B, H, TQ, DH), normal(B, H, TK, DH, seed=1), normal(B, H, TK, DH, seed=2)
    mask = some_mask() if has_mask else None
    bias = normal(H, TQ, TK, seed=3) if has_bias else None
    torch_mask = torch.zeros(H, TQ, TK) if bias is None else bias
    if mask is not None:
        torch_mask = torch_mask.masked_fill(~mask, -math.inf)
    expected = F.scaled_dot_product_attention(q, k, v, attn_mask=torch_mask)
    z, pattern = scaled_dot_product(q, k, v, mask=mask, bias=bias)
    fused = fused_attention(q, k, v, mask=mask, bias=bias)
    assert pattern.shape == (B, H, TQ, TK)
    torch.testing.assert_close(z, expected, atol=1e-5, rtol=0)
    torch.testing.assert_close(fused, expected, atol=1e-5, rtol=0)


def torchs_attention(attn: MultiHeadAttention, *, bias: bool = True) -> nn.MultiheadAttention:
    """torch's layer with the same weights, full heads."""
    theirs = nn.MultiheadAttention(30, 3, bias=bias, batch_first=True)
    projections = (attn.q_proj, attn.k_proj, attn.v_proj)
    weights = {"in_proj_weight": torch.cat([p.weight for p in projections])}
    weights["out_proj.weight"] = attn.out_proj.weight
    if bias:
        weights["in_proj_bias"] = torch.cat([p.bias for p in projections])
        weights["out_proj.bias"] = attn.out_proj.bias
    theirs.load_state_dict(weights)
    return theirs.eval()


@pytest.mark.parametrize("bias", [True, False])
def test_layer_is_torchs_multihead_attention(bias: bool) -> None:
    attn, position = tiny_attention(bias=bias)
    theirs = torchs_attention(attn, bias=bias)
    x, mask, recorder = normal(B, TK, 30), causal_rows(TK), Recorder()
    expected, pattern = theirs(x, x, x, attn_mask=~mask, average_attn_weights=False)
    out = attn(x, position, mask=mask, tap=attach(recorder))
    torch.testing.assert_close(out, expected, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(recorder.values["pattern"], pattern, atol=1e-5, rtol=0)
    torch.testing.assert_close(attn(x, position, mask=mask), expected, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("scheme", ["none", "rope", "alibi"])
def test_grouped_heads_are_full_heads_with_repeated_weights(scheme: str) -> None:
    grouped, position = tiny_attention(**GROUPED, position=scheme)
    full, _ = tiny_attention(**GROUPED | {"n_kv_heads": 6}, position=scheme)
    weights = grouped.state_dict()
    for name in ("k_proj.weight", "k_proj.bias", "v_proj.weight", "v_proj.bias"):
        heads = weights[name].unflatten(0, (2, 6))  # 2 key heads of width 6
        weights[name] = heads.repeat_interleave(3, dim=0).flatten(0, 1)
    full.load_state_dict(weights)
    x, mask = normal(B, TK, 36), causal_rows(TK)
    expected = full(x, position, mask=mask, tap=attach(Recorder()))
    explicit = grouped(x, position, mask=mask, tap=attach(Recorder()))
    torch.testing.assert_close(explicit, expected, atol=1e-5, rtol=0)
    torch.testing.assert_close(grouped(x, position, mask=mask), expected, atol=1e-5, rtol=0)


def test_neighbouring_query_heads_share_a_key_head() -> None:
    x = torch.tensor([10.0, 20.0])[None, :, None, None]
    assert share_kv_heads(x, 6).flatten().tolist() == [10, 10, 10, 20, 20, 20]
    assert share_kv_heads(x, 2) is x


@pytest.mark.parametrize("has_bias", [False, True])
def test_a_row_that_may_attend_to_nothing_gives_zeros(has_bias: bool) -> None:
    q, k, v = normal(B, H, TQ, DH), normal(B, H, TK, DH, seed=1), normal(B, H, TK, DH, seed=2)
    mask, bias = some_mask(), normal(H, TQ, TK) if has_bias else None
    mask[2] = False
    z, pattern = scaled_dot_product(q, k, v, mask=mask, bias=bias)
    assert torch.equal(pattern[:, :, 2], torch.zeros(B, H, TK))
    assert torch.equal(z[:, :, 2], torch.zeros(B, H, DH))
    fused = fused_attention(q, k, v, mask=mask, bias=bias)  # torch's kernel says zeros as well
    torch.testing.assert_close(fused, z, atol=1e-5, rtol=0)
    assert (pattern[:, :, 3].sum(dim=-1) - 1).abs().max() < 1e-6


def test_by_hand() -> None:
    """q·k = 2 ln 3 and 0, over √4: scores ln 3 and 0, so weights 3/4 and 1/4."""
    q = torch.tensor([2 * math.log(3), 0, 0, 0])[None, None, None]
    k = torch.eye(2, 4)[None, None]
    v = torch.tensor([[4.0, 0, 1, 0], [0, 8.0, 1, 0]])[None, None]
    z, pattern = scaled_dot_product(q, k, v)
    torch.testing.assert_close(pattern.flatten(), torch.tensor([0.75, 0.25]))
    torch.testing.assert_close(z.flatten(), torch.tensor([3.0, 2.0, 1.0, 0.0]))
    bias = torch.tensor([[0.0, math.log(3)]])  # lifts the second key to the first
    torch.testing.assert_close(
        scaled_dot_product(q, k, v, bias=bias)[1].flatten(), torch.tensor([0.5, 0.5])
    )
    mask = torch.tensor([[False, True]])
    z, pattern = scaled_dot_product(q, k, v, mask=mask)
    assert pattern.flatten().tolist() == [0.0, 1.0]
    assert z.flatten().tolist() == [0.0, 8.0, 1.0, 0.0]


def test_the_illustrated_transformers_example() -> None:
    """q·k 112 and 96, d_head 64: scores 14 and 12, softmax 0.88 and 0.12 (Alammar 2018)."""
    q, k = torch.zeros(1, 1, 1, 64), torch.zeros(1, 1, 2, 64)
    q[..., 0], k[0, 0, 0, 0], k[0, 0, 1, 0] = 16.0, 7.0, 6.0
    scores = attention_scores(q, k)
    assert scores.flatten().tolist() == [14.0, 12.0]
    assert [round(x, 2) for x in attention_pattern(scores).flatten().tolist()] == [0.88, 0.12]


def test_the_mask_of_the_formula_is_zero_or_minus_infinity() -> None:
    added = additive_mask(torch.tensor([[True, False], [True, True]]), torch.float64)
    assert added.tolist() == [[0.0, -math.inf], [0.0, 0.0]]
    assert added.dtype == torch.float64


def test_recorder_gets_scores_before_the_mask() -> None:
    q, k, v, bias = normal(B, H, TQ, DH), normal(B, H, TK, DH), normal(B, H, TK, DH), normal(TQ, TK)
    recorder = Recorder()
    z, pattern = scaled_dot_product(q, k, v, mask=some_mask(), bias=bias, tap=attach(recorder))
    assert recorder.values.keys() == {"scores", "pattern"}
    assert torch.equal(recorder.values["scores"], attention_scores(q, k, bias))
    assert recorder.values["scores"].isfinite().all()
    assert recorder.values["pattern"] is pattern
    assert torch.equal(pattern @ v, z)


@st.composite
def attention_inputs(draw: st.DrawFn) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """q, k, v of any small sizes and a mask of any density, all-blind rows included."""
    heads, queries, keys, width = (draw(st.integers(1, 7)) for _ in range(4))
    generator = torch.Generator().manual_seed(draw(st.integers(0, 2**32)))
    q, k, v = (
        torch.randn(1, heads, length, width, generator=generator)
        for length in (queries, keys, keys)
    )
    return q, k, v, torch.rand(queries, keys, generator=generator) < draw(st.floats(0, 1))


@given(inputs=attention_inputs(), scale=st.sampled_from([0.1, 1.0, 100.0, 1e8]))
def test_rows_sum_to_one_and_masked_cells_are_zero(
    inputs: tuple[Tensor, Tensor, Tensor, Tensor], scale: float
) -> None:
    q, k, v, mask = inputs
    _, pattern = scaled_dot_product(scale * q, scale * k, v, mask=mask)
    sums = mask.any(dim=-1).float().expand(pattern.shape[:-1])
    assert pattern.isfinite().all()
    assert (pattern[:, :, ~mask] == 0).all()
    torch.testing.assert_close(pattern.sum(dim=-1), sums, atol=1e-6, rtol=0)


@given(inputs=attention_inputs())
def test_explicit_is_fused(inputs: tuple[Tensor, Tensor, Tensor, Tensor]) -> None:
    q, k, v, mask = inputs
    z, _ = scaled_dot_product(q, k, v, mask=mask)
    torch.testing.assert_close(fused_attention(q, k, v, mask=mask), z, atol=1e-5, rtol=0)


@pytest.mark.parametrize("is_explicit", [False, True])
def test_cross_attention_is_torchs(is_explicit: bool) -> None:
    """Keys and values of another source, of another length, under a rectangular mask."""
    attn, position = tiny_attention()
    x, source, mask = normal(B, TQ, 30), normal(B, TK, 30, seed=1), some_mask()
    expected, _ = torchs_attention(attn)(x, source, source, attn_mask=~mask)
    tap = attach(Recorder()) if is_explicit else NO_TAP
    out = attn(x, position, source=source, mask=mask, tap=tap)
    torch.testing.assert_close(out, expected, atol=1e-5, rtol=0)


@pytest.mark.parametrize("scale", [1.0, 0.05])
def test_both_paths_take_another_scale(scale: float) -> None:
    q, k, v = normal(B, H, TQ, DH), normal(B, H, TK, DH, seed=1), normal(B, H, TK, DH, seed=2)
    expected = (q @ k.transpose(-2, -1) * scale).softmax(dim=-1) @ v
    z, _ = scaled_dot_product(q, k, v, scale=scale)
    torch.testing.assert_close(z, expected, atol=1e-5, rtol=0)
    torch.testing.assert_close(fused_attention(q, k, v, scale=scale), expected, atol=1e-5, rtol=0)
    assert (expected - scaled_dot_product(q, k, v)[0]).abs().max() > 0.01


def test_dropout_acts_in_training_alone() -> None:
    attn, position = tiny_attention(dropout=0.5)
    plain, _ = tiny_attention()
    x = normal(B, TK, 30)
    assert torch.equal(attn(x, position), plain(x, position))
    attn.train()
    torch.manual_seed(0)
    first, second = attn(x, position), attn(x, position)
    assert not torch.allclose(first, second)
    torch.manual_seed(0)
    assert torch.equal(attn(x, position), first)
