"""Notation: every symbol of the app's formulas, and a sheet of all formulas to print."""

from collections.abc import Sequence

import streamlit as st

from viz import VERSION
from viz.frame import controls, inspector, layout, notices, tables, words
from viz.frame.page import Page
from viz.frame.settings import NOTATION_GROUP, NOTATION_WORDS
from viz.frame.view import View
from viz.pages.lessons.notation import mathml, shapes
from viz.pages.lessons.notation.catalogue import CATALOGUE
from viz.pages.lessons.notation.sheet import sheet
from viz.pages.lessons.notation.symbols import Symbol, found_by, table


def render(view: View) -> None:
    """Draw the page."""
    with layout.slim_row("notation"):
        group = controls.select(NOTATION_GROUP, width=210)
        wanted = controls.text(NOTATION_WORDS, placeholder="a symbol, a word, a name in code")
        _download()
    notices.show()
    found = found_by("" if wanted or group == "all" else NOTATION_GROUP.words(group), wanted)
    if found:
        _table(view, found)
    else:
        words.notice("No symbol of any group has these words: clear the field.")
    inspector.attention(view.record)
    inspector.source("model.config.BlockConfig", "model.trace.AttentionRecord")
    csv_files = {"Notation": lambda: _csv(view)}
    inspector.export(view, csv_files, has_charts=False)


def _download() -> None:
    st.download_button(
        f"All {len(CATALOGUE)} formulas to print (HTML)",
        lambda: sheet(VERSION).encode(),
        file_name="headlight-formulas.html",
        mime="text/html",
        icon=":material/print:",
        on_click="ignore",
        key="formulas-sheet",
    )


def _table(view: View, found: Sequence[Symbol]) -> None:
    known, architecture = shapes.letters(view), view.run.trace.facts.architecture
    words.meanings(
        [
            words.Meaning(
                mathml.inline(symbol.row.latex),
                symbol.row.meaning,
                shapes.said(symbol, known, architecture),
                symbol.row.code,
                symbol.pages,
            )
            for symbol in found
        ]
    )
    words.caption(
        f"{len(found)} of {len(table())} rows. Words are looked for in all groups; the group “all” "
        "has every row on one page, to print."
    )


def _csv(view: View) -> bytes:
    known, architecture = shapes.letters(view), view.run.trace.facts.architecture
    rows = [
        {
            "group": symbol.group,
            "symbol": symbol.name,
            "LaTeX": symbol.row.latex,
            "means": symbol.row.meaning,
            "shape": shapes.said(symbol, known, architecture),
            "in code": symbol.row.code,
            "on screen": ", ".join(symbol.pages),
        }
        for symbol in table()
    ]
    return tables.csv(rows)


PAGE = Page(
    "Notation",
    ":material/menu_book:",
    "Every symbol of the formulas here: what it means, its shape, its name in code, and where "
    "it is on screen.",
    "Numbers in shapes are those of the model that runs, on the sentence above. What has no "
    "shape is a single number, an index or a function. A letter with several meanings has a "
    "row for each, with the pages that use it so. Heads, layers and places count from 0. A "
    "vector is a row, x W, as in Vaswani et al. 2017; torch’s Linear stores W transposed: "
    ".T undoes that. Recurrent and additive networks have W x, as in their papers.",
    render,
)
