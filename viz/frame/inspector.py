"""Beside every figure: its formula, the source that computed it, the checks, and downloads."""

import html
import importlib
import inspect
from collections.abc import Callable, Sequence
from types import FunctionType

import pandas as pd
import streamlit as st

from model.verify.check import Check
from viz import runs
from viz.formulas import FORMULAS
from viz.frame import controls, words
from viz.frame.settings import IMAGE_FORMAT
from viz.frame.view import View

Tables = dict[str, Callable[[], bytes]]  # CSV files by their names, made when they are asked for


def formula(name: str, latex: str | None = None) -> None:
    """The formula of a function, or the same with numbers filled in, and its reference."""
    st.latex(latex or FORMULAS[name].latex)
    if latex is None:
        words.centred(html.escape(FORMULAS[name].reference))


@st.fragment
def source(*names: str) -> None:
    """The code that computed what is shown, as it ran; fetched when a person opens it.

    Drawn from the start, the highlighter would hold up the first heat map by half a second.
    """
    label = "Source: " + ", ".join(name.rsplit(".", 1)[-1] for name in names)
    box = st.expander(label, key=f"source-{names[0]}", on_change="rerun")
    if box.open:
        with box:
            for name in names:
                st.caption(name)
                st.code(inspect.getsource(_resolve(name)), language="python")


def _resolve(dotted: str) -> FunctionType | type:
    module, name = dotted.rsplit(".", 1)
    return getattr(importlib.import_module(module), name)


def checked(what: str, checks: Sequence[Check], key: str) -> None:
    """How many checks a further run passed, and the list of them. `what` is ours."""
    with st.popover(verdict(checks, f"{what}: "), key=f"checks-{key}"):
        checks_table(checks)


def verdict(checks: Sequence[Check], before: str) -> str:
    """How many checks passed, and the largest error, after a few words of ours."""
    n_failed, worst = runs.verdict(checks)
    n = len(checks)
    if n_failed:
        return f":material/error: {before}{n_failed} of {n} checks failed"
    return f":material/verified: {before}Verified: {n} of {n} (max error {worst.error:.0e})"


def checks_table(checks: Sequence[Check]) -> None:
    """The self-check as a table: what, max error, bound, verdict."""
    table = pd.DataFrame(
        {
            "check": [item.name for item in checks],
            "max error": [f"{item.error:.1e}" for item in checks],
            "allowed": [f"{item.bound:.0e}" if item.bound else "0" for item in checks],
            "verdict": ["passed" if item.passed else "FAILED" for item in checks],
        }
    )
    st.dataframe(table, hide_index=True, height="content")


def export(view: View, key: str, tables: Tables, *, has_charts: bool = True) -> None:
    """Downloads: each table of the page as CSV, the whole trace as npz, and the image format.

    `has_charts` says whether the page has charts whose camera saves in that format.
    """
    with st.container(horizontal=True, vertical_alignment="bottom", key=f"export-{key}"):
        for name, make in tables.items():
            st.download_button(
                f"{name} (CSV)",
                make,
                file_name=f"headlight-{name.lower().replace(' ', '-')}.csv",
                mime="text/csv",
                icon=":material/table:",
                on_click="ignore",
            )
        st.download_button(
            "Whole trace (npz)",
            lambda: runs.trace_npz(view.run),
            file_name=f"headlight-{view.handle.name}.npz",
            icon=":material/dataset:",
            on_click="ignore",
        )
        if has_charts:
            controls.segments(IMAGE_FORMAT, has_label=True)
