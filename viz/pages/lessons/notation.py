"""Notation: every symbol of the app's formulas, and all of these formulas; both can be printed."""

from collections.abc import Mapping, Sequence
from functools import cache
from types import ModuleType
from urllib.parse import quote_plus

import streamlit as st

from viz import formulas_cheaper as cheaper
from viz import formulas_cost as cost
from viz import formulas_experiments as experiments
from viz import formulas_lessons as lessons
from viz import formulas_patching as patching
from viz import formulas_recurrence as recurrence
from viz import formulas_scaling as scaling
from viz.formulas import FORMULAS, Formula, attention, block
from viz.frame import controls, inspector, layout, notices, symbols, tables, words
from viz.frame.page import Page
from viz.frame.settings import CHEAPER_WAYS, NOTATION_GROUP, NOTATION_WORDS, SMOOTHING
from viz.frame.symbols import Symbol
from viz.frame.view import View
from viz.pages.look_inside.heads.measures import MEASURES

MOST_LINKS = 4  # of the pages that show a symbol

# --- which formulas there are -------------------------------------------------------------------

# The page of the formulas in FORMULAS, by the module of the function they are keyed by.
_PAGE_OF = {
    "model.analysis.merges": "Tokens",
    "model.analysis.probabilities": "Tokens",
    "model.attention": "Attention",
    "model.analysis.lens": "Logit lens",
    "model.decoding.filters": "Next token",
    "model.decoding.beam": "Beam search",
    "model.decoding.kv_cache": "KV cache",
    "model.positions": "Positional encoding",
    "model.analysis.positions": "Positional encoding",
    "model.masks": "Masks",
    "model.analysis.masking": "Masks",
    "model.analysis.blanks": "Masked language model",
    "model.blocks": "Translation",
    "model.analysis.alignment": "Translation",
    "model.embeddings": "Vision",
}


def _constants(module: ModuleType) -> dict[str, Formula]:
    """The formulas that stand in a module, by their names there."""
    found = {name: value for name, value in vars(module).items() if isinstance(value, Formula)}
    return {name.replace("_", " ").capitalize(): value for name, value in found.items()}


