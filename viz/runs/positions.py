"""The position schemes on running models, cached: promises, tables, other orders, five models."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict

import numpy as np
import streamlit as st
import torch

from model.analysis import order, positions
from model.analysis.positions import BeforeRotation
from model.config import POSITION_NAMES
from model.given import Typed
from model.sources.checkpoint import find_folder, read_config
from model.sources.handle import ModelHandle
from model.training.evaluation import Evaluation, read_scores
from model.verify.check import Check
from viz import runs
from viz.runs.kept import kept
from viz.runs.under_way import under_way

SCHEMES = POSITION_NAMES
Family = Mapping[str, ModelHandle]  # the checkpoints made to be compared, by scheme
PREFIX = "positions-"  # of their names
TRAINED_ON = re.compile(r"trained on windows of ([\d,]+)")  # as their cards say it


def family(device: str) -> Family:
    """The checkpoints made to be compared, by scheme, as far as they are there."""
    there = set(runs.model_names())
    names = {scheme: f"{PREFIX}{scheme}" for scheme in SCHEMES}
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
    return getattr(config, "position", None) == scheme


@st.cache_data(max_entries=32, show_spinner=False)
def trained_window(handle: ModelHandle) -> int | None:
    """Tokens in a window of training, as the card of a checkpoint says; None if it does not."""
    card = find_folder(handle.name) / "card.md"
    match = TRAINED_ON.search(card.read_text(encoding="utf-8")) if card.is_file() else None
    return int(match[1].replace(",", "")) if match else None


@st.cache_data(max_entries=32, show_spinner=False)
def _config(handle: ModelHandle) -> dict[str, object]:
    """The config of a checkpoint; nothing for a broken one, which says so on use."""
    try:
        return asdict(read_config(find_folder(handle.name) / "config.json"))
    except ValueError:
        return {}


def differing(family: Family) -> dict[str, dict[str, object]]:
    """Fields of the configs in which models of the family differ: values by scheme."""
    configs = {scheme: _config(handle) for scheme, handle in family.items()}
    configs = {scheme: config for scheme, config in configs.items() if config}
    values: dict[str, dict[str, object]] = {}
    for scheme, config in configs.items():
        for field, value in config.items():
            values.setdefault(field, {})[scheme] = value
    return {
        field: of
        for field, of in values.items()
        if field != "position" and len(set(map(repr, of.values()))) > 1
    }


def sizes(family: Family) -> str:
    """Of what sizes the models of the family are, in words."""
    pairs = {
        (config["n_layers"], config["n_heads"])
        for config in map(_config, family.values())
        if config
    }
    shapes = [f"{n_layers} layers × {n_heads} heads" for n_layers, n_heads in sorted(pairs)]
    if len(shapes) == 1:
        return f"models of {shapes[0]}"
    return f"models of other sizes: {', '.join(shapes)}"


@kept
def checks(handle: ModelHandle, given: Typed) -> tuple[Check, ...]:
    """The promises of the model's position scheme, measured with this sentence."""
    return positions.check_identities(runs.run(handle, given).trace, runs.own_decoder(handle))


@st.cache_data(max_entries=8, show_spinner=False)
def table(handle: ModelHandle) -> np.ndarray | None:
    """The vectors the model adds at each position of its context, or None. (max_seq_len, D)."""
    model = runs.own_decoder(handle)
    added = model.position.added(torch.arange(model.config.max_seq_len, device=model.device))
    return None if added is None else added.cpu().numpy()


@kept
def before_rotation(handle: ModelHandle, given: Typed, layer: int) -> BeforeRotation:
    """Queries and keys of one layer before RoPE rotates them."""
    return positions.before_rotation(runs.run(handle, given).trace, runs.own_decoder(handle), layer)


@kept
@under_way("Running the tokens in another order")
def in_two_orders(
    handle: ModelHandle, given: Typed, places: Sequence[int], is_masked: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Logits after the last token, (V,) each, in two orders, with or without the mask."""
    ids = runs.run(handle, given).trace.ids.tolist()
    return order.in_two_orders(runs.decoder(handle), ids, places, is_masked)


@st.cache_data(max_entries=32, show_spinner=False)
def change_when_moved(handle: ModelHandle, given: Typed, shift: int) -> float:
    """Largest change of a next-token probability when all tokens stand `shift` positions later."""
    return order.change_when_moved(runs.run(handle, given).trace, runs.decoder(handle), shift)


@st.cache_data(max_entries=16, show_spinner=False)
def rolled(handle: ModelHandle, given: Typed) -> float | None:
    """How much outputs change without the mask in another order, see `model.analysis.order`."""
    ids = runs.run(handle, given).trace.ids.tolist()
    return order.rolled(runs.decoder(handle), ids)


def n_parameters(handle: ModelHandle) -> tuple[int, int]:
    """Trained numbers of the position scheme alone, and of the whole model."""
    model = runs.own_decoder(handle)
    scheme, whole = (sum(x.numel() for x in part.parameters()) for part in (model.position, model))
    return scheme, whole


def scores(handle: ModelHandle) -> dict[int, Evaluation]:
    """Losses on held-out text as stored with the checkpoint, by the window they were taken in."""
    return read_scores(find_folder(handle.name))


def side_by_side(family: Family, text: str) -> dict[str, runs.Run]:
    """The same sentence through every model of the family, by scheme."""
    return {scheme: runs.run(handle, text) for scheme, handle in family.items()}
