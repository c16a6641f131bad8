"""Attention inside the models of transformers: its steps in our functions, its values by our tap.

transformers lets a program register an attention function under a name of its own; a model that is
told this name calls it in every layer. Which tap the values go through stands in a context
variable, so two runs at once never see each other's.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from model.attention import attention_pattern, attention_scores, fused_attention, share_kv_heads
from model.kv_cache import KVCache
from model.tap import NO_TAP, Tap
from model.trace import Site

NAME = "headlight"  # of our functions, in the tables of transformers


Place = TypeVar("Place")
# For a module what stands at each of its calls in a pass, in order; None where nothing does. Models
# that share a layer's weights call it again and again.
Places = Mapping[nn.Module, tuple[Place | None, ...]]
Role = Callable[["Passing", Tensor], Tensor]  # gives back the value to go on with


@dataclass
class Passing:
    """One forward pass: its tap, and where each attention is.

    `before` and `after` are the roles of what modules are given, and of what they give. `mask` is
    taken instead of a layer's own. `cache` has the keys and values of earlier tokens. Blocks that
    are `left_out` give what they are given. `stream` is the residual stream of the block that is
    running, once it has begun.
    """

    tap: Tap
    attention: Places[Site]
    before: Places[Role] = field(default_factory=dict)
    after: Places[Role] = field(default_factory=dict)
    mask: Tensor | None = None
    cache: KVCache | None = None
    left_out: frozenset[nn.Module] = frozenset()
    stream: Tensor | None = None
    _counts: dict[tuple[int, nn.Module], int] = field(default_factory=dict)

    def place(self, places: Places[Place], module: nn.Module) -> Place | None:
        """What stands at this call of a module; None where nothing does."""
        key = (id(places), module)
        number = self._counts.get(key, 0)
        self._counts[key] = number + 1
        known = places.get(module, ())
        return known[number] if number < len(known) else None


_OPEN: ContextVar[Passing | None] = ContextVar("the forward pass that is running", default=None)


@contextmanager
def passing(now: Passing) -> Iterator[None]:
    """Let what runs inside go through a tap."""
    token = _OPEN.set(now)
    try:
        yield
    finally:
        _OPEN.reset(token)


def running() -> Passing | None:
    """The forward pass that is running here; None outside of ours."""
    return _OPEN.get()


def attend(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    **more: Any,  # noqa: ANN401
) -> tuple[Tensor, Tensor | None]:
    """What transformers asks of an attention function; outside of our passes, as its eager one.

    query: (B, H, Tq, Dh), key and value: (B, n_kv_heads, Tk, Dh), attention_mask: bool, True = may
    attend, or what is added to the scores. Returns z (B, Tq, H, Dh), and the pattern where it was
    computed. `more` may have: scaling; position_bias, added to the scores; softcap, beyond which
    scores are bent; s_aux (H,), scores of sinks that take a share of each row and give nothing.
    """
    now = running()
    site = None if now is None else now.place(now.attention, module)
    tap = NO_TAP if now is None or site is None else now.tap.scope(site.address)
    mask, bias = _mask_and_bias(module, query, key, attention_mask, more)
    window = more.get("sliding_window")
    if now is not None and site is not None and site.kind == "self":
        mask = mask if now.mask is None else now.mask
        if now.cache is not None:
            key, value = now.cache.layers[site.layer].append(key, value)
            mask = _mask_after(now.cache.length, key.shape[2], mask, window)
    q, k, v = tap("q", query), tap("k", key), tap("v", value)
    mask, bias = tap("mask", mask), tap("bias", bias)
    scale = more.get("scaling") or q.shape[-1] ** -0.5
    tap("scale", torch.tensor(scale))
    if window is not None:
        tap("window", torch.tensor(window))
    n_heads, cap, sinks = q.shape[1], more.get("softcap"), more.get("s_aux")
    keys, values = share_kv_heads(k, n_heads), share_kv_heads(v, n_heads)
    is_plain = cap is None and sinks is None and now is not None
    if is_plain and not tap.wants("scores", "pattern"):
        z = tap("z", fused_attention(q, keys, values, mask=mask, bias=bias, scale=scale))
        return z.transpose(1, 2).contiguous(), None
    scores = attention_scores(q, keys, bias, scale)  # (B, H, Tq, Tk)
    if cap is not None:
        scores = softcapped(scores, cap)
        tap("softcap", torch.tensor(cap))
    scores = tap("scores", scores)
    pattern = attention_pattern(scores, mask) if sinks is None else sunk(scores, mask, sinks)
    tap("sinks", sinks)
    pattern = tap("pattern", pattern)
    z = tap("z", pattern @ values)
    return z.transpose(1, 2).contiguous(), pattern


def softcapped(scores: Tensor, cap: float) -> Tensor:
    """cap · tanh(scores / cap): scores bent so that none is beyond the cap (Gemma 2, 2024, §2)."""
    return cap * torch.tanh(scores / cap)


def sunk(scores: Tensor, mask: Tensor | None, sinks: Tensor) -> Tensor:
    """Softmax of each row with one score more, of the head's sink, whose share is then left out.

    scores: (B, H, Tq, Tk), sinks: (H,). Returns (B, H, Tq, Tk), rows of which sum to less than one.
    """
    column = sinks.to(scores.dtype).view(1, -1, 1, 1).expand(*scores.shape[:-1], 1)
    seen = None if mask is None else mask.expand(*mask.shape[:-1], scores.shape[-1])
    if seen is not None:
        seen = torch.cat([seen, torch.ones_like(seen[..., :1])], dim=-1)
    return attention_pattern(torch.cat([scores, column], dim=-1), seen)[..., :-1]


def _mask_and_bias(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    attention_mask: Tensor | None,
    more: Mapping[str, Any],
) -> tuple[Tensor | None, Tensor | None]:
    """The mask, (B or 1, 1 or H, Tq, Tk) of True and False, and what is added, (H, Tq, Tk)."""
    n_queries, n_keys = query.shape[2], key.shape[2]
    mask, bias, causal = attention_mask, more.get("position_bias"), more.get("is_causal")
    if causal is None:
        causal = getattr(module, "is_causal", True)
    if mask is None and causal and n_queries > 1:
        every = torch.ones(n_queries, n_keys, dtype=torch.bool, device=query.device)
        mask = every.tril(n_keys - n_queries)[None, None]
    elif mask is not None and mask.dtype != torch.bool:  # added to the scores; far below zero hides
        hidden = mask <= torch.finfo(mask.dtype).min / 2
        added = mask.masked_fill(hidden, 0.0)
        mask, bias = ~hidden, added if bias is None else added + bias
    if bias is None or not bool(bias.any()):
        return mask, None
    return mask, bias[0].expand(query.shape[1], n_queries, n_keys)


def _mask_after(n_held: int, n_keys: int, mask: Tensor | None, window: int | None) -> Tensor | None:
    """The mask of new tokens after some that a cache holds, (1, 1, Tq, Tk)."""
    if n_held == 0:
        return mask
    queries, keys = torch.arange(n_held, n_keys)[:, None], torch.arange(n_keys)
    seen = keys <= queries
    if window is not None:
        seen &= keys > queries - window
    return seen[None, None].to(mask.device) if mask is not None else seen[None, None]


def whole_mask(*arguments: Any, **more: Any) -> Tensor | None:  # noqa: ANN401
    """The mask of a layer, written out even where a faster kernel would need none.

    Outside of our passes it is added to the scores: whoever runs the model beside one of them may
    attend by its own function again before its pass ends, and each of these can add.
    """
    from transformers.masking_utils import eager_mask, sdpa_mask

    make = eager_mask if running() is None else sdpa_mask
    return make(*arguments, **(more | {"allow_is_causal_skip": False}))


def register() -> None:
    """Make both functions known to transformers, under `NAME`."""
    from transformers import AttentionInterface, AttentionMaskInterface

    AttentionInterface.register(NAME, attend)
    AttentionMaskInterface.register(NAME, whole_mask)
