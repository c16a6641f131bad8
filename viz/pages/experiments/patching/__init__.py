"""Patching: one value of one run, put into another, brings the answer back or does not."""

import numpy as np
import streamlit as st

from model.analysis.patching import GRIDS, OVER_HEADS
from viz import formulas_patching as formulas
from viz.digits import digits, or_none
from viz.figures.patching import Grid, patch_map
from viz.frame import gradual, inspector, layout, memory, notices, state, tables, words
from viz.frame import patching as asked
from viz.frame.settings import PATCH
from viz.frame.two_inputs import two_of
from viz.frame.view import View
from viz.live import component
from viz.pages.experiments.patching import estimate
from viz.pages.experiments.patching.shared import TITLES, Shown, use_formula
from viz.runs.patching import Patching, Request, patch

TITLE = "Patching"
ICON = ":material/healing:"
NEEDS = ("answers", "edits")
OPENS_INSPECTOR = False

PATCHING = "patching"  # of this visitor
MOST_UNASKED = 64  # tokens up to which it begins by itself
ALLOWED = 1e-5


def render(view: View) -> None:
    """Draw the page."""
    row = layout.heading(
        ICON,
        TITLE,
        "Put one value of one run into the other: does the answer come back?",
        "Activation patching (Vig et al. 2020; Meng et al. 2022; Wang et al. 2023). Two sentences "
        "of equally many tokens are run. Each cell is a further run of its own in which one value "
        "of one sentence replaces that of the other: 0, nothing changes; 1, the whole metric of "
        "the sentence it came from is back. Click a cell to see what it is.",
    )
    with row, layout.slim_row("second-sentence"):
        second = asked.second_input(view)
    controls = layout.slim_row("patching-metric")
    with controls:
        if view.run.trace.main.ids is not None:
            asked.draw_pairs()
    if not second.strip():
        n = len(view.run.trace.streams[0]) - (len(view.run.trace.streams) > 1)  # its end is ours
        words.notice(f"Type a second sentence of {n} token{'s' * (n != 1)}.")
        return
    two = two_of(view, second)
    with controls:
        stack = asked.stack(view, two)
        metric = asked.metric(view, two)
        is_forward = asked.is_forward()
    notices.show()
    base, source = (two.second, two.first) if is_forward else (two.first, two.second)
    request = Request(view.handle, base, source, metric, stack)
    _patch(Shown(view, second, two, request, _work(view, request), is_forward))


def _work(view: View, request: Request) -> Patching:
    """The patching of this request, begun or gone on with."""
    found: Patching | None = memory.remembered(PATCHING, request)
    if found is None:
        found = patch(request)
        n_tokens = sum(len(stream) for stream in view.run.trace.streams)
        found.is_running = n_tokens <= MOST_UNASKED and bool(found.patched.kept.gap)
        memory.remember(PATCHING, request, found)
    return found


def _patch(shown: Shown) -> None:
    work = shown.work
    if not work.patched.kept.gap:
        _pair(shown)
        words.notice(_same(shown))
        return
    if work.is_done:
        with st.container():
            _grids_and_pair(shown)
        _cell(shown)
        estimate.section(shown)
        _check(shown)
    else:
        patched = work.patched
        gradual.draw(
            work,
            lambda: _grids_and_pair(shown),
            lambda: f"{patched.n_done} of {patched.n_cells} runs",
            lambda: _left(work),
        )
    if not work.is_running:  # else what comes would move it
        _inspect(shown)


def _same(shown: Shown) -> str:
    """Why there is nothing to put back, and what to do about it."""
    metric, n = shown.request.metric, shown.kind
    if metric.kind == "difference" and metric.answer == metric.other:
        return "Answer and Against are the same token, so the difference is 0: choose another."
    return f"Both {n}s give the same number: there is nothing to put back. Change the second {n}."


def _grids_and_pair(shown: Shown) -> None:
    _grids(shown)
    _pair(shown)


