"""Protects the strip of a model that takes long to open: what it says, and how it is stopped."""

import html
import re
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from model import progress
from model.sources import places
from model.sources.handle import ModelHandle, OpenModel
from tests.model.adopted.families import saved
from tests.viz.apps import box_of, control, lines, open_page
from viz import runs
from viz.frame import folder, opening, presenting
from viz.frame.settings import MODEL


class Held:
    """Models of transformers are opened as far as the second of three pieces, until told."""

    def __init__(self) -> None:
        self.has_come, self.may_go_on = threading.Event(), threading.Event()
        self.n_through = 0
        self._open = runs.table.open_model

    def __call__(self, handle: ModelHandle) -> OpenModel:
        if handle.source != "transformers":
            return self._open(handle)
        for n in progress.each(progress.WEIGHTS, "Dequantising", range(3), lambda n: 1, "tensors"):
            if n == 1:
                self.has_come.set()
                self.may_go_on.wait()
        self.n_through += 1
        return self._open(handle)

    def let_go(self) -> None:
        """Have it go on, to its end."""
        self.may_go_on.set()
        for thread in threading.enumerate():
            if thread.name == "opening":
                thread.join()


@pytest.fixture
def held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, forgetful: None) -> Iterator[Held]:
    monkeypatch.setenv(places.HOME, str(tmp_path / "home"))
    monkeypatch.setattr(opening, "PATIENCE", 0)
    held = Held()
    monkeypatch.setattr(runs.table, "open_model", held)
    yield held
    held.let_go()


def strips(app: AppTest) -> list[str]:
    """What strips say."""
    bodies = [e.proto.body for e in app.get("html") if "hl-opening" in e.proto.body]
    return [html.unescape(re.sub("(<[^>]*>)+", "|", body)) for body in bodies]


def _by_the_dialog(place: Path, app: AppTest | None = None) -> AppTest:
    app = app or open_page("Tokens")
    app.session_state[folder.ASKED] = True
    app.run().text_input(key=folder.TYPED).set_value(str(place))
    (button,) = (button for button in app.button if button.label == "Open")
    return button.click().run()


def _half_open(place: Path, held: Held) -> AppTest:
    app = _by_the_dialog(place)
    held.has_come.wait()
    return app.run()


def test_the_page_goes_on_with_its_model_while_another_opens(tmp_path: Path, held: Held) -> None:
    app = _half_open(saved(tmp_path / "<b>my"), held)
    (said,) = strips(app)
    assert "<b>my" in said and "under 1 MB" in said
    assert "2 of 4: |Dequantising|1 of 3 tensors|" in said  # no time before three are timed
    assert control(app, "model") == "stories" and box_of(app)
    assert not any(button.label == "Open" for button in app.button)  # the dialog is gone
    held.let_go()
    assert control(app.run(), "model") == "<b>my" and strips(app) == []
    assert app.session_state[MODEL.name] == "<b>my" and places.remembered() == [tmp_path / "<b>my"]


def test_what_is_open_while_the_page_is_drawn_is_chosen(
    tmp_path: Path, held: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    show = presenting.show  # before the strip

    def let_go_and_show() -> None:
        if opening.coming():
            held.let_go()
        show()

    monkeypatch.setattr(presenting, "show", let_go_and_show)
    assert control(_by_the_dialog(saved(tmp_path / "mine")), "model") == "mine"


def test_what_is_stopped_half_way_is_not_in_the_list(tmp_path: Path, held: Held) -> None:
    app = _half_open(saved(tmp_path / "mine"), held)
    app.button(key="opening-stop").click().run()
    assert strips(app) == [] and control(app, "model") == "stories"
    assert lines(app, "note") == ["mine was not opened."]
    held.let_go()
    assert held.n_through == 0
    assert "mine" not in runs.model_names() and places.remembered() == []
    assert control(app.run(), "model") == "stories" and lines(app, "error") == []


def test_of_two_that_are_opened_the_first_makes_room_and_it_is_said(
    tmp_path: Path, held: Held
) -> None:
    app = _half_open(saved(tmp_path / "mine"), held)
    app = _by_the_dialog(saved(tmp_path / "other"), app)
    assert lines(app, "note") == ["mine was not opened, but other in its place."]
    held.let_go()
    assert control(app.run(), "model") == "other" and places.remembered() == [tmp_path / "other"]


def test_a_model_of_the_address_says_how_far_it_is_in_the_place_of_the_page(
    tmp_path: Path, held: Held
) -> None:
    places.remember(saved(tmp_path / "mine"))
    app = open_page("Tokens", model="mine")
    held.has_come.wait()
    (said,) = strips(app.run())
    assert "Dequantising" in said and app.title == []
    other = open_page("Tokens", model="mine")  # who waits for the same one, and stops
    other.button(key="opening-stop").click().run()
    assert control(other, "model") == "stories" and lines(other, "note") == ["mine was not opened."]
    held.let_go()
    assert control(app.run(), "model") == "mine" and strips(app) == []


def test_what_the_address_has_and_does_not_open_is_a_line_beside_other_models(
    tmp_path: Path, held: Held
) -> None:
    places.remember(saved(tmp_path / "mine"))
    (tmp_path / "mine" / "model.safetensors").unlink()
    app = open_page("Tokens", model="mine")
    held.let_go()
    (said,) = lines(app.run(), "error")
    assert "model.safetensors is missing" in said and control(app, "model") == "mine"
