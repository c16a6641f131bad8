"""The position schemes on running models, cached: promises, tables, other orders, five models."""

from collections.abc import Sequence

import numpy as np
import streamlit as st
import torch

from model.analysis import order, positions
from model.analysis.positions import BeforeRotation
from model.config import POSITION_NAMES
from model.sources.checkpoint import find_folder, read_config
from model.sources.handle import ModelHandle
from model.training.evaluation import Evaluation, read_scores
from model.verify.check import Check
from viz import runs

SCHEMES = POSITION_NAMES
# The function behind each scheme, to be shown as the source.
SOURCES = {
    "sinusoidal": "model.positions.sinusoidal_encoding",
    "learned": "model.positions.LearnedPosition",
    "rope": "model.positions.rotate_pairs",
    "alibi": "model.positions.alibi_bias",
    "none": "model.positions.Position",
}
FAMILY = "positions-"  # checkpoints that differ in their scheme alone


def family(device: str) -> dict[str, ModelHandle]:
    """The checkpoints that differ in their scheme alone, by scheme, as far as they are there."""
    there = set(runs.model_names())
    names = {scheme: f"{FAMILY}{scheme}" for scheme in SCHEMES}
    handles = {
        scheme: runs.handle_of(name, device) for scheme, name in names.items() if name in there
    }
    return {scheme: handle for scheme, handle in handles.items() if _has_scheme(handle, scheme)}


@st.cache_data(max_entries=32, show_spinner=False)
def _has_scheme(handle: ModelHandle, scheme: str) -> bool:
    """Whether a checkpoint is of the scheme it is named after; a broken one says so on use."""
    try:
        config = read_config(find_folder(handle.name) / "config.json")
    except ValueError:
        return True
    return config.position == scheme


@st.cache_resource(max_entries=16, show_spinner=False)
def checks(handle: ModelHandle, text: str) -> tuple[Check, ...]:
    """The promises of the model's position scheme, measured with this sentence."""
    return positions.check_identities(runs.run(handle, text).trace, runs.decoder(handle))


@st.cache_data(max_entries=8, show_spinner=False)
def table(handle: ModelHandle) -> np.ndarray | None:
    """The vectors the model adds at each position of its context, or None. (max_seq_len, D)."""
    model = runs.decoder(handle)
    added = model.position.added(torch.arange(model.config.max_seq_len, device=model.device))
    return None if added is None else added.cpu().numpy()


@st.cache_resource(max_entries=16, show_spinner=False)
def before_rotation(handle: ModelHandle, text: str, layer: int) -> BeforeRotation:
    """Queries and keys of one layer before RoPE rotates them."""
    return positions.before_rotation(runs.run(handle, text).trace, runs.decoder(handle), layer)


@st.cache_resource(max_entries=16, show_spinner=False)
def reordered(
    handle: ModelHandle, text: str, places: Sequence[int], is_masked: bool
) -> order.Reordered:
    """What becomes of the outputs when the tokens change places, with or without the mask."""
    ids = runs.run(handle, text).trace.ids.tolist()
    return order.reordered(runs.decoder(handle), ids, places, is_masked)


@st.cache_data(max_entries=32, show_spinner=False)
def change_when_moved(handle: ModelHandle, text: str, shift: int) -> float:
    """Largest change of a next-token probability when all tokens stand `shift` positions later."""
    return order.change_when_moved(runs.run(handle, text).trace, runs.decoder(handle), shift)


@st.cache_data(max_entries=16, show_spinner=False)
def order_matters(handle: ModelHandle, text: str) -> bool | None:
    """Whether the model, without its mask, notices another order; None where it cannot be told."""
    ids = runs.run(handle, text).trace.ids.tolist()
    return order.order_matters(runs.decoder(handle), ids)


def n_parameters(handle: ModelHandle) -> tuple[int, int]:
    """Trained numbers of the position scheme alone, and of the whole model."""
    model = runs.decoder(handle)
    scheme, whole = (sum(x.numel() for x in part.parameters()) for part in (model.position, model))
    return scheme, whole


def scores(handle: ModelHandle) -> dict[int, Evaluation]:
    """Losses on held-out text as stored with the checkpoint, by the window they were taken in."""
    return read_scores(find_folder(handle.name))


def side_by_side(device: str, text: str) -> dict[str, runs.Run]:
    """The same sentence through every model of the family, by scheme."""
    return {scheme: runs.run(handle, text) for scheme, handle in family(device).items()}
