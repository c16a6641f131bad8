"""What the Positions page asks of models: tables, turned queries, other orders, five models."""

from dataclasses import dataclass

import numpy as np
import streamlit as st
import torch

from model import checkpoint, identities
from model.analysis import cosine_similarity
from model.attention import attention_pattern
from model.capture import AttentionRecord
from model.config import POSITION_NAMES
from model.identities import rope_scores as rope_scores
from model.positions import alibi_slopes, rope_angles, sinusoidal_encoding
from model.training.evaluation import STORED, Evaluation, read_scores
from model.verify import Check, relative_error
from viz.runs import Run, load, model_names, run

SCHEMES = POSITION_NAMES
# The function behind each scheme, to be shown as the source.
SOURCES = {
    "sinusoidal": "model.positions.sinusoidal_encoding",
    "learned": "model.positions.LearnedPosition",
    "rope": "model.positions.rotate_pairs",
    "alibi": "model.positions.alibi_bias",
    "none": "model.positions.Position",
}
SAME = 1e-5  # relative; less is float32's own rounding
FAMILY = "positions-"  # checkpoints that differ in their scheme alone


def family() -> dict[str, str]:
    """The checkpoints that differ in their scheme alone, by scheme, as far as they are there."""
    names = {scheme: f"{FAMILY}{scheme}" for scheme in SCHEMES}
    there = set(model_names())
    return {
        scheme: name
        for scheme, name in names.items()
        if name in there and _has_scheme(name, scheme, checkpoint.modified(name, "config.json"))
    }


@st.cache_data(max_entries=32, show_spinner=False)
def _has_scheme(name: str, scheme: str, modified: int) -> bool:
    """Whether a checkpoint is of the scheme it is named after; a broken one says so on use."""
    try:
        config = checkpoint.read_config(checkpoint.find_folder(name) / "config.json")
    except ValueError:
        return True
    return config.position == scheme


def checks(name: str, device: str, text: str) -> tuple[Check, ...]:
    """The promises of the model's position scheme, measured with this sentence."""
    return _checks(name, device, text, checkpoint.modified(name))


@st.cache_resource(max_entries=16, show_spinner=False)
def _checks(name: str, device: str, text: str, modified: int) -> tuple[Check, ...]:
    return identities.check_identities(run(name, device, text).trace, load(name, device).model)


def table(name: str, device: str) -> np.ndarray | None:
    """The vectors the model adds at each position of its context, or None. (max_seq_len, D)."""
    return _table(name, device, checkpoint.modified(name))


@st.cache_data(max_entries=8, show_spinner=False)
def _table(name: str, device: str, modified: int) -> np.ndarray | None:
    model = load(name, device).model
    positions = torch.arange(model.config.max_seq_len, device=next(model.parameters()).device)
    added = model.position.added(positions)
    return None if added is None else added.cpu().numpy()


def similarity(vectors: np.ndarray) -> np.ndarray:
    """Cosine between every two rows. (N, D) → (N, N)."""
    return cosine_similarity(vectors)


def waves(n_positions: int, d_model: int, base: float) -> np.ndarray:
    """The sinusoidal encoding of the first positions, (N, D)."""
    return sinusoidal_encoding(torch.arange(n_positions), d_model, base).numpy()


def frequencies(width: int, base: float) -> np.ndarray:
    """By how many radians each pair of `width` dimensions turns from one position to the next."""
    return rope_angles(torch.tensor([1]), width, base)[0].numpy()


def unturned(name: str, device: str, text: str, layer: int) -> identities.Unturned:
    """Queries and keys of one layer before RoPE turns them."""
    return _unturned(name, device, text, layer, checkpoint.modified(name))


@st.cache_resource(max_entries=16, show_spinner=False)
def _unturned(name: str, device: str, text: str, layer: int, modified: int) -> identities.Unturned:
    return identities.unturned(run(name, device, text).trace, load(name, device).model, layer)


def slopes(n_heads: int) -> np.ndarray:
    """ALiBi's slopes for a number of heads, (H,)."""
    return alibi_slopes(n_heads).numpy()


