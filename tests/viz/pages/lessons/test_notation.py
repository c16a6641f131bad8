"""Protects Notation: no symbol without a row, no row without a formula, names that there are."""

import html
import importlib
import inspect
import math
import re
from collections.abc import Callable, Iterable
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType
from typing import Any
from xml.etree import ElementTree as Xml

import pytest
from streamlit.testing.v1 import AppTest

from model.analysis.scaling import REFITTED
from model.sources import checkpoint
from model.worked_out import STAGES
from tests.model.builders import GROUPED, tiny_model
from tests.viz.apps import TOM, chosen, lines, open_page
from tests.viz.builders import PAGES, stories_trace
from viz import formulas
from viz.formulas import FORMULAS, Formula
from viz.formulas_scaling import PARAMETRIC
from viz.pages.lessons.notation import mathml
from viz.pages.lessons.notation.catalogue import CATALOGUE
from viz.pages.lessons.notation.sheet import sheet
from viz.pages.lessons.notation.symbols import (
    IN_SHAPES,
    every_latex,
    table,
)

MODULES = [
    importlib.import_module(f"viz.{path.stem}")
    for path in sorted(Path(formulas.__file__).parent.glob("formulas*.py"))
]
PARTS_OF_LATEX = {"operand", "power", "result", "minus", "scientific"}  # numbers inside of formulas
# A call of each function that writes a formula, and the page it is for.
N, SIZE = 0.5, 4
CALLS: dict[str, tuple[str, tuple[Any, ...], dict[str, Any]]] = {
    "with_causal": ("Masks", ("model.masks.padding_left",), {}),
    "block": ("Diagram", ("post",), {"has_cross": True}),
    "with_base": ("Positional encoding", ("model.positions.rotate_pairs", 500.0), {}),
    "attention": ("Attention", (STAGES,), {"scale": 1, "has_mask": True}),
    "learned_position": ("Positional encoding", (), {"scale_embeddings": True}),
    "alibi": ("Positional encoding", (6,), {}),
    "lens": ("Logit lens", (), {"has_final_norm": False}),
    "wave_with_numbers": ("Positional encoding", (SIZE, 2, SIZE, N, N), {}),
    "rotation_with_numbers": ("Positional encoding", (1, 2, N), {}),
    "distance_with_numbers": ("Positional encoding", ((1, 2), 3, N, N), {}),
    "bias_with_numbers": ("Positional encoding", (N, SIZE, N, 2), {}),
    "share_with_numbers": ("Masks", (3, 2), {}),
    "loss_with_numbers": ("Tokens", (N, 2), {}),
    "pseudo_perplexity_with_numbers": ("Masked language model", (N, 2), {}),
    "score_with_numbers": ("Beam search", (N, 2, N, N), {}),
    "weight_with_numbers": ("Translation", (N, SIZE, N, N), {}),
    "lens_with_numbers": ("Logit lens", (N, N, SIZE, N, 1), {}),
    "cache_with_numbers": ("KV cache", (1, 2, 3, 4, 5, 6), {}),
    "merge_with_numbers": ("Tokens", ((1, 2), 3, 1, 2), {}),
    "way": ("Cheaper attention", ("linear", 1, 2, 3), {}),
    "tiles": ("Cheaper attention", (N, N), {}),
    "memory": ("Cheaper attention", (2, 3), {}),
    "looked": ("Recurrence", (2, 3, N, N, (N, N)), {}),
    "steps": ("Recurrence", (2, 4, 3, 4), {}),
    "parametric": ("Scaling", (REFITTED, 1e9, 2e10, N, PARAMETRIC.reference), {}),
    "kaplan": ("Scaling", (1e9, 2e10, N), {}),
    "huber": ("Scaling", (N,), {}),
    "attribution": (
        "Contributions",
        (),
        {"norm": "layer", "norm_placement": "pre", "has_two": True},
    ),
    "attribution_with_numbers": ("Contributions", (("L0 attn",), (N,), N), {}),
    "ablation": ("Ablation", ("mean",), {}),
    "cost_with_numbers": ("Ablation", (N, N), {}),
    "variance": ("Why √d?", (SIZE, N), {}),
    "regression": ("Kernels", ("boxcar",), {}),
    "distance_as_product": ("Kernels", (), {}),
    "dot_product": ("Embeddings and similarity", (((N, N), (N, N)), N, (N, N), N), {}),
    "product_of_lengths": ("Embeddings and similarity", (), {}),
    "several_heads": ("Multi-head attention", (2, 3, 6), {}),
    "effective_rank": ("Multi-head attention", (), {}),
    "lessons.block": ("Transformer block", ("post", (N, N, N)), {}),
    "norm": ("Transformer block", ("layer", N, N, N), {"has_offset": True}),
    "neurons": ("Transformer block", ("gelu_tanh",), {}),
    "through_residual": ("Why the residual?", (), {}),
    "gradient_of_loss": ("Why the residual?", (), {}),
    "additive": ("Kernels", (SIZE,), {}),
    "patched_with_numbers": ("Patching", (N, N + 1, N), {}),
    "removed_with_numbers": ("Explanation", (N, N), {}),
    "complete_with_numbers": ("Explanation", (N, N, N), {}),
}


