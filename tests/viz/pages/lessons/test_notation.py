"""Protects Notation: no symbol without a row, no row without a formula, names that there are."""

import importlib
import math
import re
from functools import cache
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from model.sources import checkpoint
from tests.model.builders import GROUPED, tiny_model
from tests.viz.apps import TOM, chosen, lines, open_page
from tests.viz.builders import PAGES, stories_trace
from viz.formulas import FORMULAS
from viz.frame.symbols import keys_in, meanings, table
from viz.pages.lessons.notation import by_page, pages_of, used


def test_every_formula_of_the_file_is_there() -> None:
    there = [formula for found in by_page().values() for formula in found.values()]
    assert [key for key, formula in FORMULAS.items() if formula not in there] == []
    assert by_page().keys() <= set(PAGES)


@pytest.mark.parametrize(
    ("latex", "keys"),
    [
        (
            r"\mathrm{softmax}(\Xi_{\mathrm{new}}) T",
            [r"\mathrmsoftmax", r"\Xi", r"\mathrmnew", "T"],
        ),
        (r"d_{\mathrm{head}}\,x_{l+1} + x'_i", [r"d_\mathrmhead", "x", "l", "x'", "i"]),
        (r"W_O^{(h)} W_{OV} \hat{x} \tilde h", ["W_O", "h", "W_OV", r"\hatx", r"\tildeh"]),
        (r"n_{\mathrm{kv\,heads}} \cdot e^{-3.5} \text{ of } T", [r"n_\mathrmkvheads", "T"]),
    ],
)
def test_symbols_are_read_from_latex(latex: str, keys: list[str]) -> None:
    assert list(keys_in(latex)) == keys


def test_every_symbol_of_every_formula_has_a_row() -> None:
    """A symbol without one: write a row in assets/symbols.toml."""
    missing = [(key, x) for key, pages in used().items() for x in pages if not meanings(key, x)]
    assert missing == []
    assert not meanings(r"\Xi", "Attention")
    assert meanings("T", "Tokens") == meanings("T", "Next token")
    assert not meanings("R", "Attention")
    assert meanings("R", "Masks") != meanings("R", "Positional encoding")


def test_every_row_is_of_a_formula_and_of_pages_there_are() -> None:
    found = [(x.plain, page) for x in table() for page in x.pages]
    known = {(x.plain, page) for x in table() for page in used().get(x.key, ())}
    # Symbols of the column of shapes; then those of formulas that have numbers in them.
    expected = {("T_q", "Attention"), ("T_k", "Attention"), ("T_s", "Translation")}
    expected |= {(name, "Translation") for name in ("q", "k", "s", "alpha")}
    expected |= {(name, "Logit lens") for name in ("ell", "rank", "H")}
    expected |= {(name, "Embeddings and similarity") for name in "xy"}
    assert set(found) - known == expected
    assert all(pages_of(symbol) for symbol in table())
    letters = {size for x in table() for size in re.split("[ ·=]", x.shape)}
    assert letters == {"", "T", "Tq", "Tk", "Ts", *"DHGFVL", "Dh", "nmax", "S²"}
    assert len({(x.latex, x.means) for x in table()}) == len(table()) > 200


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


@pytest.mark.parametrize("code", sorted({x.code for x in table() if x.code}))
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
    rows = [x for x in table() if x.latex[0] == "W" and x.code and x.code[:6] != "model."]
    for row in rows:
        shape = [math.prod(sizes[x] for x in size.split("·")) for size in row.shape.split(" ")]
        as_stored = shape[::-1] if row.code.endswith(".T") else shape
        assert as_stored == list(stored[row.code.removesuffix(".T")].shape), row
    assert len(rows) == 8


# --- on the page --------------------------------------------------------------------------------


def _rows(app: AppTest) -> dict[str, list[str]]:
    """The cells of each row after the first two, by what its symbol means."""
    bodies = [x.value for x in app.markdown if x.value.startswith("| symbol")]
    lines = [line for body in bodies for line in body.splitlines()[2:]]
    rows = [re.sub(r"\\(\W)", r"\1", line)[2:-2].split(" | ") for line in lines]
    return {row[1]: row[2:] for row in rows}


@pytest.mark.parametrize("model", ["stories", "blank", "digits", "translate"])
def test_shapes_are_of_the_model_that_runs(model: str) -> None:
    texts = {"stories": TOM, "blank": "The dog [MASK] the ball.", "translate": "A dog runs."}
    given = {"sentence": texts[model]} if model in texts else {}
    app = open_page("Notation", model=model, notation="all", **given)
    assert lines(app, "error") == []
    shapes = {means: cells[0] for means, cells in _rows(app).items()}
    config, tokens = _loaded(model).config, shapes["tokens that ask: queries of a head"]
    assert shapes["queries of a head"] == f"T_q × d_head = {tokens} × {config.d_head}"
    assert shapes["width of the residual stream"] == str(config.d_model)
    patches = shapes["position vectors, a row for each place"]
    assert patches == ("T × d_model = 50 × 96" if model == "digits" else "T × d_model")
    memory = shapes["the encoder’s output, which the decoder attends to"]
    assert memory.startswith("T_s × d_model = ") == (model == "translate")


def test_a_size_an_array_and_a_weight_of_the_model_stand_first() -> None:
    app = open_page("Notation", sentence=TOM)
    rows, n = _rows(app), len(stories_trace(TOM).tokens)
    assert rows["width of a head: numbers in one query, key or value"] == ["32"]
    assert rows["queries of a head"] == [f"T_q × d_head = {n} × 32"]
    assert [row for means, row in rows.items() if means.startswith("what heads give")] == [
        ["H·d_head × d_model = 8·32 × 256"]
    ]
    assert rows["into the MLP’s neurons"] == ["d_model × d_ff = 256 × 1,024"]
    assert "embedding of a token" not in rows, "x has one row, that of the stream"
    assert rows["stream to queries"] == ["d_model × H·d_head = 256 × 8·32"]
    assert not {"the class token’s vector", "the matrix that every patch goes through"} & {*rows}
    assert not any("$$" in x.value for x in app.markdown), "formulas stand behind a choice"
    assert "the class token’s vector" in _rows(open_page("Notation", model="digits"))


def test_one_group_is_shown_and_words_are_found_in_all() -> None:
    app = open_page("Notation", sentence=TOM, notation="sizes", notation_formulas="Masks")
    assert len(_rows(app)) == len({x.means for x in table() if x.group == "Sizes"}) < 30
    assert any("[KV cache](?page=KV+cache)" in row[-1] for row in _rows(app).values())
    assert [x.value.split("\n")[0] for x in app.markdown if "$$" in x.value] == ["##### Masks"]
    found = list(_rows(chosen(app, notation="signs", notation_words="d_MODEL residual")))
    assert found[0] == "width of the residual stream"
    nothing = chosen(app, notation_words="<b>nothing</b>")
    assert lines(nothing, "note") == ["No symbol of any group has these words: clear the field."]
    assert lines(nothing, "error") == []


def test_formulas_have_their_symbols_beside_them() -> None:
    """With what a letter means on that page, and only where the formulas are open."""
    app = open_page("Masks", sentence=TOM, scene="reach", inspect="formula")
    n = len(stories_trace(TOM).tokens)
    assert _rows(app)["who knows itself: 1 on the diagonal"] == [f"T × T = {n} × {n}"]
    assert not any("symbol" in x.value for x in chosen(app, inspect="source").markdown)
