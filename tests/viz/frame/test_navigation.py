"""Protects navigation: pages that do not apply to a model are not offered, and say why."""

import re

import pytest
from streamlit.testing.v1 import AppTest

from tests.viz.apps import TOM, lines, open_page, strip
from tests.viz.builders import PAGES, stories_trace
from viz import studio
from viz.figures.labels import token_labels
from viz.frame.offers import EVERYTHING, REASONS, missing
from viz.frame.view import View


def offered(app: AppTest) -> list[str]:
    """The pages that can be chosen."""
    return list(app.segmented_control(key="page").options)


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
    assert set(offered(app)) == set(PAGES)
    assert lines(app, "note") == []


def test_pages_that_do_not_apply_are_not_offered_and_one_line_says_why(only_text: None) -> None:
    app = open_page("Attention", sentence=TOM)
    assert offered(app) == ["Attention"]
    (line,) = lines(app, "note")
    for title in set(PAGES) - {"Attention"}:
        assert title in line
    assert f"Predict ({REASONS['logits']})" in line, "the first reason is enough here"
    assert line.count(REASONS["decoder"]) == 1, "pages with one reason stand together"
    assert strip(app) == [], "nothing is predicted of the tokens"
    body = next(x.proto.body for x in app.get("html") if "hl-strip" in x.proto.body)
    assert re.findall(r"<bdi>(.*?)</bdi>", body) == token_labels(stories_trace(TOM).tokens)
    assert "probability" not in body


@pytest.mark.parametrize("title", sorted(set(PAGES) - {"Attention"}))
def test_a_link_to_a_page_that_does_not_apply_is_one_line(title: str, only_text: None) -> None:
    app = open_page(title, sentence=TOM)
    page = next(page for page in studio.PAGES if title == page.TITLE)
    said = [line for line in lines(app, "note") if line.startswith(f"{title} does not apply to")]
    reasons = missing(page.NEEDS, frozenset({"text"}))
    assert said == [f"{title} does not apply to stories: {' and '.join(reasons)}."]
    assert not app.title
    assert not app.get("plotly_chart")
    assert lines(app, "error") == []
    assert offered(app) == ["Attention", title]
    app.segmented_control(key="page").set_value("Attention").run()
    assert app.title[0].value.endswith("Attention")
    assert offered(app) == ["Attention"]


def test_another_model_may_have_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """What applies is of the model, so the page opens once a model is chosen that has it."""

    def offers_of(view: View) -> frozenset[str]:
        return EVERYTHING if view.config.position == "rope" else frozenset({"text"})

    monkeypatch.setattr(View, "offers", property(offers_of))
    app = open_page("Lens", sentence=TOM)
    assert not app.title
    app.selectbox(key="model").set_value("positions-rope").run()
    assert app.title[0].value.endswith("Lens")
    assert set(offered(app)) == set(PAGES)
