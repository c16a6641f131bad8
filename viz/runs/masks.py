"""What the Masks page asks of models: the same sentence under any mask, alone or in a batch."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import streamlit as st
import torch

from model import analysis, checkpoint
from model.analysis import masking_alternatives
from model.attention import additive_mask, attention_pattern
from model.capture import Trace, capture, capture_batch
from model.config import ModelConfig
from model.masks import MASKS, causal, global_tokens, padding, prefix, sliding_window
from model.verify import Check, check, relative_error
from viz.live import shelf
from viz.runs import Run, load


@dataclass(frozen=True)
class Sizes:
    """What the kinds of mask are set by; each kind looks at its own.

    `is_causal` joins the causal mask to those that have another side, by `&`.
    """

    window: int = 4
    prefix_len: int = 3
    n_global: int = 1
    n_filler: int = 2
    is_causal: bool = True


def source(kind: str) -> str:
    """Dotted name of the function that draws a kind of mask."""
    return "model.identities.hide_nothing" if kind == "everything" else f"model.masks.{kind}"


def own(config: ModelConfig, n_tokens: int) -> np.ndarray:
    """The mask the model was trained with, (T, T)."""
    return MASKS[config.mask](config, n_tokens, "cpu").numpy()


def matrix(kind: str, sizes: Sizes, n_tokens: int) -> np.ndarray:
    """A kind of mask over n tokens, (T, T). Under `padding` the last ones are filler."""
    mask = _MATRICES[kind](sizes, n_tokens)
    if kind in TWO_SIDED and sizes.is_causal:
        mask = mask & causal(n_tokens)
    return mask.numpy()


@lru_cache(maxsize=1024)
def n_pairs(kind: str, sizes: Sizes, n_tokens: int) -> int:
    """How many pairs of n tokens may attend, counted in the mask."""
    return int(np.count_nonzero(matrix(kind, sizes, n_tokens)))


_MATRICES: dict[str, Callable[[Sizes, int], torch.Tensor]] = {
    "causal": lambda sizes, n: causal(n),
    "sliding_window": lambda sizes, n: sliding_window(n, sizes.window),
    "prefix": lambda sizes, n: prefix(n, sizes.prefix_len),
    "global_tokens": lambda sizes, n: (
        sliding_window(n, sizes.window) | global_tokens(n, sizes.n_global)
    ),
    "padding": lambda sizes, n: padding(torch.tensor([n - sizes.n_filler]), n)[0, 0].expand(n, -1),
    "everything": lambda sizes, n: torch.ones(n, n, dtype=torch.bool),
}
FILLER = "⟨fill⟩"
TWO_SIDED = ("sliding_window", "global_tokens", "padding")


def masked(
    name: str, device: str, ids: tuple[int, ...], mask: np.ndarray, n_filler: int = 0
) -> Run:
    """Capture and check tokens under a mask (T, T); the last `n_filler` are called filler."""
    return _masked(name, device, ids, mask.tobytes(), n_filler, checkpoint.modified(name))


@st.cache_resource(max_entries=8, show_spinner=False)
def _masked(
    name: str, device: str, ids: tuple[int, ...], mask: bytes, n_filler: int, modified: int
) -> Run:
    loaded = load(name, device)
    cells = np.frombuffer(mask, dtype=bool).reshape(len(ids), len(ids))
    is_filler = np.arange(len(ids)) >= len(ids) - n_filler
    tokens = _with_filler(loaded.tokenizer.token_strings(ids), is_filler)
    trace = capture(loaded.model, ids, tokens, cells)
    return Run(trace, check(trace, loaded.model, cells), n_cut=0, key=shelf.put(trace))


def reach(mask: np.ndarray) -> np.ndarray:
    """Layers until each token can know of each other; see `model.analysis.layers_to_reach`."""
    return analysis.layers_to_reach(mask)


def losses(trace: Trace) -> np.ndarray:
    """−ln p of each token but the first, in nats. (T − 1,)."""
    return analysis.next_token_losses(trace.logits, trace.ids)


def future_shares(trace: Trace) -> np.ndarray:
    """Share of each head's attention that goes to later tokens. (L, H)."""
    return np.array([[analysis.future_share(x) for x in r.pattern] for r in trace.attention])


