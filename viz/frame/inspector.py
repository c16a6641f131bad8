"""The panel below every page: formula, source, checks and downloads of what is seen, one at a time.

A page says what belongs into it where it draws the figure; what is not open is not drawn.
"""

import html
import importlib
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import FunctionType

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from model import reference, reference_files
from model.trace import AttentionRecord
from model.verify.check import Check
from viz import runs
from viz.charts.chart import Chart, Row
from viz.formulas import FORMULAS, Formula, breakable, parts
from viz.frame import controls, state, symbols, tables, verdicts, words
from viz.frame.settings import IMAGE_FORMAT, INSPECT
from viz.frame.view import View
from viz.inside_streamlit import unbroken

Tables = dict[str, Callable[[], bytes]]  # files by their names, made when they are asked for

PANEL = "inspector-panel"
FORMULA, SOURCE, CHECK, EXPORT = "formula", "source", "check", "export"
CLOSED = "closed"
LABELS = {
    FORMULA: ":material/function: Formula",
    SOURCE: ":material/code: Source",
    CHECK: ":material/verified: Check",
    EXPORT: ":material/download: Export",
}


@dataclass
class Panel:
    """The panel while a page is drawn: which part is open, which there are, and whose formulas."""

    page: DeltaGenerator
    head: DeltaGenerator
    body: DeltaGenerator
    open: str
    parts: set[str]
    section: str = ""  # the part of the page that is being drawn
    entry: DeltaGenerator | None = None  # where the formula of a figure and its numbers stand
    entry_of: tuple[str, str] = ("", "")  # the section and the function it is of
    n_entries: int = 0
    keys: dict[str, None] = field(default_factory=dict)  # of the symbols of its formulas
    explain: Callable[[], None] = lambda: None  # says what these are; once the page is drawn
    charts: dict[str, Chart | Row] = field(default_factory=dict)  # that are drawn, by their key
    draw_export: Callable[[], None] | None = None
    # What runs beside the page's own are, and their checks.
    further: list[tuple[str, Callable[[], Sequence[Check]]]] = field(default_factory=list)


def place(page: DeltaGenerator, *, opens: bool) -> None:
    """Where the panel of a page will be, below it; `opens` unless a person chose."""
    chosen = state.value(INSPECT)
    part = chosen or (FORMULA if opens else CLOSED)
    unasked = not chosen and opens  # it stands at the end of the page then, over no figure
    with st.container(key="inspector"):
        head = st.container(key="inspector-head", horizontal=True)
        body = st.container(key="inspector-unasked" if unasked else f"inspector-{part}")
        panel = Panel(page, head, body, part, parts=set())
    st.session_state[PANEL] = panel


def _panel() -> Panel:
    return st.session_state[PANEL]


def show_parts(page: str, view: View, *, is_of_run: bool) -> None:
    """What may be opened, now that the page is drawn; nothing where it shows nothing.

    The checks of the run are among it on a page that shows something of the run.
    """
    panel = _panel()
    if not panel.parts:
        return
    if panel.keys:
        panel.explain = partial(_explain, panel.body.empty(), page, symbols.sizes(view))
        panel.explain()
    if is_of_run:
        panel.parts.add(CHECK)
    if panel.draw_export is not None:
        _show(EXPORT, panel.draw_export)
        panel.draw_export = None  # it holds the run
    with panel.head:
        for part in (part for part in LABELS if part in panel.parts):
            # Buttons: what Streamlit's choices hold, it may send again though nobody chose it.
            st.button(
                LABELS[part],
                key=f"inspect-{part}",
                type="primary" if part == panel.open else "tertiary",
                on_click=unbroken(_choose),
                args=(part, part == panel.open),
            )


def finish(checks: Sequence[Check]) -> None:
    """Say what the checks of the run and of further ones found, once they are there."""
    for what, verdict_of in _panel().further:
        _of_further(what, verdict_of())
    if CHECK in _panel().parts:
        line = f"{verdict(checks, 'The run: ')}; the badge above lists them."
        _show(CHECK, lambda: _of_run(line))


def _of_run(line: str) -> None:
    """What the run's checks found, and the code of the independent run they compare with."""
    st.caption(line)
    with st.expander("The independent run, as it is written: model/reference.py"):
        for module in (reference, reference_files):
            st.code(inspect.getsource(module), language="python")


def _choose(part: str, is_open: bool) -> None:
    state.put((INSPECT, CLOSED if is_open else part))


def _show(part: str, draw: Callable[[], object]) -> None:
    """Draw something in a part of the panel, if it is the open one."""
    panel = _panel()
    panel.parts.add(part)
    if panel.open == part:
        with panel.body:
            draw()


# --- formulas ---------------------------------------------------------------------------------


def enter(section: str) -> None:
    """A part of the page begins: the formulas that follow are of what it shows."""
    _panel().section = section


def formula(name: str, written: Formula | str | None = None) -> None:
    """The formula of a function with its source.

    written: another formula of it, as this model or choice has it, or its numbers alone.
    """
    shown = FORMULAS[name] if written is None else written
    latex, source = (shown, None) if isinstance(shown, str) else (shown.latex, shown.reference)

    def draw() -> None:
        _write(latex)
        if source is not None:
            words.centred(html.escape(source))

    _show(FORMULA, lambda: _in_entry(name, draw))


def attention(record: AttentionRecord) -> None:
    """The formula of attention as a layer has it, by the stages of its record."""
    scale = None if record.has_usual_scale else record.scale
    written = parts.attention(record.stages, scale=scale, has_mask=not record.mask.all())
    formula("model.attention.scaled_dot_product", written)


def numbers(latex: str) -> None:
    """A line of numbers that belongs to no function's formula."""
    _show(FORMULA, lambda: _in_entry(latex, lambda: _write(latex)))


