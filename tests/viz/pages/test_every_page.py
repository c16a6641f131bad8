"""Protects all pages: every kind of model, whatever a person types, however long."""

import gc
import weakref
from collections.abc import Iterator, Sequence
from concurrent.futures import wait
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.model.builders import SENTENCE, tiny_checkpoint
from tests.viz.apps import (
    VARIANTS,
    charts,
    checks_shown,
    lines,
    open_page,
    strip,
)
from tests.viz.builders import (
    ODD_SENTENCES,
    OWN_MODEL,
    PAGES,
    stories,
    stories_trace,
)
from tests.viz.pages import stored
from tests.viz.pages.handed import Address, assert_handed_on
from tests.viz.pages.handed.table import TABLE
from viz.frame.symbols import keys_in, meanings
from viz.labels import token_labels
from viz.runs import Run
from viz.runs.kept import KEPT

OF_SENTENCES = [page for page in PAGES if page not in OWN_MODEL]


@pytest.fixture(autouse=True, scope="module")
def _new_objects_alone() -> Iterator[None]:
    """What was there before is no garbage: looking for it took longer than the pages."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.mark.parametrize("of", stored.PLAIN, ids=stored.name_of)
def test_every_page_opens_with_another_model_than_the_first(of: Address) -> None:
    app = stored.opened(of)
    assert lines(app, "error") == []
    for table in checks_shown(app)[:1]:
        assert {row["verdict"] for row in table} == {"passed"}
    unknown = [(x.value, key) for x in app.latex for key in keys_in(x.value)]
    assert [x for x in unknown if not meanings(x[1], of[0])] == []
    assert_charts_are_named(of, app)
    assert_holds_no_run(app)


def assert_charts_are_named(of: Address, app: AppTest) -> None:
    """What the page hands to its charts is what is stored."""
    name = stored.name_of(of)
    assert stored.described(of, app) == stored.stored().get(name, f"== {name}")


@pytest.mark.parametrize("of", stored.VIEWS, ids=stored.name_of)
def test_every_view_hands_on_what_is_stored_and_what_is_worked_out(of: Address) -> None:
    app = stored.opened(of)
    assert lines(app, "error") == []
    assert_charts_are_named(of, app)
    if of in TABLE:
        assert_handed_on(app, TABLE[of]())
    assert_holds_no_run(app)


def assert_holds_no_run(app: AppTest) -> None:
    """What Streamlit keeps of a visitor, for minutes after he left: a long run has 44 MB."""
    made = [x for x, _ in KEPT._answers.values() if isinstance(x, Run)]
    wait([run.checking for run in made])
    left = [weakref.ref(run) for run in made]
    KEPT.clear()
    del made
    gc.collect()
    assert [ref for ref in left if ref() is not None] == []
    assert app.session_state  # the visitor's is there all the while


@pytest.mark.nightly
@pytest.mark.parametrize("variant", VARIANTS)
def test_pages_hold_for_every_kind_of_model(variant: str, shelf: Path) -> None:
    tiny_checkpoint(shelf / variant, **VARIANTS[variant])
    for page in OF_SENTENCES:
        app = open_page(page, sentence=SENTENCE)
        assert lines(app, "error") == []
        assert {row["verdict"] for row in checks_shown(app)[0]} == {"passed"}


# What is odd by being all there is; of the others every page shows what they have in one of two.
ALONE = ("only-emoji", "one-character", "end-of-sequence", "end-of-text", "long-word")
TOGETHER = [text for name, text in ODD_SENTENCES.items() if name not in ALONE]


@pytest.mark.parametrize("number", range(len(TOGETHER)))
def test_odd_sentence_is_text_by_itself(number: int) -> None:
    """Each on one of the pages, in turn."""
    assert_is_text(TOGETHER[number], [OF_SENTENCES[number % len(OF_SENTENCES)]])


def assert_is_text(text: str, pages: Sequence[str]) -> None:
    """The pages show the tokens of a sentence, whatever it is, and no part of it as markup."""
    trace = stories_trace(text)
    for page in pages:
        app = open_page(page, sentence=text)
        no_room = page == "Beam search" and len(trace.tokens) == stories().config.max_seq_len
        assert [line.split(";")[0] for line in lines(app, "error")] == (
            ["the prompt has 256 tokens"] if no_room else []
        )
        if page != "Home":  # it shows the tokens itself
            assert [label for label, _ in strip(app)] == token_labels(trace.tokens)
        assert {row["verdict"] for row in checks_shown(app)[0]} == {"passed"}
        specs = [sent["figure"] for sent in charts(app)]
        bodies = [element.proto.body for element in app.get("html")]
        assert not any("<script" in piece or "<b onclick" in piece for piece in [*specs, *bodies])