def _pair(shown: Shown) -> None:
    """Both sentences, and the metric of each as it is."""
    left, right = layout.two_up("pair", (3, 2))
    with left:
        _rows(shown)
    with right:
        _ends(shown)


def _rows(shown: Shown) -> None:
    """The tokens of both inputs, where they are text, and where the answer is asked."""
    if shown.view.run.trace.main.ids is None:
        words.caption(
            f"First the picture above, second test digit {shown.second}. Across: [CLS] and the "
            "patches, row by row."
        )
        return
    first = next(iter(shown.two.labels.values()))
    words.token_pairs(("first", "second"), *first)
    words.caption(f"The answer is asked {shown.two.place}.")


def _left(work: Patching) -> str:
    n_cells = work.patched.n_cells
    return f"{n_cells - work.patched.n_done:,} of {n_cells:,} runs are left."


def _ends(shown: Shown) -> None:
    """The metric of both sentences as they are."""
    kept = shown.work.patched.kept
    ends = {
        shown.is_forward: kept.of_source,
        not shown.is_forward: kept.of_base,
    }
    words.facts(
        [
            (
                digits(value),
                f"{asked.metric_name(shown.view, shown.request.metric)}, {which}",
            )
            for which, value in (
                (f"first {shown.kind}", ends[True]),
                (f"second {shown.kind}", ends[False]),
            )
        ]
    )


def _grids(shown: Shown) -> None:
    chosen = _chosen(shown)
    rows = (("resid_pre", "attn_out"), ("ffn_out", "z"))
    for row in rows:
        for column, name in zip(layout.two_up(f"patched-{row[0]}"), row, strict=True):
            with column:
                _grid(shown, name, chosen)


def _grid(shown: Shown, name: str, chosen: tuple[str, int, int]) -> None:
    patched = shown.work.patched
    shares = patched.kept.restored(patched.values[name])
    grid = Grid(
        TITLES[name],
        shares,
        patched.values[name],
        shown.columns(name),
        "head" if name == OVER_HEADS else "position",
        chosen[1:] if chosen[0] == name else None,
    )
    layout.show_figure(
        patch_map(grid, shown.view.colors),
        key=f"patched-{name.replace('_', '-')}",
        alt=_alt(grid),
        on_pick=lambda place: _look_at(name, place),
    )


def _alt(grid: Grid) -> str:
    done = np.isfinite(grid.shares)
    if not done.all():
        return f"{grid.title}: {int(done.sum())} of {done.size} runs are done."
    layer, column = np.unravel_index(np.abs(grid.shares).argmax(), grid.shares.shape)
    return (
        f"{grid.title}: share of the metric put back, by layer and {grid.column_title}. The "
        f"largest is {digits(float(grid.shares[layer, column]), 3)} at L{layer}, "
        f"{grid.labels[int(column)]}."
    )


def _look_at(name: str, place: component.Place) -> None:
    state.put((PATCH, f"{name}.{int(place['y'])}.{int(place['x'])}"))


def _chosen(shown: Shown) -> tuple[str, int, int]:
    """The cell that is looked at: until one is chosen, the head that puts back most."""
    cells = {
        f"{name}.{layer}.{column}": (name, layer, column)
        for name in GRIDS
        for layer, column in np.ndindex(shown.work.patched.values[name].shape)
    }
    layer, of_layer = _strongest(shown)
    default = f"{OVER_HEADS}.{layer}.{of_layer}"
    return cells[state.value(PATCH.given(options=list(cells), default=default))]


def _strongest(shown: Shown) -> tuple[int, int]:
    """The head that puts back most, or takes most away."""
    heads = np.nan_to_num(np.abs(shown.shares[OVER_HEADS]), nan=-1.0)
    layer, of_layer = np.unravel_index(heads.argmax(), heads.shape)
    return int(layer), int(of_layer)


# --- one cell ---------------------------------------------------------------------------------


