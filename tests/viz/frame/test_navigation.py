"""Protects navigation: pages that do not apply to a model are not offered, and say why."""

import re

import pytest
from streamlit.testing.v1 import AppTest

from model.sources.offers import EVERYTHING, REASONS, missing
from tests.viz.apps import TOM, charts, chosen, go, lines, open_page, query_of, strip
from tests.viz.builders import OWN_MODEL, PAGES, stories_trace
from viz import studio
from viz.figures.labels import token_labels
from viz.frame import words
from viz.frame.notices import FAULT
from viz.frame.view import View
from viz.pages.look_inside import lens

FOR_EVERY_MODEL = {"Home", "Tours", "Attention", "Recurrence", "Notation", *OWN_MODEL}


def rail(app: AppTest) -> dict[str, str]:
    """The pages of the rail, each with why it does not apply, or nothing."""
    (body,) = (x.proto.body for x in app.get("html") if '<nav class="hl-rail"' in x.proto.body)
    links = re.findall(r"<a ([^>]*data-page[^>]*)>", body)
    reason = re.compile(r'title="Not for this model: (.*?)"')
    return {
        re.search(r'data-page="(.*?)"', link)[1]: (reason.findall(link) or [""])[0]
        for link in links
    }


def offered(app: AppTest) -> set[str]:
    """The pages that apply."""
    return {title for title, why in rail(app).items() if not why}


@pytest.fixture
def only_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """A model of which only the attention on a text is known."""
    monkeypatch.setattr(View, "offers", frozenset({"text"}))


@pytest.mark.parametrize(
    ("needs", "offered", "reasons"),
    [
        ((), frozenset(), []),
        (("decoder", "text"), EVERYTHING, []),
        (("logits", "text"), frozenset({"text"}), ["it gives no next-token distribution"]),
        (("text", "decoder"), frozenset(), [REASONS["text"], REASONS["decoder"]]),
    ],
)
def test_reasons_are_of_what_is_missing(
    needs: tuple[str, ...], offered: frozenset[str], reasons: list[str]
) -> None:
    assert missing(needs, offered) == reasons


def test_pages_need_what_can_be_offered() -> None:
    for page in studio.PAGES:
        assert set(page.NEEDS) <= EVERYTHING
        assert missing(page.NEEDS, EVERYTHING) == []
    assert {page.TITLE for page in studio.PAGES} == set(PAGES)
    assert studio.PAGES[0].NEEDS == (), "the first page applies to every model"


def test_a_model_that_can_show_everything_has_every_page() -> None:
    app = open_page("Attention", sentence=TOM)
    assert offered(app) == set(rail(app)) == set(PAGES)
    assert lines(app, "note") == []


def test_pages_that_do_not_apply_say_why_in_the_rail(only_text: None) -> None:
    app = open_page("Attention", sentence=TOM)
    assert offered(app) == FOR_EVERY_MODEL
    for page in studio.PAGES:
        reasons = missing(page.NEEDS, frozenset({"text"}))
        assert rail(app)[page.TITLE] == " and ".join(reasons)
    assert lines(app, "note") == []
    assert strip(app) == [], "nothing is predicted of the tokens"
    body = next(x.proto.body for x in app.get("html") if "hl-strip" in x.proto.body)
    assert re.findall(r"<bdi.*?>(.*?)</bdi>", body) == token_labels(stories_trace(TOM).tokens)
    assert "probability" not in body


@pytest.mark.parametrize("title", ["Logit lens", "Cost", "The block"])
def test_a_link_to_a_page_that_does_not_apply_is_one_line(title: str, only_text: None) -> None:
    app = open_page(title, sentence=TOM)
    page = next(page for page in studio.PAGES if title == page.TITLE)
    said = [line for line in lines(app, "note") if line.startswith(f"{title} does not apply to")]
    reasons = missing(page.NEEDS, frozenset({"text"}))
    assert said == [f"{title} does not apply to stories: {reasons[0]}."]
    assert not app.title
    assert not charts(app)
    assert lines(app, "error") == []
    assert offered(app) == FOR_EVERY_MODEL
    go(app, "Attention")
    assert app.title[0].value.endswith("Attention")


def test_another_model_may_have_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """What applies is of the model, so the page opens once a model is chosen that has it."""

    def offers_of(view: View) -> frozenset[str]:
        return EVERYTHING if view.config.position == "rope" else frozenset({"text"})

    monkeypatch.setattr(View, "offers", property(offers_of))
    app = open_page("Logit lens", sentence=TOM)
    assert not app.title
    chosen(app, model="positions-rope")
    assert app.title[0].value.endswith("Logit lens")
    assert offered(app) == set(PAGES)


WRONG = RuntimeError("mat1 and mat2 shapes cannot be multiplied (3x5 and 7x2)\nat CPU")


def test_a_fault_of_a_page_is_one_line_and_stands_in_the_log(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(view: View) -> None:
        raise WRONG

    monkeypatch.setattr(lens, "render", broken)
    app = open_page("Logit lens", sentence=TOM)
    assert lines(app, "error") == [FAULT]
    assert [record.exc_info[1] for record in caplog.records if record.exc_info] == [WRONG]
    assert query_of(app) == {"page": ["Logit lens"], "sentence": [TOM]}, "the address is written"
    assert app.get("popover"), "the run stands, and so does its badge"


def fails(where: str, fault: Exception) -> None:
    """A script of which one place fails, with what the app gives Streamlit for that."""
    import streamlit as st
    from streamlit.runtime.scriptrunner import get_script_run_ctx

    import app as started

    def broken() -> None:
        raise fault

    get_script_run_ctx().on_script_error = started.app._on_script_error
    {"page": broken, "fragment": st.fragment(broken), "dialog": st.dialog("Open")(broken)}[where]()


@pytest.mark.parametrize("where", ["page", "fragment", "dialog"])
def test_streamlit_says_nothing_of_a_fault_in_its_own_way(where: str) -> None:
    app = AppTest.from_function(fails, kwargs={"where": where, "fault": WRONG}).run()
    assert lines(app, "error") == [FAULT]
    assert not app.exception


def test_what_is_of_another_page_or_model_is_said_to_be_on_its_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Old numbers stood under the new heading; a text that is typed leaves them as they are."""
    said = []
    monkeypatch.setattr(words, "working_out", lambda what: said.append(what) or "")
    app = open_page("Masks", sentence=TOM)
    app = chosen(app, sentence="a cat")
    assert said == []
    go(app, "Order")
    assert said == ["Working out Order of stories…"]
    chosen(app, model="positions-rope")
    assert said[1:] == ["Working out Order of positions-rope…"]