def change_of_the_past(
    name: str, device: str, ids: tuple[int, ...], mask: np.ndarray, position: int, other: int
) -> np.ndarray:
    """How much each position's next-token probabilities change when one token is another. (T,).

    The largest change of any probability, at each position.
    """
    swapped = (*ids[:position], other, *ids[position + 1 :])
    pair = [masked(name, device, tokens, mask).trace.logits for tokens in (ids, swapped)]
    before, after = (torch.tensor(x).double().softmax(dim=-1) for x in pair)
    return (after - before).abs().amax(dim=-1).numpy()


def filler_id(name: str, device: str) -> int:
    """The token that fills short sentences up: the end of text, as GPT-2's users do."""
    return load(name, device).tokenizer.end_id


def token_strings(name: str, device: str, ids: tuple[int, ...]) -> list[str]:
    """Tokens as strings for display."""
    return load(name, device).tokenizer.token_strings(ids)


def _with_filler(strings: list[str], is_filler: np.ndarray) -> list[str]:
    """Tokens for display, filler by a short name."""
    return [FILLER if fills else word for word, fills in zip(strings, is_filler, strict=True)]


def encode(name: str, device: str, text: str) -> tuple[int, ...]:
    """The ids of a text."""
    return tuple(load(name, device).tokenizer.encode(text))


@dataclass(frozen=True, eq=False)
class Padded:
    """Two sentences in one batch, the shorter one filled up; a trace each.

    `is_filler` (T,) marks the filler of the shorter one, which is row `short`. `alone` is how far
    the logits of its own tokens are from what the sentence gets by itself.
    """

    traces: tuple[Trace, Trace]
    checks: tuple[Check, ...]
    short: int
    is_filler: np.ndarray
    alone: float


def padded(
    name: str,
    device: str,
    sentences: tuple[tuple[int, ...], tuple[int, ...]],
    in_front: bool,
    is_hidden: bool,
) -> Padded:
    """Run two sentences as one batch, the filler hidden by a padding mask or in plain sight."""
    return _padded(name, device, sentences, in_front, is_hidden, checkpoint.modified(name))


@st.cache_resource(max_entries=4, show_spinner=False)
def _padded(
    name: str,
    device: str,
    sentences: tuple[tuple[int, ...], tuple[int, ...]],
    in_front: bool,
    is_hidden: bool,
    modified: int,
) -> Padded:
    loaded = load(name, device)
    lengths, longest = [len(ids) for ids in sentences], max(map(len, sentences))
    filler = [[loaded.tokenizer.end_id] * (longest - n) for n in lengths]
    batch = [
        [*fill, *ids] if in_front else [*ids, *fill]
        for fill, ids in zip(filler, sentences, strict=True)
    ]
    own_mask = MASKS[loaded.config.mask](loaded.config, longest, "cpu")
    hidden = padding(torch.tensor(lengths), longest, in_front)[:, 0]  # (2, 1, T)
    masks = (own_mask & hidden if is_hidden else own_mask.expand(2, -1, -1)).numpy()
    tokens = [
        _with_filler(loaded.tokenizer.token_strings(ids), fills)
        for ids, fills in zip(batch, ~hidden[:, 0].numpy(), strict=True)
    ]
    traces = capture_batch(loaded.model, batch, tokens, masks)
    short = int(np.argmin(lengths))
    is_filler = ~hidden[short, 0].numpy()
    alone = loaded.model(torch.tensor([sentences[short]], device=loaded.device))[0].cpu().numpy()
    return Padded(
        traces=(traces[0], traces[1]),
        checks=tuple(c for i in (0, 1) for c in check(traces[i], loaded.model, masks[i])),
        short=short,
        is_filler=is_filler,
        alone=relative_error(traces[short].logits[~is_filler], alone),
    )


def alternatives(trace: Trace, layer: int, head: int) -> dict[str, np.ndarray]:
    """The same scores masked in three ways; see `model.analysis.masking_alternatives`."""
    record = trace.attention[layer]
    return masking_alternatives(record.scores[head], record.mask)


@dataclass(frozen=True, eq=False)
class EmptyRow:
    """One row of scores (Tk,) with every cell masked: by softmax alone, and as the model has it."""

    plain: np.ndarray
    ours: np.ndarray


def empty_row(trace: Trace, layer: int, head: int, query: int) -> EmptyRow:
    """What becomes of a row that may read nothing."""
    scores = torch.tensor(trace.attention[layer].scores[head, query])[None]
    nothing = torch.zeros(scores.shape, dtype=torch.bool)
    plain = (scores + additive_mask(nothing, scores.dtype)).softmax(dim=-1)
    return EmptyRow(plain[0].numpy(), attention_pattern(scores, nothing)[0].numpy())