def _cell(shown: Shown) -> None:
    """What the chosen cell is, its numbers, and where to look at it."""
    name, layer, column = _chosen(shown)
    kept, work = shown.work.patched.kept, shown.work
    value = float(work.patched.values[name][layer, column])
    share = float(shown.shares[name][layer, column])
    guess = float(kept.restored(work.estimate[name])[layer, column])
    layout.section(
        f"L{layer} {_called(shown, name, column)}",
        _says(shown, name),
        "1: this one value is enough to give the whole metric of the sentence it came from. 0: it "
        "changes nothing. Below 0: it moves the metric away from it. Shares of several cells do "
        "not sum to 1, for a value is carried on from cell to cell.",
    )
    words.facts(
        [
            (digits(value), "metric with this one value"),
            (or_none(share, 3), "put back"),
            (or_none(guess, 3), "estimate: gradient × difference"),
        ]
    )
    if name == OVER_HEADS and (layer, column) == _strongest(shown):
        words.caption(f"Of all heads, L{layer} H{column} changes the metric most.")
    _ways_on(shown, name, layer, column)
    use_formula("pieces", formulas.PATCHED)
    inspector.formula(
        "model.analysis.patching.pieces",
        formulas.patched_with_numbers(kept.of_base, kept.of_source, value),
    )


def _called(shown: Shown, name: str, column: int) -> str:
    """The chosen value in a few words."""
    if name == OVER_HEADS:
        return f"H{column}"
    what = {"resid_pre": "stream", "attn_out": "attention", "ffn_out": "feed-forward"}[name]
    return f"{what}, position {column}"


def _says(shown: Shown, name: str) -> str:
    came, went = ("first", "second") if shown.is_forward else ("second", "first")
    where = "at all positions" if name == OVER_HEADS else "at this position"
    return f"What does the {came} {shown.kind}’s value put back in the {went}’s run, {where}?"


def _ways_on(shown: Shown, name: str, layer: int, column: int) -> None:
    attention = f"{shown.request.stack}.attn"
    ways = []
    if name == OVER_HEADS:
        query = shown.link("Attention", attention=attention, layer=layer, head=column)
        ways.append(words.Way(f"L{layer} H{column}", "What this head attends to.", query=query))
    elif shown.is_decoder:
        query = shown.link("Logit lens", layer=layer, after=column)
        ways.append(
            words.Way(
                f"L{layer}, token {column}",
                "What this place would predict, layer by layer.",
                query=query,
            )
        )
    query = shown.link("Attention", shown.second, attention=attention, layer=layer)
    ways.append(words.Way(f"The second {shown.kind}", "Its attention in this layer.", query=query))
    words.ways(ways)


def _check(shown: Shown) -> None:
    first = shown.shares["resid_pre"][0]
    exchanged = np.array([a != b for a, b in zip(*shown.both_labels, strict=True)])
    if shown.view.run.trace.main.ids is None:
        exchanged[1:] = True  # every patch may differ, the class token does not
    error = float(np.abs(first[~exchanged]).max(initial=0.0))
    inspector.check(
        error <= ALLOWED,
        f"before the first layer, what both inputs share puts back nothing, max error "
        f"{error:.1e}, allowed {ALLOWED:.0e}.",
    )


def _inspect(shown: Shown) -> None:
    if not shown.work.is_done:
        use_formula("pieces", formulas.PATCHED)
        use_formula("estimated", formulas.ESTIMATED)
    inspector.source(
        "model.analysis.patching.pieces",
        "model.analysis.patching.patched",
        "model.analysis.branching.Branch",
        "model.analysis.patching.estimated",
    )
    inspector.export(
        shown.view,
        {
            TITLES[name]: lambda name=name: tables.table_csv(
                shown.shares[name],
                [f"L{i}" for i in range(len(shown.shares[name]))],
                shown.columns(name),
                "layer",
            )
            for name in GRIDS
        },
    )
