"""Notation: every symbol of the app's formulas, and all of these formulas; both can be printed."""

from collections.abc import Mapping, Sequence
from functools import cache
from urllib.parse import quote_plus

import streamlit as st

from model.analysis.measures import MEASURES
from viz.formulas import FORMULAS, Formula, breakable, cheaper, experiments, lessons, parts
from viz.frame import controls, inspector, layout, notices, symbols, tables, words
from viz.frame.page import Page
from viz.frame.settings import (
    CHEAPER_WAYS,
    NOTATION_FORMULAS,
    NOTATION_GROUP,
    NOTATION_WORDS,
    SMOOTHING,
)
from viz.frame.symbols import Symbol
from viz.frame.view import View

MOST_LINKS = 4  # of the pages that show a symbol

# --- which formulas there are -------------------------------------------------------------------

# Those that functions write, by page and by what they are of.
_WRITTEN: Mapping[str, Mapping[str, Formula]] = {
    "Attention": {
        stage.capitalize(): parts.attention((stage,), scale=1.0, has_mask=True)
        for stage in ("biased", "capped", "sunk")
    },
    "Heads": {one.name: Formula(one.latex, one.reference) for one in MEASURES.values()},
    "Contributions": {
        "Share in a logit": experiments.attribution(
            norm="layer", norm_placement="pre", has_two=False
        ),
        "Share in a difference of logits": experiments.attribution(
            norm="rms", norm_placement="post", has_two=True
        ),
    },
    "Ablation": {
        f"Off, {way}": experiments.ablation(way) for way in ("zero", "mean", "survey", "other")
    },
    "Kernels": {
        f"{SMOOTHING.words(kind)} kernel": lessons.regression(kind) for kind in lessons.HEIGHTS
    },
    "Transformer block": {
        f"Neurons, {kind}": lessons.neurons(kind) for kind in lessons.ACTIVATIONS
    },
    "Cheaper attention": {
        name: cheaper.way(way, "w", "g", "r") for way, name in CHEAPER_WAYS.items()
    },
    "Diagram": {
        "A block, pre-norm": parts.block("pre", has_cross=False),
        "A block with cross-attention, post-norm": parts.block("post", has_cross=True),
    },
}


@cache
def by_page() -> Mapping[str, Mapping[str, Formula]]:
    """Every formula of the app in letters by what it is of, or its function, by page."""
    found: dict[str, dict[str, Formula]] = {}
    for key, formula in FORMULAS.items():
        for page in formula.pages:
            found.setdefault(page, {})[formula.name or key] = formula
    for page, formulas in _WRITTEN.items():
        found.setdefault(page, {}).update(formulas)
    return found


@cache
def used() -> Mapping[str, Sequence[str]]:
    """The pages whose formulas have a symbol, by its key."""
    found: dict[str, dict[str, None]] = {}
    for page, formulas in by_page().items():
        for formula in formulas.values():
            for key in symbols.keys_in(formula.latex):
                found.setdefault(key, {})[page] = None
    return {key: tuple(pages) for key, pages in found.items()}


def pages_of(symbol: Symbol) -> Sequence[str]:
    """The pages that show a symbol as this row has it."""
    pages = used().get(symbol.key, ())
    return symbol.pages or [x for x in pages if symbol in symbols.meanings(symbol.key, x)]


# --- the page -----------------------------------------------------------------------------------

# Symbols that these pages alone show have the sizes of one architecture.
_ONLY = {"Vision": "vision", "Translation": "encoder_decoder"}


def render(view: View) -> None:
    """Draw the page."""
    options = ["none", *by_page(), "all"]
    with layout.slim_row("notation"):
        wanted = controls.text(NOTATION_WORDS, placeholder="a symbol, a word, a name in code")
        group = controls.select(NOTATION_GROUP, width=180)
        page = controls.select(NOTATION_FORMULAS.given(options=options), width=220)
    notices.show()
    found = _found(view, group, wanted)
    columns = {"shape or size": _shapes(view, found)}
    is_brief = group == "model" and not wanted
    if not is_brief:
        columns["in code"] = [x.code and f"`{x.code}`" for x in found]
        columns["on screen"] = [_links(pages_of(x)) for x in found]
    if found:
        symbols.draw(columns, found, is_brief=is_brief)
    else:
        words.notice("No symbol of any group has these words: clear the field.")
    words.caption(
        f"{len(found)} of {len(symbols.table())} rows. Words are looked for in all groups and "
        "formulas. The browser prints what stands here: “all” has every row, and every formula."
    )
    with st.container(key="formulas"):
        for title, formulas in by_page().items():
            if wanted or page in (title, "all"):
                texts = {name: (title, name, x.reference) for name, x in formulas.items()}
                _formulas(title, {x: formulas[x] for x in formulas if _has(wanted, texts[x])})
    inspector.source("model.config.BlockConfig", "model.trace.AttentionRecord")
    inspector.export(view, {"Notation": lambda: _csv(view)}, has_charts=False)


