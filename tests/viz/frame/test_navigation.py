"""Protects navigation: what the rail offers, and which model shows what another lacks."""

import html
import json
import re
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qsl

import pytest
from streamlit.testing.v1 import AppTest

from model.sources.offers import EVERYTHING, REASONS, missing
from tests.model.builders import tiny_checkpoint
from tests.viz.apps import TOM, chart, chosen, go, lines, open_page, picked, query_of, the_map
from tests.viz.builders import PAGES
from viz import studio
from viz.frame import map_strip, search, tours, words
from viz.frame.notices import FAULT
from viz.frame.settings import SETTINGS
from viz.frame.shipped import called
from viz.frame.view import View
from viz.pages.look_inside import lens
from viz.runs import FIRST_MODEL
from viz.theme import palette, weight_scale


def nav(app: AppTest) -> str:
    """The HTML of the rail."""
    (body,) = (x.proto.body for x in app.get("html") if '<nav class="hl-rail"' in x.proto.body)
    return body


@pytest.mark.parametrize("is_root", [True, False])
def test_one_switch_has_the_colours_of_weights_in_parts_and_figures(is_root: bool) -> None:
    app = open_page("Masks", **({} if is_root else {"small_weights": "no"}))
    told = [json.loads(x.proto.json) for x in app.get("bidi_component") if x.proto.json]
    themes = [theme for one in told for theme in one.get("themes", {}).values()]
    assert {theme["small_weights"] for theme in themes} == {is_root}
    colors = palette("light", small_weights=is_root)
    assert chart(app, "pattern").data[0]["colorscale"] == [list(x) for x in weight_scale(colors)]
    to = f'data-with="small_weights={"no" if is_root else "yes"}"'
    assert f'{to} role="switch" aria-checked="{str(is_root).lower()}"' in nav(app)


def links(body: str) -> list[tuple[str, str]]:
    """What each link of a navigation leads to, a page or a lesson, and what it is called."""
    return re.findall(
        r'<a [^>]*data-(?:page|lesson)="(.*?)"[^>]*>(?:<span.*?</span>)*([^<]*)', body
    )


def current(body: str) -> list[str]:
    """What the marked links lead to."""
    return re.findall(r'data-(?:page|lesson)="([^"]*)" aria-current="page"', body)


def test_pages_need_what_can_be_offered() -> None:
    for page in studio.PAGES:
        assert set(page.needs) <= EVERYTHING
        assert missing(page.needs, EVERYTHING) == []
    assert {page.title for page in studio.PAGES} == set(PAGES)
    assert studio.PAGES[0].needs == (), "the first page applies to every model"
    about = [title for titles in map_strip.ABOUT.values() for title in titles]
    assert {*about, *map_strip.ENDS} <= set(PAGES)
    assert len(set(about)) == len(about), "each page is about one part"


@pytest.mark.parametrize(
    ("page", "model", "lit", "layers", "end"),
    [
        ("Attention", "stories", "layer", "Attention", "next token"),
        ("Logit lens", "stories", "stream", "Logit lens", "next token"),
        ("Tokens", "positions-rope", "tokens", "Attention", "next token"),
        ("Diagram", "stories", "", "Attention", "next token"),
        ("Attention", "blank", "layer", "Attention", "hidden token"),
        ("Translation", "translate", "end", "Attention", "next token"),
        ("Vision", "digits", "end", "Attention", "class"),
    ],
)
def test_the_map_leads_to_what_the_model_has(
    page: str, model: str, lit: str, layers: str, end: str
) -> None:
    found = the_map(open_page(page, model=model, layer="L2", sentence=TOM))
    ways = found["ways"]
    assert (found["lit"], ways["layer"], ways["called"]) == (lit, layers, end)
    is_decoder = end == "next token" and model != "translate"
    assert ("positions" in ways, "tokens" in ways) == (is_decoder, model != "digits")
    assert ways.get("embed") == (None if model == "digits" else "Embeddings and similarity")
    assert (found["best"] is not None) == is_decoder
    assert bool(found["told"]) == (page == "Vision"), "what it is in place of the tokens"
    assert found["layer"].endswith(".2" if layers == page else "")


