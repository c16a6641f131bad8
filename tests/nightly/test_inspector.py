"""Protects the panel below every page: one part of it at a time, and no failed check is hidden."""

import inspect

import pytest
from streamlit.testing.v1 import AppTest

from model import reference, reference_files
from model.verify.check import Check
from tests.viz.apps import (
    TOM,
    captions,
    go,
    inspected,
    lines,
    open_page,
    query_of,
    whole,
)
from tests.viz.builders import PAGES
from viz.frame.inspector import LABELS
from viz.frame.symbols import keys_in, meanings
from viz.pages.look_inside import lens

A_CHECK = "z = pattern·v, in float64"
CLOSED_AT_FIRST = {
    *("Home", "Attention", "Heads", "Next token", "Explanation", "Patching"),
    *("Attention by hand", "Masked language model", "Translation", "Vision"),
}
# What they open with has no formula below it.
WITHOUT_FORMULA = {
    *("Attention", "Circuit", "Embeddings and similarity", "Lab", "Multi-head attention"),
    *("Notation", "Recurrence"),
}

OF_NO_RUN = {"Lab"}  # nothing is checked of what they show


@pytest.fixture(autouse=True)
def _whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """What fills in is there at once: the panel comes with it."""
    whole(monkeypatch)


def parts(app: AppTest) -> list[str]:
    """What may be opened; nothing where there is no panel."""
    return [x.label.rpartition(" ")[2] for x in app.button if (x.key or "").startswith("inspect-")]


@pytest.mark.parametrize("page", sorted(PAGES))
def test_every_page_with_figures_has_the_panel(page: str) -> None:
    app = open_page(page, sentence=TOM)
    offered = parts(app)
    expected = [label.rpartition(" ")[2] for label in LABELS.values()]
    has_none = page in WITHOUT_FORMULA
    lacking = ["Formula"] * has_none + ["Check"] * (page in OF_NO_RUN)
    assert offered == [name for name in expected if name not in lacking]
    assert bool(app.latex) == (page not in CLOSED_AT_FIRST and not has_none)
    assert not app.code
    assert not app.get("download_button")


@pytest.mark.parametrize("page", sorted(PAGES))
def test_each_part_is_drawn_where_it_is_open(page: str) -> None:
    app = open_page(page, sentence=TOM, inspect="source")
    assert len(app.code) > 0
    assert not app.latex
    said = captions(inspected(app, "check"))
    assert any("The run: Verified: " in line for line in said) == (page not in OF_NO_RUN)
    of_run = () if page in OF_NO_RUN else (reference, reference_files)
    written = [inspect.getsource(module).rstrip() for module in of_run]
    assert [source.value.rstrip() for source in app.code] == written
    inspected(app, "export")
    labels = {x.proto.label for x in app.get("download_button")}
    assert "Whole trace (npz)" in labels
    assert any(label.endswith("(CSV)") for label in labels) == (page != "Circuit")
    inspected(app, "closed")
    assert not (app.latex or app.code)
    assert not app.get("download_button")


def test_what_was_chosen_stays_on_other_pages_and_in_the_address() -> None:
    app = open_page("Beam search", sentence=TOM, inspect="source")
    go(app, "Masks")
    assert len(app.code) > 0
    assert query_of(app)["inspect"] == ["source"]


def test_no_formula_stands_twice_on_a_page_and_its_symbols_are_known() -> None:
    for page in PAGES:
        app = open_page(page, sentence=TOM, inspect="formula")
        formulas = [formula.value for formula in app.latex]
        assert len(formulas) == len(set(formulas)), page
        keys = {key for latex in formulas for key in keys_in(latex)}
        assert [key for key in keys if not meanings(key, page)] == [], page


@pytest.mark.parametrize("inspect", ["closed", "check"])
def test_a_failed_check_is_said_on_the_page_too(
    inspect: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether the panel is open or not: of the page itself, and of a further run."""
    for page in ("Logit lens", "Masks"):
        assert lines(open_page(page, sentence=TOM, inspect=inspect), "error") == []
    monkeypatch.setattr(lens, "ALLOWED", -1.0)
    app = open_page("Logit lens", sentence=TOM, inspect=inspect)
    assert "Check FAILED: the last row's logits" in lines(app, "error")[0]
    monkeypatch.setattr(Check, "passed", property(lambda check: check.name != A_CHECK))
    app = open_page("Masks", sentence=TOM, inspect=inspect)
    (line,) = lines(app, "error")
    assert A_CHECK in line
