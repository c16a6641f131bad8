"""Protects the dialog that opens a folder by its path: a model opens, or one line says why not."""

import errno
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Never

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from model.sources import converted, places
from tests.model.adopted.families import saved
from tests.model.adopted.gguf_files import written
from tests.viz.apps import control, lines, open_page
from viz.frame import folder as opening
from viz.frame.settings import MODEL


@pytest.fixture(autouse=True)
def _own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(places.HOME, str(tmp_path / "home"))


def _asked(page: str = "Tokens") -> AppTest:
    """The page with the dialog open, as after a choice in the list of models."""
    app = open_page(page)
    app.session_state[opening.ASKED] = True
    return app.run()


def _given(app: AppTest, place: str) -> AppTest:
    app.text_input(key=opening.TYPED).set_value(place)
    (button,) = (button for button in app.button if button.label == "Open")
    return button.click().run()


def _packed(file: Path) -> None:
    written(file, "llama", kind="Q8_0")


@pytest.mark.parametrize(("make", "name"), [(saved, "my-gpt2"), (_packed, "my.gguf")])
def test_a_folder_or_file_opens_by_its_path(
    make: Callable[[Path], object], name: str, tmp_path: Path
) -> None:
    make(tmp_path / name)
    app = _given(_asked(), str(tmp_path / name))
    assert lines(app, "error") == [] and app.session_state[MODEL.name] == name
    assert places.remembered() == [tmp_path / name]
    assert not any(button.label == "Open" for button in app.button)  # the dialog is closed
    assert control(app, "model") == name


def _end_of_openings() -> None:
    for thread in threading.enumerate():
        if thread.name == "opening":
            thread.join()


def test_a_converted_copy_is_kept_until_a_person_removes_it(
    tmp_path: Path, forgetful: None
) -> None:
    _packed(file := tmp_path / "my.gguf")
    app = _given(_asked(), str(file))
    _end_of_openings()
    assert converted.kept(file) is not None
    assert any("a converted copy of under 1 MB is written" in x for x in lines(app, "note"))
    assert any("Converted copy kept on" in text.value for text in app.run().text)
    app.button(key="remove-copy").click().run()
    assert converted.kept(file) is None
    st.cache_resource.clear()
    open_page("Tokens", model="my.gguf")
    _end_of_openings()
    assert converted.kept(file) is None
    assert "(under 1 MB)" in app.button(key="keep-copy").label
    app.button(key="keep-copy").click().run()
    assert converted.kept(file) is not None
    file.unlink()
    converted.remove(file)  # whose copy was to be removed after it


def test_what_does_not_open_is_one_line_and_is_not_kept(tmp_path: Path) -> None:
    broken = saved(tmp_path / "broken")
    (broken / "model.safetensors").unlink()
    _packed(cut := tmp_path / "cut.gguf")
    cut.write_bytes(cut.read_bytes()[:-100])
    app = _asked()
    for place, line in {
        str(broken): "model.safetensors is missing; copy the whole folder",
        str(cut): "it may be cut, copy it again",
        str(tmp_path): "has no config.json; give the folder of one model, as 'broken' in it",
        "<b>x</b>": "'<b>x</b>' is not a folder or file here",
        "x" * 5000: f"{'x' * 199}…' is not a folder or file here",
        "some/gpt2": "file here; a model of the hub is fetched by: headlight open some/gpt2",
    }.items():
        (said,) = lines(_given(app, place), "error")
        assert line in said
    assert places.remembered() == []
    assert app.session_state[MODEL.name] == "stories"


def test_a_folder_is_forgotten(tmp_path: Path) -> None:
    places.remember(saved(tmp_path / "my-gpt2"))
    app = _asked()
    (button,) = (button for button in app.button if button.label == "Forget")
    button.click().run()
    assert places.remembered() == []


def test_where_nothing_can_be_kept_one_line_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    places.remember(saved(tmp_path / "my-gpt2"))
    app = _asked()
    monkeypatch.setattr("os.replace", _refused)
    line = f"cannot write {tmp_path}/home/folders.json: Read-only file system; choose another place"
    (button,) = (button for button in app.button if button.label == "Forget")
    opened = _given(_asked(), str(saved(tmp_path / "other")))
    for (said,) in (lines(button.click().run(), "error"), lines(opened, "note")):
        assert said == f"{line} (HEADLIGHT_HOME says where)"


def _refused(*_: object) -> Never:
    raise OSError(errno.EROFS, "Read-only file system")


def test_only_the_person_at_this_machine_opens_folders(monkeypatch: pytest.MonkeyPatch) -> None:
    models = opening.Picker(MODEL.name, "Model", [], "")
    assert [option.text for option in opening.with_way_in(models).options] == [
        "Open a folder or file…"
    ]
    monkeypatch.setenv("HEADLIGHT_HOSTS", "lab.school.example")
    assert opening.with_way_in(models) == models


def test_elsewhere_a_folder_is_not_asked_for_whatever_a_browser_sends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HEADLIGHT_HOSTS", "lab.school.example")
    assert not any(button.label == "Open" for button in _asked().button)