def _name(module: ModuleType, function: str) -> str:
    """Of two functions of one name the later is known with its module."""
    is_second = module is not formulas and hasattr(formulas, function)
    return f"{module.__name__.partition('_')[2]}.{function}" if is_second else function


def _functions() -> dict[str, Callable[..., str | Formula]]:
    return {
        _name(module, name): function
        for module in MODULES
        for name, function in inspect.getmembers(module, inspect.isfunction)
        if function.__module__ == module.__name__ and name[0] != "_" and name not in PARTS_OF_LATEX
    }


def _constants() -> list[Formula]:
    """Formulas that stand in these files as they are, in tables too."""
    found = list(FORMULAS.values())
    for module in MODULES:
        for value in vars(module).values():
            kept = value.values() if isinstance(value, dict) else [value]
            found += [x for x in kept if isinstance(x, Formula)]
    return found


@cache
def _written() -> list[tuple[str, str]]:
    """Page and LaTeX of every formula of the app, with numbers and in letters."""
    made = [(CALLS[name], function) for name, function in _functions().items() if name in CALLS]
    called = [(page, function(*given, **more)) for (page, given, more), function in made]
    return [
        *((page, x.latex if isinstance(x, Formula) else x) for page, x in called),
        *((entry.page, entry.formula.latex) for entry in CATALOGUE),
    ]


@cache
def _symbols() -> list[tuple[str, list[str]]]:
    """Page and symbols of every formula, as KaTeX draws it now."""
    drawn = mathml.drawn([latex for _, latex in _written()], mathml.shipped_katex())
    return [(page, list(mathml.symbols(Xml.fromstring(drawn[x])))) for page, x in _written()]


def test_every_function_that_writes_a_formula_is_called_here() -> None:
    """For a new one: a call above, its letters in the catalogue, its symbols in the rows."""
    assert sorted(set(_functions()) ^ set(CALLS)) == []


def test_every_formula_is_on_the_sheet() -> None:
    there = [entry.formula for entry in CATALOGUE]
    assert [x for x in _constants() if x not in there] == []
    sources = {formula.reference.partition(";")[0] for formula in there}
    for name, (_, given, more) in CALLS.items():
        made = _functions()[name](*given, **more)
        if isinstance(made, Formula):
            assert made.reference.partition(";")[0] in sources, name


def not_explained(names: Iterable[str], page: str) -> list[str]:
    """Symbols of a formula on a page for which the table has no row."""
    known = {x.name for x in table() if not x.row.pages or page in x.row.pages}
    return [name for name in names if name not in known]


