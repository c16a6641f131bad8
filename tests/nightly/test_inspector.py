"""Protects the panel below every page: one part of it at a time, and no failed check is hidden."""

import inspect

import pytest
from streamlit.testing.v1 import AppTest

from model import reference
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
from viz.pages.look_inside import lens

OWN_DOWNLOADS = {"Notation": 1}  # on the page itself, not in its panel
A_CHECK = "z = pattern·v, in float64"
CLOSED_AT_FIRST = {
    *("Home", "Attention", "Heads", "Next token", "Explanation", "Patching"),
    *("Attention by hand", "Masked language model", "Translation", "Vision"),
}


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
    assert offered == [name for name in expected if name != "Formula" or page != "Attention"]
    assert bool(app.latex) == (page not in CLOSED_AT_FIRST)
    assert not app.code
    assert len(app.get("download_button")) == OWN_DOWNLOADS.get(page, 0)


@pytest.mark.parametrize("page", sorted(PAGES))
def test_each_part_is_drawn_where_it_is_open(page: str) -> None:
    app = open_page(page, sentence=TOM, inspect="source")
    assert len(app.code) > 0
    assert not app.latex
    assert any("The run: Verified: " in line for line in captions(inspected(app, "check")))
    (source,) = app.code
    assert source.value.rstrip() == inspect.getsource(reference).rstrip()
    inspected(app, "export")
    labels = {x.proto.label for x in app.get("download_button")}
    assert "Whole trace (npz)" in labels
    assert any(label.endswith("(CSV)") for label in labels)
    inspected(app, "closed")
    assert not (app.latex or app.code)
    assert len(app.get("download_button")) == OWN_DOWNLOADS.get(page, 0)


def test_what_was_chosen_stays_on_other_pages_and_in_the_address() -> None:
    app = open_page("Beam search", sentence=TOM, inspect="source")
    go(app, "Masks")
    assert len(app.code) > 0
    assert query_of(app)["inspect"] == ["source"]


def test_no_formula_stands_twice_on_a_page() -> None:
    for page in PAGES:
        formulas = [formula.value for formula in open_page(page, sentence=TOM).latex]
        assert len(formulas) == len(set(formulas)), page


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