def slope_check(n_heads: int) -> Check:
    """Whether the slopes of so many heads are the published ones."""
    return identities.check_slopes(slopes(n_heads))


def without_bias(record: AttentionRecord, head: int) -> np.ndarray:
    """One head's pattern from the same queries and keys, had nothing been added. (Tq, Tk)."""
    scores = torch.tensor(record.scores[head] - record.bias[head])
    return attention_pattern(scores, torch.tensor(record.mask)).numpy()


@dataclass(frozen=True, eq=False)
class Reordered:
    """Outputs of a sentence and of the same tokens in another order, (T, D) each.

    `difference` is what is left when the rows of the second are put back in the first one's order.
    """

    first: np.ndarray
    second: np.ndarray
    difference: np.ndarray
    error: float  # the largest difference, relative to the largest output


def reordered(
    name: str, device: str, text: str, order: tuple[int, ...], is_masked: bool
) -> Reordered:
    """What becomes of the outputs when the tokens change places, with or without the mask."""
    return _reordered(name, device, text, order, is_masked, checkpoint.modified(name))


@st.cache_resource(max_entries=16, show_spinner=False)
def _reordered(
    name: str, device: str, text: str, order: tuple[int, ...], is_masked: bool, modified: int
) -> Reordered:
    model, ids = load(name, device).model, run(name, device, text).trace.ids.tolist()
    mask = None if is_masked else identities.hide_nothing(len(ids))
    first = identities.outputs(model, ids, mask)
    second = identities.outputs(model, [ids[i] for i in order], mask)
    expected = first[list(order)]
    back = np.argsort(order)
    return Reordered(first, second, second[back] - first, relative_error(second, expected))


def change_when_moved(name: str, device: str, text: str, shift: int) -> float:
    """Largest change of a next-token probability when all tokens stand `shift` positions later."""
    return _change_when_moved(name, device, text, shift, checkpoint.modified(name))


@st.cache_data(max_entries=32, show_spinner=False)
def _change_when_moved(name: str, device: str, text: str, shift: int, modified: int) -> float:
    trace = run(name, device, text).trace
    moved = identities.moved_logits(load(name, device).model, trace.ids.tolist(), shift)
    pair = (torch.tensor(x).double().softmax(dim=-1) for x in (moved, trace.logits))
    after, before = pair
    return float((after - before).abs().max())


def n_parameters(name: str, device: str) -> tuple[int, int]:
    """Trained numbers of the position scheme alone, and of the whole model."""
    model = load(name, device).model
    counts = [sum(x.numel() for x in part.parameters()) for part in (model.position, model)]
    return counts[0], counts[1]


def scores(name: str) -> dict[int, Evaluation]:
    """Losses on held-out text as stored with the checkpoint, by the window they were taken in."""
    return _scores(name, checkpoint.modified(name, STORED))


@st.cache_data(max_entries=16, show_spinner=False)
def _scores(name: str, modified: int) -> dict[int, Evaluation]:
    return read_scores(checkpoint.find_folder(name))


def order_matters(name: str, device: str, text: str) -> bool | None:
    """Whether the model, without its mask, notices that the first token has become the last.

    None where it cannot be told, because all tokens are the same.
    """
    ids = run(name, device, text).trace.ids
    if len(set(ids.tolist())) < 2:
        return None
    order = (*range(1, len(ids)), 0)
    return reordered(name, device, text, order, is_masked=False).error > SAME


def side_by_side(device: str, text: str) -> dict[str, Run]:
    """The same sentence through every model of the family, by scheme."""
    return {scheme: run(name, device, text) for scheme, name in family().items()}


def past_the_end(name: str, device: str) -> str:
    """What the model answers to a text one token longer than its context."""
    model = load(name, device).model
    ids = torch.zeros(1, model.config.max_seq_len + 1, dtype=torch.long)
    try:
        model(ids.to(next(model.parameters()).device))
    except ValueError as error:
        return str(error)
    return "It ran."