def test_every_symbol_of_every_formula_has_a_row() -> None:
    """A symbol without one: write a row in `viz.pages.lessons.notation.rows`."""
    missing = {(page, name) for page, found in _symbols() for name in not_explained(found, page)}
    assert sorted(missing) == []


def test_every_row_is_of_a_formula_and_of_pages_there_are() -> None:
    of_pages = {(page, name) for page, found in _symbols() for name in found}
    names = {name for _, name in of_pages}
    for symbol in table():
        assert symbol.pages, symbol
        if symbol.name not in IN_SHAPES:
            assert symbol.name in names, symbol
        for page in symbol.row.pages:
            assert page in PAGES
            assert (page, symbol.name) in of_pages, symbol
    letters = {size for x in table() for size in re.split("[ ·=]", x.row.shape)}
    assert {"Tq", "Tk", "Ts"} <= letters
    assert letters <= {"", "T", "Tq", "Tk", "Ts", "D", "H", "G", "Dh", "F", "V", "L", "nmax", "S²"}
    assert len({(x.row.latex, x.row.meaning) for x in table()}) == len(table()) > 200


def test_the_stored_formulas_are_what_katex_draws() -> None:
    """If not: `python -m viz.pages.lessons.notation.renew`."""
    assert mathml.drawn(every_latex(), mathml.shipped_katex()) == mathml.stored()


@cache
def _loaded(name: str) -> Any:  # noqa: ANN401  a checkpoint of any architecture
    return checkpoint.load(name)


@cache
def _addresses() -> set[str]:
    """Addresses of traces and names of weights of four architectures."""
    found = set(_loaded("stories").model.state_dict())
    found |= set(_loaded("digits").model.state_dict())
    found |= {address for address, _ in stories_trace(TOM).arrays()}
    found |= {address for address, _ in _loaded("translate").trace("a dog runs").trace.arrays()}
    found |= {address for address, _ in _loaded("positions-alibi").trace(TOM).trace.arrays()}
    return found


@pytest.mark.parametrize("code", sorted({x.row.code for x in table() if x.row.code}))
def test_names_in_code_are_there(code: str) -> None:
    if code.startswith("config."):
        field = code.removeprefix("config.")
        assert any(hasattr(_loaded(name).config, field) for name in ("stories", "digits"))
    elif code.startswith("model."):
        module, _, name = code.rpartition(".")
        assert hasattr(importlib.import_module(module), name)
    else:
        assert code.removesuffix(".T") in _addresses()


def test_a_matrix_has_the_shape_of_its_row() -> None:
    """Rows, x W: what torch's Linear stores the other way round is named with .T."""
    stored = tiny_model(**GROUPED).state_dict()
    sizes = {"D": 36, "F": 13, "V": 17, "H": 6, "G": 2, "Dh": 6}
    rows = [x.row for x in table() if x.row.latex[0] == "W" and x.row.code[:6] != "model."]
    for row in rows:
        shape = [math.prod(sizes[x] for x in size.split("·")) for size in row.shape.split(" ")]
        as_stored = shape[::-1] if row.code.endswith(".T") else shape
        assert as_stored == list(stored[row.code.removesuffix(".T")].shape), row
    assert len(rows) == 8


# --- the page -----------------------------------------------------------------------------------


def _body(app: AppTest) -> str:
    (body,) = [x.proto.body for x in app.get("html") if "hl-meanings" in x.proto.body]
    return body


def _shapes(app: AppTest) -> dict[str, str]:
    """What stands in the column of shapes, by what a row means."""
    rows = re.findall("<tr><td>.*?</td><td>(.*?)</td><td>(.*?)</td>", _body(app))
    return {html.unescape(means): re.sub("<[^>]*>", "", shape) for means, shape in rows}


