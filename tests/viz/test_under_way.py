"""Protects what is said of work under way: its innermost name, then what it was part of."""

import pytest
import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.testing.v1 import AppTest

from model.sources.table import Runnable
from model.survey.measured import Measures
from model.trace import Trace
from tests.viz.apps import TOM, lines, open_page
from viz.runs import heads
from viz.runs.under_way import heard_by, under_way


@under_way("counts")
def counted() -> None:
    """Work that says its name each time."""


def test_the_innermost_work_is_said_and_then_what_it_is_part_of() -> None:
    heard: list[str] = []
    counted()
    with heard_by(heard.append), under_way("reads"):
        with pytest.raises(ValueError, match="no"), under_way("runs") as say:
            say("runs, 3 of 12")
            counted()
            raise ValueError("no")
        heard.append("|")
    counted()
    assert heard == ["reads", "runs", "runs, 3 of 12", "counts", "runs, 3 of 12", "reads", "|", ""]


def kept_by_streamlit() -> None:
    """A script that draws what it hears while Streamlit keeps an answer."""
    import streamlit as st

    from viz.runs.under_way import heard_by, under_way

    @st.cache_data(show_spinner=False)
    @under_way("adds")
    def added(a: int) -> int:
        return a + 1

    place = st.empty()
    with heard_by(lambda what: place.html(f"<p>{what}</p>") if what else place.empty()):
        st.html(f"<p>{added(1)}</p>")


def test_what_is_heard_is_no_part_of_what_streamlit_keeps() -> None:
    st.cache_data.clear()
    app = AppTest.from_function(kept_by_streamlit)
    for _ in range(2):
        app.run()
        assert not app.exception
        assert [x.proto.body for x in app.get("html")] == ["<p>2</p>"]


def test_a_page_opened_by_its_address_says_what_it_works_on_until_it_is_drawn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Heads of a large model was white below its heading for seconds."""
    seen: list[str] = []
    line, on_input = DeltaGenerator.html, heads.on_input

    def drawn(place: DeltaGenerator, body: str) -> DeltaGenerator:
        seen.append(body)
        return line(place, body)

    def held(loaded: Runnable, trace: Trace) -> dict[str, Measures]:
        assert "Measuring every head on this input…" in seen[-1]
        assert 'class="hl-working hl-other" role="status"' in seen[-1]
        return on_input(loaded, trace)

    monkeypatch.setattr(DeltaGenerator, "html", drawn)
    monkeypatch.setattr(heads, "on_input", held)
    app = open_page("Heads", sentence=f"{TOM} Then", measured_on="sentence")
    assert any("Running the model on 14 tokens…" in body for body in seen)
    assert not [x for x in app.get("html") if "hl-working" in x.proto.body]
    assert lines(app, "error") == []
