"""The models of all schemes on one sentence and on held-out text, and in what they differ."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import streamlit as st

from model.analysis.order import SAME as SAME_OUTPUT
from model.sources.handle import ModelHandle
from model.training.evaluation import Evaluation
from viz.digits import digits
from viz.figures.schemes import Part, loss_curves, pattern_row
from viz.frame import inspector, layout, tables, words
from viz.frame.page import Numbers
from viz.frame.said import Said, head_name
from viz.frame.view import View
from viz.pages.ideas.positions.shared import Tab
from viz.runs import Run, positions
from viz.runs.positions import Family

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


def _found(view: View) -> tuple[Family, dict[str, Run]]:
    """The models that are here, and their runs; those that are not, or are other, are named."""
    family = positions.family(view.handle.device)
    found = positions.side_by_side(family, view.sentence)
    missing = [f"positions-{scheme}" for scheme in NAMES if scheme not in found]
    if missing:
        words.notice(f"Not found: {', '.join(missing)}. The others are compared.")
    _say_unlike(family)
    return family, found


def _patterns(view: View) -> Numbers:
    """The same head of each model on this sentence, or the nearest that all have."""
    family, found = _found(view)
    attention = [run.trace.attention for run in found.values()]
    layer = min(view.layer, min(map(len, attention)) - 1)
    head = min(view.head, min(records[layer].n_heads for records in attention) - 1)
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
    return {
        "head": head_name(layer, head),
        "models": str(len(found)),
        "differ": described(family),
    }


def _losses(view: View) -> Numbers:
    """The loss of each model on held-out text, by position and by the length of the window."""
    family = positions.family(view.handle.device)
    _say_unlike(family)
    trained = {scheme: positions.trained_window(handle) for scheme, handle in family.items()}
    stored = {scheme: positions.scores(handle) for scheme, handle in family.items()}
    curves = {NAMES[scheme]: _longest(windows) for scheme, windows in stored.items() if windows}
    past = [f"{NAMES[scheme]} ({_extrapolates(handle)})" for scheme, handle in family.items()]
    numbers = {"trained": _windows_in_words(trained), "past": ", ".join(past)}
    if not curves:
        words.notice("No held-out scores are stored with these checkpoints.")
        return numbers
    layout.show_chart(loss_curves(curves, _common(trained)), key="losses")
    table: dict[str, Sequence[Said]] = {"scheme": [NAMES[scheme] for scheme in stored]}
    lengths = sorted({window for windows in stored.values() for window in windows})
    for length in lengths:
        table[f"{length} tokens"] = [
            digits(windows[length].bits_per_byte) if length in windows else "no row"
            for windows in stored.values()
        ]
    words.table(table)
    return numbers


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


def _properties(view: View) -> Numbers:
    """What each scheme is: counted in the model, found by shifting the sentence, or from losses."""
    (family, found), text = _found(view), view.sentence
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
    inspector.export(view, {"Properties": lambda: tables.frame_csv(tables.frame(cells))})
    return {"shift": str(SHIFT)}


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


TAB = Tab(
    scenes={"patterns": _patterns, "losses": _losses, "properties": _properties},
    wide=("patterns", "properties"),
    source=tuple(positions.SOURCES.values()),
)