@pytest.mark.parametrize(
    ("model", "text", "queries"),
    [
        ("stories", TOM, "(Tq, Dh) = ({tokens}, 32)"),
        ("blank", "The dog [MASK] the ball.", "(Tq, Dh) = ({tokens}, 32)"),
        ("digits", "", "(Tq, Dh) = (50, 16)"),
        ("translate", "A dog runs.", "(Tq, Dh) = ({tokens}, 32)"),
    ],
)
def test_shapes_are_of_the_model_that_runs(model: str, text: str, queries: str) -> None:
    app = open_page("Notation", model=model, notation="all", **({"sentence": text} if text else {}))
    assert lines(app, "error") == []
    shapes = _shapes(app)
    tokens = shapes["tokens that ask: queries of a head"]
    assert shapes["queries of a head"] == queries.format(tokens=tokens)
    config = _loaded(model).config
    assert shapes["width of the residual stream"] == str(config.d_model)
    patches = shapes["position vectors, a row for each place"]
    assert patches == ("(T, D) = (50, 96)" if model == "digits" else "(T, D)")
    memory = shapes["the encoder’s output, which the decoder attends to"]
    assert memory.startswith("(Ts, D) = (") == (model == "translate")


def test_one_group_is_shown_and_words_are_found_in_all() -> None:
    app = open_page("Notation", sentence=TOM)
    assert len(_shapes(app)) == len({x.row.meaning for x in table() if x.group == "Sizes"}) < 30
    found = list(_shapes(chosen(app, notation="signs", notation_words="d_MODEL residual")))
    assert found[0] == "width of the residual stream"
    nothing = chosen(app, notation_words="<b>nothing</b>")
    assert lines(nothing, "note") == ["No symbol of any group has these words: clear the field."]
    assert lines(nothing, "error") == []
    everything = open_page("Notation", sentence=TOM, notation="all")
    assert len(_shapes(everything)) == len({x.row.meaning for x in table()})


def test_each_row_links_to_its_pages() -> None:
    links = re.findall(
        '<a href="(.*?)" data-page="(.*?)">', _body(open_page("Notation", notation="all"))
    )
    assert {html.unescape(page) for _, page in links} <= set(PAGES)
    assert dict(links)["?page=Why+%E2%88%9Ad%3F"] == "Why √d?"


# --- the sheet ----------------------------------------------------------------------------------


class _Sheet(HTMLParser):
    """The elements of the sheet, and all of its words."""

    def __init__(self) -> None:
        super().__init__()
        self.elements: list[str] = []
        self.attributes: set[str] = set()
        self.words = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.words += data


def test_the_sheet_has_every_formula_with_its_source_and_asks_for_nothing() -> None:
    written = sheet("9.9.9")
    found = _Sheet()
    found.feed(written)
    assert {"script", "link", "img", "iframe", "base", "object"}.isdisjoint(found.elements)
    assert {"src", "href", "srcset", "style"}.isdisjoint(found.attributes)
    assert not re.search(r"url\(|@import|@font-face|https?:", written)
    assert found.elements.count("article") == len(CATALOGUE)
    assert found.elements.count("math") >= len(CATALOGUE)
    assert "code" not in found.elements, "a formula that is not drawn"
    assert "9.9.9" in found.words
    for entry in CATALOGUE:
        assert entry.title in found.words
        assert entry.formula.reference in found.words
    pages = re.findall("<h2>(.*?)</h2>", written)
    assert list(map(html.unescape, pages)) == list(dict.fromkeys(x.page for x in CATALOGUE))


def test_no_formula_of_the_sheet_lost_a_sign() -> None:
    """What KaTeX wrote and what the sheet has are the same characters, spaces aside."""
    for entry in CATALOGUE:
        parts = "".join(mathml.lines(entry.formula.latex))
        shown = re.sub(r"\s", "", "".join(Xml.fromstring(f"<x>{parts}</x>").itertext()))
        whole = "".join(Xml.fromstring(mathml.stored()[entry.formula.latex]).itertext())
        assert shown == re.sub(r"\s", "", whole)
        assert shown
