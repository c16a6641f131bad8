"""The models of all schemes on one sentence and on held-out text, and in what they differ."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from model.analysis.order import SAME as SAME_OUTPUT
from model.sources.handle import ModelHandle
from model.training.evaluation import Evaluation
from viz.digits import digits
from viz.figures.schemes import LossCurve, Part, loss_curves, pattern_row
from viz.frame import inspector, layout, tables, words
from viz.frame.said import Said
from viz.frame.view import View
from viz.runs import Run, positions
from viz.runs.positions import Family

if TYPE_CHECKING:
    import pandas as pd

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
FIELDS = {"max_seq_len": "context", "n_layers": "layers", "n_heads": "heads"}
SHIFT = 64  # by how many positions the sentence is shifted, if the shortest context allows
SAME = 1e-4  # a probability that changes by less than rounding does not depend on the position


def draw(view: View) -> None:
    """Draw the tab."""
    family = positions.family(view.handle.device)
    found = positions.side_by_side(family, view.sentence)
    if not found:
        words.notice("No checkpoints positions-* found: copy them to assets/checkpoints again.")
        return
    missing = [f"positions-{scheme}" for scheme in NAMES if scheme not in found]
    if missing:
        words.notice(f"Not found: {', '.join(missing)}. The others are compared.")
    _say_unlike(family)
    _patterns(view, family, found)
    _losses(view, family)
    table = _properties(view.sentence, family, found)
    inspector.source(*(positions.SOURCES[scheme] for scheme in found))
    inspector.export(view, {"Properties": lambda: tables.frame_csv(table)})


def described(family: Family) -> str:
    """In what the models of the family differ, in a sentence or two: from configs and cards."""
    if not family:
        return ""
    fields = [_field(field, of) for field, of in positions.differing(family).items()]
    besides = f", and in {', '.join(fields)}" if fields else " alone"
    windows = {scheme: positions.trained_window(handle) for scheme, handle in family.items()}
    trained = _grouped({scheme: n for scheme, n in windows.items() if n is not None})
    ending = f" They were trained on windows of {trained} tokens." if trained else ""
    return f"By their configs {len(family)} models differ in their positions{besides}.{ending}"


def _field(field: str, of: Mapping[str, object]) -> str:
    return f"{FIELDS.get(field, field)} ({_grouped(of)})"


def _grouped(of: Mapping[str, object]) -> str:
    """The value of most, and the others by their scheme: 512, Learned 128."""
    usual = Counter(of.values()).most_common(1)
    rest = [f"{NAMES[scheme]} {value}" for scheme, value in of.items() if value != usual[0][0]]
    return ", ".join([*(str(value) for value, _ in usual), *rest])


def _say_unlike(family: Family) -> None:
    """Name each model that is not made as the others: numbers beside it do not compare."""
    for scheme, fields in positions.unlike(family).items():
        what = ", ".join(
            f"{FIELDS.get(field, field)} {own} where the others have {usual}"
            for field, (own, usual) in fields.items()
        )
        words.notice(
            f"{family[scheme].name} does not compare with the others: it has {what}. Its "
            "numbers differ by more than its scheme."
        )


def _patterns(view: View, family: Family, found: dict[str, Run]) -> None:
    attention = [run.trace.attention for run in found.values()]
    layer = min(view.layer, min(map(len, attention)) - 1)
    head = min(view.head, min(records[layer].n_heads for records in attention) - 1)
    layout.section(
        "The same head of each model on this sentence",
        f"L{layer} H{head} in {len(found)} models.",
        f"{described(family)} Heads need not have learnt the same task; what differs "
        "at a glance is how each spreads over distance.",
    )
    records = {scheme: run.trace.attention[layer] for scheme, run in found.items()}
    parts = [
        Part(NAMES[scheme], found[scheme].trace.tokens, record.pattern[head], ~record.mask)
        for scheme, record in records.items()
    ]
    layout.show_chart(pattern_row(parts), key="patterns")
    if (layer, head) != (view.layer, view.head):
        st.caption(f"The models have no {view.head_name}: this is the nearest they have.")
    for scheme, run in found.items():
        if run.n_cut:
            words.notice(
                f"{NAMES[scheme]} has no position for the last {run.n_cut} tokens: its context "
                f"ends at {run.trace.facts.max_seq_len}."
            )
    checking = [run.checking for run in found.values()]
    inspector.checked(
        f"{len(found)} models", lambda: [check for one in checking for check in one.result()]
    )


def _losses(view: View, family: Family) -> None:
    trained = {scheme: positions.trained_window(handle) for scheme, handle in family.items()}
    layout.section(
        "Past the trained length",
        "Held-out text in windows of several lengths: where does the loss go?",
        _windows_in_words(trained) + (" A learned table simply ends." * ("learned" in family)),
    )
    stored = {scheme: positions.scores(handle) for scheme, handle in family.items()}
    curves = [
        LossCurve(NAMES[scheme], *_longest(windows))
        for scheme, windows in stored.items()
        if windows
    ]
    if not curves:
        words.notice("No held-out scores are stored with these checkpoints.")
        return
    layout.show_chart(loss_curves(curves, _common(trained)), key="losses")
    st.caption(
        "Bits per byte on the held-out text that the cards name, in windows of each length; stored "
        "with the checkpoints as `python -m model evaluate` printed it."
    )
    table: dict[str, Sequence[Said]] = {"scheme": [NAMES[scheme] for scheme in stored]}
    lengths = sorted({window for windows in stored.values() for window in windows})
    for length in lengths:
        table[f"{length} tokens"] = [
            digits(windows[length].bits_per_byte) if length in windows else "no row"
            for windows in stored.values()
        ]
    words.table(table)


def _common(trained: Mapping[str, int | None]) -> int | None:
    """The window all were trained on; None where they differ or one does not say."""
    first, *others = set(trained.values())
    return None if others else first


def _windows_in_words(trained: Mapping[str, int | None]) -> str:
    silent = [NAMES[scheme] for scheme, n in trained.items() if n is None]
    known = {scheme: n for scheme, n in trained.items() if n is not None}
    parts = [f"Trained on windows of {_grouped(known)} tokens, as the cards say."] if known else []
    if silent:
        parts.append(f"How long those of {', '.join(silent)} were, no card says.")
    return " ".join(parts)


def _longest(windows: dict[int, Evaluation]) -> tuple[np.ndarray, int]:
    """Losses by position in the longest window, and the positions in a bin."""
    length = max(windows)
    losses = np.array(windows[length].by_position)
    return losses, length // len(losses)


def _properties(text: str, family: Family, found: dict[str, Run]) -> "pd.DataFrame":
    layout.section(
        "What each scheme is",
        "Counted in the model, found by shifting this sentence, or from the losses above.",
    )
    shifts = {
        scheme: min(SHIFT, (run.trace.facts.max_seq_len or 0) - len(run.trace.tokens))
        for scheme, run in found.items()
    }
    changes = {scheme: _change(family[scheme], text, shift) for scheme, shift in shifts.items()}
    columns: dict[str, Callable[[str], str]] = {
        "scheme": NAMES.__getitem__,
        "what it does": ACTS.__getitem__,
        "parameters added": lambda scheme: _parameters(family[scheme]),
        "shifted, a probability changes by": lambda scheme: _size(changes[scheme], shifts[scheme]),
        "positions are": lambda scheme: _kind(family[scheme], text, changes[scheme]),
        "loss past the trained length": lambda scheme: _extrapolates(family[scheme]),
    }
    cells = {name: [cell(x) for x in found] for name, cell in columns.items()}
    words.table(cells)
    st.caption(
        f"“Shifted”: the same tokens stand {SHIFT} positions later, as far as the context allows, "
        "after others that no token may attend to. If nothing changes beyond rounding, nothing "
        "depends on where a token stands: relative, if without the mask another order still makes "
        "a difference; none, if it does not. “Past”: mean loss in the second half of the windows "
        "a model was trained on, and at later positions."
    )
    return tables.frame(cells)


def _parameters(handle: ModelHandle) -> str:
    added, total = positions.n_parameters(handle)
    return f"{added:,} of {total:,}"


def _change(handle: ModelHandle, text: str, shift: int) -> float | None:
    """Largest change of a probability when the sentence is shifted; None without room to."""
    if shift < 1:
        return None
    return positions.change_when_moved(handle, text, shift)


def _size(change: float | None, shift: int) -> str:
    if change is None:
        return "no room to shift"
    by = f" (shifted by {shift})" if shift < SHIFT else ""
    return f"{change:.1e}{by}"


def _kind(handle: ModelHandle, text: str, change: float | None) -> str:
    """Which kind of positions there are, and the change that tells relative ones from none."""
    if change is None:
        return "not measured"
    if change > SAME:
        return "absolute"
    rolled = positions.rolled(handle, text)
    if rolled is None:
        return "not measured"
    kind = "relative" if rolled > SAME_OUTPUT else "none"
    text = f"{rolled:.1e}" if rolled <= SAME_OUTPUT else digits(rolled, 2)
    return f"{kind} (another order changes {text})"


def _extrapolates(handle: ModelHandle) -> str:
    """Loss beyond the trained length against the loss before its end, and what that means."""
    windows, trained = positions.scores(handle), positions.trained_window(handle)
    if trained is None:
        return "trained length not known"
    if not windows:
        return "not measured"
    losses, bin_size = _longest(windows)
    if (trained // 2) % bin_size:
        return "not measured"
    end = trained // bin_size
    if len(losses) <= end:
        return f"none: ends at {trained}"
    inside, beyond = losses[end // 2 : end].mean(), losses[end:].mean()
    does = beyond <= inside
    verdict = "extrapolates" if does else "does not extrapolate"
    return f"{digits(inside, 2)} → {digits(beyond, 2)}: {verdict}"
