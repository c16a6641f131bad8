"""Two sentences of different length in one batch, and which tokens attend to pad tokens."""

from typing import NamedTuple

import numpy as np
import streamlit as st

from model.analysis.mask_kinds import own_mask
from model.analysis.padding import PAD, Padded
from viz import runs
from viz.charts.chart import Chart
from viz.digits import digits
from viz.figures.masks import share_map
from viz.figures.token_maps import pattern_map
from viz.formulas.parts import with_causal
from viz.frame import controls, inspector, layout, notices, scenes, words
from viz.frame.page import Numbers
from viz.frame.settings import PADDING_SIDE, SECOND
from viz.frame.view import View
from viz.pages.ideas.masks import shared
from viz.runs import masks

SHORTER = "The dog ran."
SAME = 1e-5  # relative; less is float32's own rounding
ABSOLUTE = ("sinusoidal", "learned")  # schemes that add a vector for each position
COUNTING = ("prefix", "global_tokens")  # masks that treat the first tokens otherwise
MOST_PADDING = 12  # pad tokens written out in a row


class Batch(NamedTuple):
    """The same two sentences as one batch with a padding mask and without one."""

    masked: Padded
    unmasked: Padded

    @property
    def n_pad(self) -> int:
        """Pad tokens of the shorter sentence."""
        return int(self.masked.is_pad.sum())


def draw(view: View) -> Numbers:
    """The shorter sentence of a batch, with a padding mask and without one."""
    if shared.end_of_text(view) is None:
        return {}
    with scenes.to_set():
        second = controls.text(SECOND.given(default=SHORTER))
        is_left = controls.segments(PADDING_SIDE) == "left"
    ids = _fitting(view, second)
    if ids is None:
        return {}
    if len(ids[0]) == len(ids[1]):
        return {"found": f"Both have {len(ids[0])} tokens: no padding is needed. Change one."}
    batch = Batch(*(masks.padded(view.handle, ids, is_left, is_masked=x) for x in (True, False)))
    _rows(batch)
    layout.show_charts(
        {
            "padded-hidden": _pattern(view, batch.masked, "with a padding mask"),
            "padded-seen": _pattern(view, batch.unmasked, "without one"),
        }
    )
    title = "Attention on pad tokens, by head, without a padding mask"
    with st.expander("Of every head"):
        layout.show_chart(share_map(_pad_shares(batch.unmasked), title), key="pad-shares")
    name = "Padding at the left" if is_left else "model.masks.padding"
    inspector.formula("model.masks.padding", with_causal(name))
    checks = (*batch.masked.checks, *batch.unmasked.checks)
    inspector.checked("both batches", lambda: checks)
    inspector.source("model.masks.padding")
    side = _of_left(view, batch) if is_left else _of_right(view, batch)
    return {"found": f"{_shares(batch)} {side} {_logits(view, batch)}"}


def _fitting(view: View, second: str) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """Ids of both sentences, cut to the context."""
    context = view.config.max_seq_len
    found = tuple(runs.tokenizer(view.handle).encode(second if second.strip() else ""))
    if not found:
        notices.add("Type a second sentence to complete the batch.")
        return None
    if len(found) > context:
        notices.add(
            f"The second sentence has {len(found)} tokens, more than "
            f"{runs.decoder(view.handle).limit}: its last {len(found) - context} are cut."
        )
    return view.ids, found[:context]


def _rows(batch: Batch) -> None:
    """Both rows of the batch as they ran; much padding is counted instead of written."""
    padded, n_pad = batch.masked, batch.n_pad
    for row, trace in enumerate(padded.traces):
        tokens = list(trace.tokens)
        if row == padded.short and n_pad > MOST_PADDING:
            start = int(padded.is_pad.argmax())
            tokens[start : start + n_pad] = [f"{PAD} × {n_pad}"]
        words.token_row(f"Row {row}", tokens)


def _pattern(view: View, padded: Padded, what: str) -> Chart:
    """The chosen head on the shorter sentence."""
    trace = padded.traces[padded.short]
    record = trace.attention[view.layer]
    title = f"The shorter sentence, {view.head_name}: {what}"
    return pattern_map(record.pattern[view.head], record.mask, trace.tokens, title)


def _pad_shares(padded: Padded) -> np.ndarray:
    """Share of the attention of the sentence's own tokens that is on pad tokens, (L, H)."""
    is_pad = padded.is_pad
    return np.stack(
        [
            record.pattern[:, ~is_pad][:, :, is_pad].sum(axis=-1).mean(axis=-1)
            for record in padded.traces[padded.short].attention
        ]
    )


def _shares(batch: Batch) -> str:
    """How much attention pad tokens get."""
    given, without = (
        f"{digits(100 * _pad_shares(x).mean(), 1)} %" for x in (batch.masked, batch.unmasked)
    )
    end = f", {given} with it" if given != without else ", and with it"
    return f"Without a padding mask {batch.n_pad} pad tokens get {without} of its attention{end}."


def _of_left(view: View, batch: Batch) -> str:
    """What rows of pad tokens before a sentence hold."""
    record = batch.masked.traces[batch.masked.short].attention[view.layer]
    if record.mask[: batch.n_pad].any():
        return f"The {_own(view)} mask lets pad tokens look ahead: their rows are thrown away."
    return "At the left they may attend to nothing: their rows come out as zeros."


def _of_right(view: View, batch: Batch) -> str:
    """Whether the model's own mask hides pad tokens after a sentence already."""
    is_pad = batch.unmasked.is_pad
    if own_mask(view.config, len(is_pad))[~is_pad][:, is_pad].any():
        return f"Even at the right it is needed: the {_own(view)} mask lets some tokens look ahead."
    return (
        f"At the right the {_own(view)} mask hides that already; but a batch that is to be "
        "continued is padded at the left."
    )


def _own(view: View) -> str:
    """The kind of the model's own mask, in words."""
    return view.config.mask.replace("_", " ")


def _logits(view: View, batch: Batch) -> str:
    """Whether the sentence in the batch gets the logits it gets alone, and why."""
    apart = batch.masked.alone, batch.unmasked.alone
    if max(apart) <= SAME:
        return "In the batch its logits are those that it has alone, with a padding mask or not."
    given, without = (f"{digits(100 * x, 0)} %" if x > SAME else "nothing" for x in apart)
    counts = "this model counts positions"
    if view.config.position not in ABSOLUTE and view.config.mask in COUNTING:
        counts = f"this model's {_own(view)} mask counts tokens"
    moved = f": it stands at other positions there, and {counts} from the start"
    return (
        f"Its logits in the batch differ from those alone by {without} (of the largest) without "
        f"a padding mask, by {given} with it{moved if batch.masked.alone > SAME else ''}."
    )
