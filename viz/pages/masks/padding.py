"""Two sentences of different length in one batch, and who reads the filler."""

import numpy as np
import streamlit as st

from viz import controls, say, ui
from viz.figures.masks import pattern_map, share_map
from viz.formulas import with_causal
from viz.runs import masks

SECOND = "The dog ran."
SAME = 1e-5  # relative; less is float32's own rounding
MOST_FILLER = 12  # written out in a row
SIDES = {"front": "Filler in front", "behind": "Filler behind"}


def draw(view: ui.View) -> None:
    """Draw the view."""
    st.markdown(
        "A batch is a rectangle: sentences of different length are filled up to the longest, here "
        "with the end-of-text token. The filler means nothing, and nobody should read it."
    )
    with ui.row("padding"):
        second = controls.text("Second sentence", "padded", SECOND)
        side = controls.segments("Side", "side", SIDES, "front")
    ids = _fitting(view, second)
    controls.show_complaints()
    if ids is None:
        return
    if len(ids[0]) == len(ids[1]):
        say.notice(f"Both sentences have {len(ids[0])} tokens: no filler is needed. Change one.")
        return
    in_front = side == "front"
    hidden, seen = (
        masks.padded(view.model, view.device, ids, in_front, is_hidden)
        for is_hidden in (True, False)
    )
    _batch(hidden)
    _patterns(view, hidden, seen)
    shares = tuple(_filler_shares(padded) for padded in (hidden, seen))
    _shares(view, shares[1])
    _say(view, hidden, seen, shares, in_front)
    ui.formula("model.masks.padding", with_causal(f"model.masks.padding{'_front' * in_front}"))
    ui.checked("both batches", (*hidden.checks, *seen.checks), "mask")
    ui.source("model.masks.padding")
    ui.export(
        view,
        "masks",
        {
            "Shares on filler": lambda: ui.table_csv(
                shares[1],
                [f"L{layer}" for layer in range(len(shares[1]))],
                [f"H{head}" for head in range(shares[1].shape[1])],
                "layer \\ head",
            )
        },
    )


def _fitting(view: ui.View, second: str) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """Ids of both sentences, cut to the context."""
    context = view.run.trace.config.max_seq_len
    found = masks.encode(view.model, view.device, second if second.strip() else "")
    if not found:
        controls.complain("Type a second sentence to fill up the batch.")
        return None
    if len(found) > context:
        controls.complain(
            f"The second sentence has {len(found)} tokens, the model's context is {context}: its "
            f"last {len(found) - context} are cut."
        )
    return tuple(view.run.trace.ids.tolist()), found[:context]


def _batch(padded: masks.Padded) -> None:
    """Both rows of the batch as they ran; much filler is counted instead of written."""
    n_filler = int(padded.is_filler.sum())
    for number, trace in enumerate(padded.traces):
        tokens = list(trace.tokens)
        if number == padded.short and n_filler > MOST_FILLER:
            start = int(padded.is_filler.argmax())
            tokens[start : start + n_filler] = [f"{masks.FILLER} × {n_filler}"]
        say.words(f"Row {number}", tokens)


def _patterns(view: ui.View, hidden: masks.Padded, seen: masks.Padded) -> None:
    pairs = (("hidden", hidden, "with a padding mask"), ("seen", seen, "without one"))
    for column, (key, padded, words) in zip(ui.two_up("padded"), pairs, strict=True):
        trace = padded.traces[padded.short]
        record = trace.attention[view.layer]
        with column:
            ui.show_figure(
                pattern_map(
                    record.pattern[view.head],
                    record.mask,
                    trace.tokens,
                    view.colors,
                    f"The shorter sentence, {view.head_name}: {words}",
                ),
                key=f"padded-{key}",
                alt=f"Attention of {view.head_name} in the filled-up sentence {words}.",
            )


def _filler_shares(padded: masks.Padded) -> np.ndarray:
    """Share of attention the sentence's own tokens give to filler. (L, H)."""
    own, filler = ~padded.is_filler, padded.is_filler
    return np.stack(
        [
            record.pattern[:, own][:, :, filler].sum(axis=(1, 2)) / own.sum()
            for record in padded.traces[padded.short].attention
        ]
    )


def _shares(view: ui.View, shares: np.ndarray) -> None:
    ui.show_figure(
        share_map(shares, view.colors, "Attention on filler, by head, without a padding mask"),
        key="filler",
        alt=f"Share of attention on filler in each head, {shares.mean():.3f} on average.",
    )


def _say(
    view: ui.View,
    hidden: masks.Padded,
    seen: masks.Padded,
    shares: tuple[np.ndarray, np.ndarray],
    in_front: bool,
) -> None:
    n_filler = int(hidden.is_filler.sum())
    with_mask, without = (share.mean() for share in shares)
    say.notice(
        f"Tokens of filler: {n_filler}. The sentence's own tokens give them {with_mask:.1%} of "
        f"their attention with a padding mask, {without:.1%} without."
    )
    if not in_front:
        say.notice(
            "Filler behind lies in the future, and the causal mask hides that already: only the "
            "filler itself reads filler, and its rows are thrown away. In front, where a batch "
            "that is to be continued has it, a padding mask is needed."
        )
    else:
        rows = hidden.traces[hidden.short].attention[view.layer].pattern[:, :n_filler]
        say.notice(
            "Filler in front may read nothing, not even itself: its rows are empty and come out "
            f"as zeros (largest weight {rows.max():g})."
        )
    if hidden.alone > SAME:
        because = (
            "The mask hides the filler, but behind it the sentence stands at other positions, and "
            f"this model ({view.run.trace.config.position}) counts positions from the start."
        )
    elif seen.alone > SAME:
        because = "The padding mask keeps the sentence as it is alone."
    else:
        because = "Here the causal mask alone keeps the sentence as it is by itself."
    say.notice(
        f"Logits of the sentence in the batch against the sentence alone: relative error "
        f"{hidden.alone:.1e} with a padding mask, {seen.alone:.1e} without. {because}"
    )
