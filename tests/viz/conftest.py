"""Checkpoints of a test's own in the place of the shipped ones, and a page of the app's own."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import streamlit as st
from playwright.sync_api import Browser, Page

from model.sources import places
from tests.viz.harness import bare_page
from viz.runs.kept import KEPT


@pytest.fixture(scope="module")
def bare(browser: Browser, app_url: str, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A page with nothing on it; the file's HARNESS, if it has one, has been run in it."""
    with bare_page(browser, app_url, getattr(request.module, "HARNESS", "() => {}")) as page:
        yield page


@pytest.fixture
def forgetful() -> Iterator[None]:
    """The app remembers nothing of what was opened before, nor later of what is opened now."""
    _forget()
    yield
    _forget()


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, forgetful: None) -> Path:
    """An empty folder the app takes its checkpoints from; it remembers nothing of others."""
    folder = tmp_path / "checkpoints"
    folder.mkdir()
    monkeypatch.setattr(places, "SHIPPED", folder)
    return folder


def _forget() -> None:
    st.cache_resource.clear()
    st.cache_data.clear()
    KEPT.clear()