# Those that functions write, and those of modules for one page or two.
_OTHERS: dict[str, Mapping[str, Formula]] = {
    "Attention": {
        stage.capitalize(): attention((stage,), scale=1.0, has_mask=True)
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
    "Patching": {"Patched": patching.PATCHED, "Attribution patching": patching.ESTIMATED},
    "Explanation": {
        "Edge removed": patching.REMOVED,
        "Value-weighted norm": patching.NORM,
        "Gradient × attention": patching.GRADIENT,
        "Rollout": patching.ROLLOUT,
        "Integrated gradients": patching.INTEGRATED,
    },
    "Cost": _constants(cost),
    "Embeddings and similarity": {
        "Dot product and cosine": lessons.DOT_PRODUCT,
        "Lengths and direction": lessons.product_of_lengths(),
    },
    "Kernels": {
        **{f"{SMOOTHING.words(x)} kernel": lessons.regression(x) for x in lessons.HEIGHTS},
        "Distances as dot products": lessons.distance_as_product(),
        "Additive attention": lessons.ADDITIVE,
    },
    "Why √d?": {"Variance of a dot product": lessons.VARIANCE},
    "Multi-head attention": {
        "Heads side by side, and as a sum": lessons.SEVERAL_HEADS,
        "Effective rank": lessons.effective_rank(),
    },
    "Transformer block": {
        **{f"{name.capitalize()}-norm": formula for name, formula in lessons.PLACED.items()},
        "LayerNorm": lessons.LAYER_NORM,
        "RMSNorm": lessons.RMS_NORM,
        **{f"Neurons, {kind}": lessons.neurons(kind) for kind in lessons.ACTIVATIONS},
    },
    "Why the residual?": {
        "Gradient with the sum and without": lessons.through_residual(),
        "Gradient of the loss": lessons.gradient_of_loss(),
    },
    "Translation": {
        "Loss of a text": FORMULAS["model.analysis.probabilities.next_token_losses"],
        "Size of the cache": FORMULAS["model.decoding.kv_cache.cache_bytes"],
    },
    "Order": {"Rows in another order": FORMULAS["model.positions.Position"]},
    "Cheaper attention": {
        **{name: cheaper.way(way, "w", "g", "r") for way, name in CHEAPER_WAYS.items()},
        **_constants(cheaper),
    },
    "Recurrence": _constants(recurrence),
    "Scaling": _constants(scaling),
    "Diagram": {
        "A block, pre-norm": block("pre", has_cross=False),
        "A block with cross-attention, post-norm": block("post", has_cross=True),
    },
}


@cache
def by_page() -> Mapping[str, Mapping[str, Formula]]:
    """Every formula of the app in letters by what it is of, or its function, by page."""
    found: dict[str, dict[str, Formula]] = {}
    for name, formula in FORMULAS.items():
        found.setdefault(_PAGE_OF[name.rpartition(".")[0]], {})[name] = formula
    for page, formulas in _OTHERS.items():
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
    with layout.slim_row("notation"):
        group = controls.select(NOTATION_GROUP, width=210)
        wanted = controls.text(NOTATION_WORDS, placeholder="a symbol, a word, a name in code")
    notices.show()
    group = "" if wanted or group == "all" else NOTATION_GROUP.words(group)
    found = [x for x in symbols.table() if group in ("", x.group) and _has(wanted, _texts(x))]
    if found:
        columns = {
            "shape or size": _shapes(view, found),
            "in code": [x.code and f"`{x.code}`" for x in found],
            "on screen": [_links(pages_of(x)) for x in found],
        }
        symbols.draw(columns, found)
    else:
        words.notice("No symbol of any group has these words: clear the field.")
    words.caption(
        f"{len(found)} of {len(symbols.table())} rows; below them the formulas, by page. Words are "
        "looked for in all groups and formulas. The browser prints what stands here: the group "
        "“all” has every row."
    )
    with st.container(key="formulas"):
        for page, formulas in by_page().items():
            _formulas(
                page, [(x, y) for x, y in formulas.items() if _has(wanted, (page, x, y.reference))]
            )
    inspector.source("model.config.BlockConfig", "model.trace.AttentionRecord")
    inspector.export(view, {"Notation": lambda: _csv(view)}, has_charts=False)


def _has(wanted: str, texts: Sequence[str]) -> bool:
    whole = " ".join(texts).casefold()
    return all(word in whole for word in wanted.casefold().split())


def _texts(symbol: Symbol) -> Sequence[str]:
    return (symbol.plain, symbol.latex, symbol.means, symbol.code, symbol.shape, *pages_of(symbol))


def _shapes(view: View, found: Sequence[Symbol]) -> list[str]:
    known, runs = symbols.sizes(view), view.run.trace.facts.architecture
    only = [{_ONLY.get(page, runs) for page in pages_of(x)} for x in found]
    shapes = zip(found, only, strict=True)
    return [symbols.shape_of(x, known if runs in where else {}) for x, where in shapes]


def _links(pages: Sequence[str]) -> str:
    links = ", ".join(f"[{x}](?page={quote_plus(x)})" for x in pages[:MOST_LINKS])
    n_more = len(pages) - MOST_LINKS
    return f"{links} and {n_more} more" if n_more > 0 else links


def _formulas(page: str, found: Sequence[tuple[str, Formula]]) -> None:
    """Formulas of a page, each below what it is of and its source."""
    lines = [f"##### {page}"]
    for of, formula in found:
        title = of.rpartition(".")[2].replace("_", " ")
        title = f"{title[0].upper()}{title[1:]}"
        name, source = map(symbols.escaped, (title, formula.reference))
        lines += [f"**{name}** {source}", f"$$\n{formula.latex}\n$$"]
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
    "Every symbol of the formulas here: what it means, its shape, its name in code, and where "
    "it is on screen; then all formulas.",
    "Numbers in shapes are those of the model that runs, on the sentence above. What has no "
    "shape is a single number, an index or a function. A letter with several meanings has a "
    "row for each, with the pages that use it so. Heads, layers and places count from 0. A "
    "vector is a row, x W, as in Vaswani et al. 2017; torch’s Linear stores W transposed: "
    ".T undoes that. Recurrent and additive networks have W x, as in their papers.",
    render,
)
