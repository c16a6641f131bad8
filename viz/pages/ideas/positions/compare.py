"""The models of all schemes on one sentence and on held-out text, and in what they differ."""

from collections import Counter
from collections.abc import Mapping

import numpy as np

from model.analysis.order import SAME as SAME_OUTPUT
from model.names import head_name
from model.sources.handle import ModelHandle
from model.training.evaluation import Evaluation
from viz.digits import digits
from viz.figures.schemes import Part, loss_curves, pattern_row
from viz.frame import inspector, layout, tables, words
from viz.frame.page import Numbers
from viz.frame.view import View
from viz.runs import Run, positions
from viz.runs.positions import Family

NAMES = {
    "sinusoidal": "Sinusoidal",
    "learned": "Learned",
    "rope": "RoPE",
    "alibi": "ALiBi",
    "none": "None",
}
FIELDS = {"max_seq_len": "context", "n_layers": "layers", "n_heads": "heads"}
SHIFT = 64  # by how many positions the sentence is shifted, if the shortest context allows
SAME = 1e-4  # a probability that changes by less than rounding does not depend on the position


def _differ(family: Family) -> str:
    """In what the models differ by their configs, and whether numbers of them compare."""
    differing = positions.differing(family)
    fields = [f"{FIELDS.get(field, field)} ({_grouped(of)})" for field, of in differing.items()]
    besides = f", and in {', '.join(fields)}" if fields else " alone"
    said = f"By their configs {len(family)} models differ in their positions{besides}."
    if differing.keys() <= {"max_seq_len"}:  # a trained table has an end
        return said
    return f"{said} So numbers beside each other do not compare schemes alone."


def _grouped(of: Mapping[str, object]) -> str:
    """The value of most, and the others by their scheme: 512, Learned 128."""
    usual = Counter(of.values()).most_common(1)
    rest = [f"{NAMES[scheme]} {value}" for scheme, value in of.items() if value != usual[0][0]]
    return ", ".join([*(str(value) for value, _ in usual), *rest])


def _runs(view: View) -> tuple[Family, dict[str, Run]]:
    """The models that are here, and their runs; those that are not are named."""
    family = positions.family(view.handle.device)
    if missing := [f"positions-{scheme}" for scheme in NAMES if scheme not in family]:
        words.notice(f"Not found: {', '.join(missing)}. The others are compared.")
    return family, positions.side_by_side(family, view.sentence)


def patterns(view: View) -> Numbers:
    """The same head of each model on this sentence, or the nearest that all have."""
    family, shown = _runs(view)
    layer = min(view.layer, *(len(run.trace.attention) - 1 for run in shown.values()))
    records = {scheme: run.trace.attention[layer] for scheme, run in shown.items()}
    head = min(view.head, *(record.n_heads - 1 for record in records.values()))
    parts = [
        Part(NAMES[scheme], shown[scheme].trace.tokens, record.pattern[head], ~record.mask)
        for scheme, record in records.items()
    ]
    layout.show_chart(pattern_row(parts), key="patterns")
    if (layer, head) != (view.layer, view.head):
        words.caption(f"The models have no {view.head_name}: this is the nearest they have.")
    for scheme, run in shown.items():
        if run.n_cut:
            words.notice(
                f"{NAMES[scheme]} has no position for the last {run.n_cut} tokens: its context "
                f"ends at {run.trace.facts.max_seq_len}."
            )
    checking = [run.checking for run in shown.values()]
    inspector.checked(
        f"{len(shown)} models", lambda: [check for one in checking for check in one.result()]
    )
    return {
        "head": head_name(layer, head),
        "models": str(len(shown)),
        "differ": _differ(family),
    }


def losses(view: View) -> Numbers:
    """The loss of each model on held-out text, by position and by the length of the window."""
    family = positions.family(view.handle.device)
    trained = {scheme: positions.trained_window(handle) for scheme, handle in family.items()}
    stored = {scheme: positions.scores(handle) for scheme, handle in family.items()}
    lengths = sorted({length for windows in stored.values() for length in windows})
    if not lengths:
        words.notice("No held-out scores are stored with these checkpoints.")
        return {}
    ends = set(trained.values())
    curves = {NAMES[x]: _longest(windows) for x, windows in stored.items() if windows}
    chart = loss_curves(curves, ends.pop() if len(ends) == 1 else None)
    layout.show_chart(chart, key="losses")
    columns = {"scheme": [NAMES[scheme] for scheme in stored]}
    for length in lengths:
        columns[f"{length} tokens"] = [
            digits(windows[length].bits_per_byte) if length in windows else "no row"
            for windows in stored.values()
        ]
    columns["past the trained length"] = [
        _extrapolates(stored[scheme], trained[scheme]) for scheme in stored
    ]
    words.table(columns)
    known = {scheme: n for scheme, n in trained.items() if n is not None}
    windows = f"{_grouped(known)} tokens, as their cards say" if known else "a length no card says"
    return {"windows": windows, "differ": _differ(family)}


def _longest(windows: dict[int, Evaluation]) -> tuple[np.ndarray, int]:
    """Losses by position in the longest window, and the positions in a bin."""
    length = max(windows)
    losses = np.array(windows[length].by_position)
    return losses, length // len(losses)


def _extrapolates(windows: dict[int, Evaluation], trained: int | None) -> str:
    """Loss beyond the trained length against the loss before its end, and what that means."""
    if trained is None:
        return "trained length not known"
    losses, bin_size = _longest(windows) if windows else (np.array([]), 1)
    if not windows or (trained // 2) % bin_size:
        return "not measured"
    end = trained // bin_size
    if len(losses) <= end:
        return f"none: ends at {trained}"
    inside, beyond = losses[end // 2 : end].mean(), losses[end:].mean()
    verdict = "extrapolates" if beyond <= inside else "does not extrapolate"
    return f"{digits(inside, 2)} → {digits(beyond, 2)}: {verdict}"


def properties(view: View) -> Numbers:
    """What each scheme is: counted in the model, or found by shifting the sentence."""
    family, shown = _runs(view)
    found = [_measured(family[scheme], run, view.sentence) for scheme, run in shown.items()]
    names = ("parameters added", "shifted, a probability changes by", "positions are")
    cells = {
        "scheme": [NAMES[scheme] for scheme in shown],
        **dict(zip(names, zip(*found, strict=True), strict=True)),
    }
    words.table(cells)
    inspector.export(view, {"Properties": lambda: tables.csv(cells)})
    return {"shift": str(SHIFT)}


def _measured(handle: ModelHandle, run: Run, text: str) -> tuple[str, str, str]:
    """Parameters of the scheme, how much a shift changes, and which kind of positions these are."""
    added, total = positions.n_parameters(handle)
    counted = f"{added:,} of {total:,}"
    shift = min(SHIFT, (run.trace.facts.max_seq_len or 0) - len(run.trace.tokens))
    if shift < 1:
        return counted, "no room to shift", "not measured"
    change = positions.change_when_moved(handle, text, shift)
    size = f"{change:.1e}{f' (shifted by {shift})' if shift < SHIFT else ''}"
    return counted, size, "absolute" if change > SAME else _kind(handle, text)


def _kind(handle: ModelHandle, text: str) -> str:
    """Whether positions are relative or none, by what another order of the words changes."""
    rolled = positions.rolled(handle, text)
    if rolled is None:
        return "not measured"
    if rolled > SAME_OUTPUT:
        return f"relative (another order changes {digits(rolled, 2)})"
    return f"none (another order changes {rolled:.1e})"