def test_few_destinations_are_in_sight_and_every_page_is_two_clicks_away() -> None:
    app = open_page("Home", sentence=TOM)
    rail = nav(app)
    in_sight = re.sub(r"(?s)</summary>.*?</details>", "</summary>", rail)
    assert len(links(in_sight)) + in_sight.count("<summary>") <= 14
    assert current(rail) == ["Home"]
    assert "<details open" not in rail
    below = [page for first, _ in links(rail) for page in entry_of(first)]
    begun = {query["page"] for query in lessons(rail)}
    assert {page for page, _ in links(rail)} | set(below) | begun >= set(PAGES)
    assert lines(app, "note") == []


def entry_of(title: str) -> list[str]:
    """The pages of an entry of the rail, by one of them."""
    return [page.title for track in studio.TRACKS for one in track.entries if one.has(title)
            for page in one.pages]  # fmt: skip


@pytest.mark.parametrize(
    ("page", "model", "entry", "below"),
    [
        ("Next token", "stories", "Next token", ["Next token", "Beam search"]),
        ("Beam search", "blank", "Next token", ["Next token", "Beam search"]),
        ("Vision", "digits", "Attention", ["Vision"]),
        ("Vision", "blank", "Attention", ["Masked language model", "Vision"]),
        ("Attention", "translate", "Attention", ["Translation"]),
        ("Attention", "stories", "Attention", []),
        ("KV cache", "stories", "KV cache", []),
    ],
)
def test_the_rail_says_where_one_is(page: str, model: str, entry: str, below: list[str]) -> None:
    rail = nav(open_page(page, model=model))
    assert current(rail) == [page]
    assert re.findall(r'data-page="([^"]*)" aria-current="true"', rail) == (
        [entry] if page in below else []
    )
    assert ('data-group="More" open' in rail) == (page == "KV cache")
    listed = re.findall(r'<div class="hl-below">(.*?)</div>', rail)
    assert [to for part in listed for to, _ in links(part)] == below


def lessons(rail: str) -> list[dict[str, str]]:
    """Where each lesson begins, by the settings of its address."""
    found = re.findall(r'<a href="([^"]*)" data-lesson=', rail)
    return [dict(parse_qsl(html.unescape(link).removeprefix("?"))) for link in found]


def test_a_lesson_is_marked_by_its_step_or_by_the_page_it_begins_on() -> None:
    rail = nav(open_page("Masks"))
    assert 'data-group="Learn" open' in rail
    (title,) = current(rail)
    (tour,) = (one["tour"] for one in lessons(rail) if one["page"] == "Masks")
    assert current(nav(open_page("Attention", tour=tour, step="1"))) == ["Attention"]
    by_hand = open_page("Attention by hand", scene="variance")
    assert current(nav(by_hand)) == ["Why √d?"], "of two that begin there the one with this scene"
    assert any(x.value == "Why are scores divided by √d?" for x in by_hand.markdown)
    assert current(nav(open_page("Attention by hand"))) == ["Attention by hand"]
    for step in ("1", "99"):
        rail = nav(open_page("Masks", tour=tour, step=step))
        assert current(rail) == [title]
        assert (f'data-lesson="{title}" aria-current="page" data-done' in rail) == (step == "99")
        assert rail.count("data-done") == (step == "99")