def note(text: str) -> None:
    """A line of ours between formulas."""
    beside_formula(lambda: st.caption(text, text_alignment="center"))


def beside_formula(draw: Callable[[], object]) -> None:
    """Words that belong to the formula before them."""
    _show(FORMULA, lambda: _in_entry(_panel().entry_of[1], draw))


def _write(latex: str) -> None:
    st.latex(breakable(latex))
    panel = _panel()
    n_known = len(panel.keys)
    panel.keys.update(dict.fromkeys(symbols.keys_in(latex)))
    if len(panel.keys) > n_known:
        panel.explain()


def _explain(place: DeltaGenerator, page: str, known: Mapping[str, str]) -> None:
    """What the symbols of all formulas of the panel mean, each once."""
    listed = [symbol for key in _panel().keys for symbol in symbols.meanings(key, page)]
    with place.expander("Symbols"):
        symbols.draw({"shape": [symbols.shape_of(symbol, known) for symbol in listed]}, listed)


def _in_entry(name: str, draw: Callable[[], object]) -> None:
    """Draw with what stands already of a function, in one part of the page; else in a new place."""
    panel = _panel()
    if panel.entry is None or panel.entry_of != (panel.section, name):
        panel.n_entries += 1
        panel.entry = st.container(key=f"inspector-entry-{panel.n_entries}")
        panel.entry_of = (panel.section, name)
        if panel.section:
            panel.entry.caption(f"**{panel.section}**", text_alignment="center")
    with panel.entry:
        draw()


# --- sources ----------------------------------------------------------------------------------


def source(*names: str) -> None:
    """The code that computed what is shown, as it ran, by dotted names."""
    _show(SOURCE, lambda: _code(names))


def _code(names: Sequence[str]) -> None:
    for name in names:
        st.caption(name)
        st.code(inspect.getsource(_resolve(name)), language="python")


def _resolve(dotted: str) -> FunctionType | type:
    module, name = dotted.rsplit(".", 1)
    return getattr(importlib.import_module(module), name)


# --- checks -----------------------------------------------------------------------------------


def check(passed: bool, text: str) -> None:
    """A check of what the page shows; one that failed is said on the page too. The text is ours."""
    _show(CHECK, lambda: verdicts.check_line(passed, text))
    if not passed:
        verdicts.check_line(passed, text)


def checked(what: str, checks: Callable[[], Sequence[Check]]) -> None:
    """How many checks a further run passed, and the list of them. `what` is ours.

    `checks` should not hold the run, as a lambda would: see `viz.runs.kept.Asked`.

    They are waited for once all is drawn; what failed is said at the end of the page then.
    """
    panel = _panel()
    panel.parts.add(CHECK)
    panel.further.append((what, checks))


def _of_further(what: str, checks: Sequence[Check]) -> None:
    def draw() -> None:
        st.caption(verdict(checks, f"{what}: "))
        verdicts.checks_table(checks)

    _show(CHECK, draw)
    with _panel().page:
        for item in checks:
            if not item.passed:
                verdicts.check_line(item.passed, f"{what}: {item.name}, error {item.error:.1e}")


def verdict(checks: Sequence[Check], before: str) -> str:
    """How many checks passed, after a few words of ours; their errors are in the list."""
    n_failed = sum(not item.passed for item in checks)
    n = len(checks)
    if n_failed:
        return f":material/error: {before}{n_failed} of {n} checks failed"
    return f":material/verified: {before}Verified: {n} of {n}"


# --- downloads --------------------------------------------------------------------------------


def export(
    view: View, tables: Tables, files: Tables | None = None, *, has_charts: bool = True
) -> None:
    """Downloads: tables as CSV, `files` as HTML, the whole trace as npz, and the image format.

    `has_charts` says whether the page has charts whose camera saves in that format.
    """
    # Drawn at the end: charts of the page may follow.
    _panel().draw_export = lambda: _downloads(view, tables, files or {}, has_charts)


def offer(key: str, chart: Chart | Row) -> None:
    """Offer the numbers of a chart, where downloads are open: it holds arrays, so not always."""
    panel = _panel()
    if panel.open == EXPORT:
        panel.charts[key] = chart


def pattern_table(view: View) -> Tables:
    """The weights of the chosen head."""
    return {
        f"Pattern {view.head_name}": lambda: tables.table_csv(
            view.pattern, view.query_tokens, view.key_tokens, "query \\ key"
        )
    }


def _downloads(view: View, own: Tables, files: Tables, has_charts: bool) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom", key="export"):
        charts = _panel().charts  # those that fill in over time are replaced there
        for key, chart in charts.items():
            make = partial(_chart_csv, charts, key)
            _download(chart.title, make, "csv", ":material/table:", key)
        for name, make in own.items():
            _download(name, make, "csv", ":material/table:")
        for name, make in files.items():
            _download(name, make, "html", ":material/web:")
        st.download_button(
            "Whole trace (npz)",
            lambda: runs.trace_npz(view.run),
            file_name=f"headlight-{view.handle.name}.npz",
            icon=":material/dataset:",
            on_click="ignore",
        )
        if has_charts:
            controls.segments(IMAGE_FORMAT, has_label=True)


def _chart_csv(charts: dict[str, Chart | Row], key: str) -> bytes:
    return tables.chart_csv(charts[key])


def _download(
    name: str, make: Callable[[], bytes], kind: str, icon: str, file: str | None = None
) -> None:
    st.download_button(
        f"{symbols.escaped(name)} ({kind.upper()})",
        make,
        file_name=f"headlight-{file or name.lower().replace(' ', '-')}.{kind}",
        mime=f"text/{kind}",
        icon=icon,
        on_click="ignore",
    )
