"""Five models that differ in their positions alone, on one sentence and on held-out text."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import streamlit as st

from model.sources.handle import ModelHandle
from model.training.evaluation import Evaluation
from viz.figures.schemes import LossCurve, loss_curves, pattern_row
from viz.figures.sides import Part
from viz.frame import inspector, layout, tables, words
from viz.frame.view import View
from viz.runs import Run, positions

NAMES = {
    "sinusoidal": "Sinusoidal",
    "learned": "Learned",
    "rope": "RoPE",
    "alibi": "ALiBi",
    "none": "None",
}
ACTS = {
    "sinusoidal": "adds a wave to each embedding",
    "learned": "adds a trained row to each embedding",
    "rope": "rotates queries and keys",
    "alibi": "lowers scores with distance",
    "none": "does nothing",
}
SHIFT = 64  # by how many positions the sentence is shifted, if the shortest context allows
SAME = 1e-4  # a probability that changes by less than rounding does not depend on the position
TRAINED = 128  # tokens in a window of training, as in the recipes


def draw(view: View) -> None:
    """Draw the tab."""
    found = positions.side_by_side(view.handle.device, view.sentence)
    if not found:
        words.notice("No checkpoints positions-* found: copy them to assets/checkpoints again.")
        return
    missing = [f"positions-{scheme}" for scheme in NAMES if scheme not in found]
    if missing:
        words.notice(f"Not found: {', '.join(missing)}. The others are compared.")
    _patterns(view, found)
    _losses(view, found)
    table = _properties(view, found)
    inspector.source(*(positions.SOURCES[scheme] for scheme in found))
    inspector.export(view, "positions", {"Properties": lambda: tables.frame_csv(table)})


def _handle(view: View, scheme: str) -> ModelHandle:
    """The model of a scheme, on the device of the one that runs."""
    return positions.family(view.handle.device)[scheme]


def _patterns(view: View, found: dict[str, Run]) -> None:
    attention = [run.trace.attention for run in found.values()]
    layer = min(view.layer, min(map(len, attention)) - 1)
    head = min(view.head, min(records[layer].n_heads for records in attention) - 1)
    layout.section(
        "The same head of each model on this sentence",
        f"L{layer} H{head} in {len(found)} models from the same seed and data. Heads need not have "
        "learnt the same task; what differs at a glance is how each spreads over distance.",
    )
    if (layer, head) != (view.layer, view.head):
        st.caption(f"The models have no {view.head_name}: this is the nearest they have.")
    records = {scheme: run.trace.attention[layer] for scheme, run in found.items()}
    layout.show_figure(
        pattern_row(
            [
                Part(NAMES[scheme], found[scheme].trace.tokens, record.pattern[head], ~record.mask)
                for scheme, record in records.items()
            ],
            view.colors,
        ),
        key="patterns",
        alt=f"Attention of L{layer} H{head} in {len(found)} models side by side.",
    )
    for scheme, run in found.items():
        if run.n_cut:
            words.notice(
                f"{NAMES[scheme]} has no position for the last {run.n_cut} tokens: its context "
                f"ends at {run.trace.facts.max_seq_len}."
            )
    checks = [item for run in found.values() for item in run.checks]
    inspector.checked(f"{len(found)} models", checks, "family")


def _losses(view: View, found: dict[str, Run]) -> None:
    layout.section(
        "Past the trained length",
        f"All were trained on windows of {TRAINED} tokens. Here each runs on held-out books in "
        "longer windows: where does its loss go? A learned table simply ends.",
    )
    stored = {scheme: positions.scores(_handle(view, scheme)) for scheme in found}
    curves = [
        LossCurve(NAMES[scheme], *_longest(windows))
        for scheme, windows in stored.items()
        if windows
    ]
    if not curves:
        words.notice("No held-out scores are stored with these checkpoints.")
        return
    layout.show_figure(
        loss_curves(curves, view.colors, n_trained=TRAINED),
        key="losses",
        alt="Loss by position: "
        + "; ".join(
            f"{x.name} {x.losses[0]:.2f} at first, {x.losses[-1]:.2f} at last" for x in curves
        ),
    )
    st.caption(
        "Bits per byte on `valid.txt`, three whole children's books no model was trained on, in "
        "windows of each length; stored with the checkpoints as `python -m model evaluate` printed "
        "it."
    )
    lengths = sorted({window for windows in stored.values() for window in windows})
    table = {"scheme": [NAMES[scheme] for scheme in stored]}
    for length in lengths:
        table[f"{length} tokens"] = [
            f"{windows[length].bits_per_byte:.4f}" if length in windows else "no row"
            for windows in stored.values()
        ]
    st.dataframe(pd.DataFrame(table), hide_index=True, height="content")


def _longest(windows: dict[int, Evaluation]) -> tuple[np.ndarray, int]:
    """Losses by position in the longest window, and the positions in a bin."""
    length = max(windows)
    losses = np.array(windows[length].by_position)
    return losses, length // len(losses)


def _properties(view: View, found: dict[str, Run]) -> pd.DataFrame:
    layout.section(
        "What each scheme is",
        "Numbers are counted in the model, found by shifting this sentence, or taken from the "
        "held-out losses above.",
    )
    shifts = {
        scheme: min(SHIFT, (run.trace.facts.max_seq_len or 0) - len(run.trace.tokens))
        for scheme, run in found.items()
    }
    changes = {scheme: _change(view, scheme, shift) for scheme, shift in shifts.items()}
    columns: dict[str, Callable[[str], str]] = {
        "scheme": NAMES.__getitem__,
        "what it does": ACTS.__getitem__,
        "parameters added": lambda scheme: _parameters(view, scheme),
        "shifted, a probability changes by": lambda scheme: _size(changes[scheme], shifts[scheme]),
        "positions are": lambda scheme: _kind(view, scheme, changes[scheme]),
        "loss past the trained length": lambda scheme: _extrapolates(view, scheme),
    }
    table = pd.DataFrame({name: [cell(x) for x in found] for name, cell in columns.items()})
    st.table(table.set_index("scheme"))
    st.caption(
        f"“Shifted”: the same tokens stand {SHIFT} positions later, as far as the context allows, "
        "after others that no token may attend to. If nothing changes beyond rounding, nothing "
        "depends on where a token stands: relative, if without the mask another order still makes "
        "a difference; none, if it does not. “Past”: mean loss at positions "
        f"{TRAINED} and later against positions 64 to {TRAINED - 1}."
    )
    return table


def _parameters(view: View, scheme: str) -> str:
    added, total = positions.n_parameters(_handle(view, scheme))
    return f"{added:,} of {total:,}"


def _change(view: View, scheme: str, shift: int) -> float | None:
    """Largest change of a probability when the sentence is shifted; None without room to."""
    if shift < 1:
        return None
    return positions.change_when_moved(_handle(view, scheme), view.sentence, shift)


def _size(change: float | None, shift: int) -> str:
    if change is None:
        return "no room to shift"
    return f"{change:.1e}" + (f" (shifted by {shift})" if shift < SHIFT else "")


def _kind(view: View, scheme: str, change: float | None) -> str:
    if change is None:
        return "not measured"
    if change > SAME:
        return "absolute"
    matters = positions.order_matters(_handle(view, scheme), view.sentence)
    return {True: "relative", False: "none", None: "not measured"}[matters]


def _extrapolates(view: View, scheme: str) -> str:
    """Loss beyond the trained length against the loss before its end, and what that means."""
    windows = positions.scores(_handle(view, scheme))
    if not windows:
        return "not measured"
    losses, bin_size = _longest(windows)
    if (TRAINED // 2) % bin_size:
        return "not measured"
    end = TRAINED // bin_size
    if len(losses) <= end:
        return f"none: ends at {TRAINED}"
    inside, beyond = losses[end // 2 : end].mean(), losses[end:].mean()
    verdict = "extrapolates" if beyond <= inside else "does not extrapolate"
    return f"{inside:.2f} → {beyond:.2f}: {verdict}"