@pytest.mark.parametrize(
    ("page", "model", "lacks", "other", "form"),
    [
        ("Masks", "translate", "decoder", FIRST_MODEL, "sentence-box"),
        ("Transformer block", "blank", "decoder", FIRST_MODEL, "sentence-box"),
        ("Tokens", "digits", "vocabulary", FIRST_MODEL, "sentence-box"),
        ("Translation", "blank", "translates", "translate", "source-box"),
        ("Masked language model", "translate", "blanks", "blank", "sentence-box"),
        ("Vision", "positions-rope", "pictures", "digits", None),
    ],
)
def test_a_page_that_needs_another_model_takes_one_and_says_so(
    page: str, model: str, lacks: str, other: str, form: str | None
) -> None:
    app = open_page("Attention", model=model)
    go(app, page)
    why, kept = REASONS[lacks], (called(model), called(other))
    assert not any("does not apply" in line for line in lines(open_page(page), "note"))
    (said,) = (line for line in lines(app, "note") if line.startswith(f"{page} does not apply to"))
    assert said == f"{page} does not apply to {kept[0]}: {why}. Shown instead: {kept[1]}."
    assert lines(app, "error") == []
    assert app.title[0].value.endswith(page)
    assert not any("does not exist here" in line for line in lines(app, "note"))
    drawn = {item.key for item in app.get("bidi_component")}
    assert drawn & {"sentence-box", "source-box"} == ({form} if form else set())
    assert picked(app, "model") == other, "the list has what is shown"
    wanted = [] if model == FIRST_MODEL else [model]
    assert query_of(app).get("model", []) == wanted, "the choice stays, for pages that it has"
    assert lines(open_page(page, model=model, sentence=""), "error") == []
    go(app, "Attention")
    assert not [line for line in lines(app, "note") if "does not apply" in line]


def test_the_rail_marks_what_does_not_apply_to_the_model_that_was_chosen() -> None:
    def marked(app: AppTest) -> dict[str, str]:
        return dict(re.findall(r'data-page="([^"]*)"[^>]* data-off title="([^"]*)"', nav(app)))

    found = marked(open_page("Attention", model="blank"))
    assert found["Circuit"] == f"Does not apply to {called('blank')}: {REASONS['decoder']}"
    assert "Attention" not in found and "Masked language model" not in found
    assert marked(open_page("Attention")) == {}, "nobody chose the first model"


def test_a_model_whose_name_says_nothing_is_called_by_its_folder_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tiny_checkpoint(tmp_path / "fox" / "model")
    tiny_checkpoint(tmp_path / "fox" / "hound")
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path / "fox"))
    assert (called("model"), called("hound")) == ("fox/model", "hound")


WRONG = RuntimeError("mat1 and mat2 shapes cannot be multiplied (3x5 and 7x2)\nat CPU")


def test_a_fault_of_a_page_is_one_line_and_stands_in_the_log(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(view: View) -> None:
        raise WRONG

    monkeypatch.setattr(lens, "PAGE", replace(lens.PAGE, render=broken))
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
    monkeypatch.setattr(
        words, "working_out", lambda what, is_other: said.append((what, is_other)) or "…"
    )
    app = open_page("Masks", sentence=TOM)
    assert said[0] == (f"Working out Masks of {called(FIRST_MODEL)}…", True)
    said.clear()
    app = chosen(app, sentence="a cat sat")
    assert said[0] == ("Running the model on 3 tokens…", False)
    said.clear()
    go(app, "Kernels")
    assert said[0] == (f"Working out Kernels of {called(FIRST_MODEL)}…", True)
    said.clear()
    chosen(app, model="positions-rope")
    assert said[0] == ("Working out Kernels of Story writer, RoPE…", True)


def test_search_knows_every_page_every_step_and_terms_that_lead_somewhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tours.st, "session_state", {tours.PAGES: tuple((x, ()) for x in PAGES)})
    found = search.index(studio.PAGES)
    of_kind = {kind: [x for x in found if x["kind"] == kind] for kind in ("page", "term", "step")}
    assert [x["title"] for x in of_kind["page"]] == list(PAGES)
    assert len(of_kind["step"]) == sum(len(tour.steps) for tour in tours.of_learn()) > 40
    names = [x["title"] for x in of_kind["term"]]
    assert len(set(names)) == len(names) > 50
    for term in of_kind["term"]:
        assert term["page"] in PAGES, term["title"]
        for name, _ in parse_qsl(term["changes"]):
            assert SETTINGS[name].is_in_address_of(term["page"]), (term["title"], name)
    assert all(x["line"].endswith((".", "?")) for x in (*of_kind["page"], *of_kind["term"]))