def _found(view: View, group: str, wanted: str) -> list[Symbol]:
    """The rows that have what is looked for; without words those of the group."""
    if wanted:
        return [x for x in symbols.table() if _has(wanted, _texts(x))]
    if group == "model":
        return _of_the_model(view)
    name = NOTATION_GROUP.words(group)
    return [x for x in symbols.table() if group == "all" or x.group == name]


def _of_the_model(view: View) -> list[Symbol]:
    """One row for each size, array and weight whose numbers are those of the model that runs."""
    found: dict[str, Symbol] = {}
    for symbol, shape in zip(symbols.table(), _shapes(view, symbols.table()), strict=True):
        is_size = symbol.shape.startswith("=")
        has_numbers = bool(shape) if is_size else "=" in shape
        is_known = symbol.key in [x.key for x in found.values()]
        if has_numbers and not is_known and (is_size or not symbol.code.startswith("model.")):
            found.setdefault(symbol.shape if is_size else symbol.code, symbol)
    return list(found.values())


def _has(wanted: str, texts: Sequence[str]) -> bool:
    whole = " ".join(texts).casefold()
    return all(word in whole for word in wanted.casefold().split())


def _texts(symbol: Symbol) -> Sequence[str]:
    return (symbol.plain, symbol.latex, symbol.means, symbol.code, symbol.shape, *pages_of(symbol))


def _shapes(view: View, found: Sequence[Symbol]) -> list[str]:
    known, runs = symbols.sizes(view), view.run.trace.facts.architecture
    # What every block has, has its sizes in all of them, wherever it is shown.
    pages = [() if x.code.startswith("blocks.") else pages_of(x) for x in found]
    only = [{_ONLY.get(page, runs) for page in of} or {runs} for of in pages]
    shapes = zip(found, only, strict=True)
    return [symbols.shape_of(x, known if runs in where else {}) for x, where in shapes]


def _links(pages: Sequence[str]) -> str:
    links = ", ".join(f"[{x}](?page={quote_plus(x)})" for x in pages[:MOST_LINKS])
    n_more = len(pages) - MOST_LINKS
    return f"{links} and {n_more} more" if n_more > 0 else links


def _formulas(page: str, found: Mapping[str, Formula]) -> None:
    """Formulas of a page, each below what it is of and its source."""
    lines = [f"##### {page}"]
    for of, formula in found.items():
        title = of.rpartition(".")[2].replace("_", " ")
        title = f"{title[0].upper()}{title[1:]}"
        name, source = map(symbols.escaped, (title, formula.reference))
        lines += [f"**{name}** {source}", f"$$\n{breakable(formula.latex)}\n$$"]
    if found:
        st.markdown("\n\n".join(lines))


def _csv(view: View) -> bytes:
    all_rows = symbols.table()
    names = {"group": "group", "symbol": "plain", "LaTeX": "latex", "means": "means"}
    columns = {title: [getattr(x, name) for x in all_rows] for title, name in names.items()}
    columns |= {"shape": _shapes(view, all_rows), "in code": [x.code for x in all_rows]}
    return tables.csv(columns | {"on screen": [", ".join(pages_of(x)) for x in all_rows]})


PAGE = Page(
    "Notation",
    ":material/menu_book:",
    "What a symbol means, and its shape in the model that runs.",
    "Numbers in shapes are those of the model that runs, on the sentence above. What has no "
    "shape is a single number, an index or a function. A letter with several meanings has a "
    "row for each, with the pages that use it so. Heads, layers and places count from 0. A "
    "vector is a row, x W, as in Vaswani et al. 2017; torch’s Linear stores W transposed: "
    ".T undoes that. Recurrent and additive networks have W x, as in their papers.",
    render,
)
