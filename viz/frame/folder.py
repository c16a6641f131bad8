"""A model of a person's own: its folder or file is opened by its path, and remembered."""

import os

import streamlit as st

from model.sources import converted, places
from model.sources.handle import OpenModel
from viz.frame import notices, opening, words
from viz.frame.settings import MODEL
from viz.guard import access_from
from viz.inside_streamlit import unbroken
from viz.kit.parts.pickers import Picker
from viz.kit.wire import Option, Settings

OPEN = "/"  # in the list of models: no folder has that name
ASKED, TYPED = "folder-asked", "folder-typed"


def is_local() -> bool:
    """Whether only the person at this machine is here: folders are theirs alone."""
    return access_from(os.environ, st.get_option("server.address")).is_local


def with_way_in(models: Picker) -> Picker:
    """The list of models, and below them the way to a folder."""
    if not is_local():
        return models
    return models._replace(options=[*models.options, Option(OPEN, "Open a folder or file…")])


def take_over(changes: Settings) -> None:
    """Note that a folder is asked for; no model goes by that name."""
    if changes.get(MODEL.name) == OPEN:
        del changes[MODEL.name]
        st.session_state[ASKED] = True


def ask(device: str) -> None:
    """The dialog, from the choice in the list until a model is opening or the person closes it."""
    if st.session_state.get(ASKED) and is_local():
        _dialog(device)


def _close() -> None:
    st.session_state.pop(ASKED, None)


@st.dialog("Open a folder or file", on_dismiss=unbroken(_close))
def _dialog(device: str) -> None:
    st.text(
        "A folder that transformers saved a model in, with config.json, safetensors and its "
        "tokenizer; a file in GGUF, as llama.cpp, Ollama and LM Studio keep a model; or a "
        "checkpoint trained with Headlight. Nothing is sent anywhere. Of a file in GGUF a "
        f"converted copy is kept in {places.copies()} (float32, at most "
        f"{opening.size(converted.MOST)} in all), so that it opens faster next time."
    )
    with st.form("folder", border=False):
        place = st.text_input("Path of the folder or file", key=TYPED, placeholder="~/models/gpt2")
        is_wanted = st.form_submit_button("Open", type="primary")
    if is_wanted:
        try:
            _begin(place, device)
        except ValueError as error:
            words.notice(str(error), kind="error")
    _show_remembered()


def _begin(place: str, device: str) -> None:
    """Begin to open what lies at a path, and close the dialog; ValueError for what does not."""
    now = opening.start(places.given_folder(place), device, keeps_copy=True)
    said = st.empty()
    said.html(opening.line(now))
    now.wait(opening.PATIENCE)
    if now.is_over and (error := now.error):
        said.empty()
        opening.leave()
        raise ValueError(opening.said_of(error))
    _close()
    st.rerun()


def offer_copy(loaded: OpenModel) -> None:
    """Where a file in GGUF is open: a converted copy to keep, or the one that is kept."""
    if not is_local() or not converted.can_keep(loaded):
        return
    since = converted.kept_since(loaded.folder)
    if since is None:
        size = opening.size(converted.size_of_copy(loaded))
        label = f"Keep a converted copy ({size}) so that it opens faster next time"
        if st.button(label, key="keep-copy"):
            try:
                converted.keep(loaded)
            except ValueError as error:
                notices.add(str(error))
            notices.run_again()
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.text(f"Converted copy kept on {since}, in {places.home()}", width="stretch")
        remove = unbroken(converted.remove)
        st.button("Remove", key="remove-copy", on_click=remove, args=(loaded.folder,))


def _show_remembered() -> None:
    """The folders that were opened so; one that is forgotten is no longer in the list of models."""
    for folder in places.remembered():
        row = st.empty()
        with row.container(horizontal=True, vertical_alignment="center"):
            st.text(str(folder), width="stretch")
            is_unwanted = st.button("Forget", key=f"forget {folder}")
        if is_unwanted:
            try:
                places.forget(folder)
                row.empty()
            except ValueError as error:
                words.notice(str(error), kind="error")
