"""Checkpoints of a test's own in the place of the shipped ones, and pages with the kit's files."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import streamlit as st
from playwright.sync_api import Browser, BrowserContext, Page

from model.sources import places
from tests.conftest import FAILED
from tests.viz.kit import gallery as galleries
from tests.viz.kit.gallery import Gallery
from viz.frame import opening
from viz.runs.kept import KEPT


@pytest.fixture(scope="session")
def kit_url() -> Iterator[str]:
    """Where the kit's files are."""
    with galleries.served() as url:
        yield url


@pytest.fixture(scope="session")
def kit_profile(browser: Browser) -> Iterator[BrowserContext]:
    """What the browser has loaded of the kit it keeps from file to file."""
    context = browser.new_context(viewport=galleries.SIZE)
    yield context
    context.close()


@pytest.fixture(scope="module")
def bare(
    kit_profile: BrowserContext, kit_url: str, request: pytest.FixtureRequest
) -> Iterator[Page]:
    """A page with nothing on it; the file's HARNESS, if it has one, has been run in it."""
    script = getattr(request.module, "HARNESS", "() => {}")
    with galleries.open_page(kit_profile, kit_url, script) as page:
        yield page


@pytest.fixture(scope="session")
def _gallery(kit_profile: BrowserContext, kit_url: str) -> Iterator[tuple[Gallery, list[str]]]:
    errors: list[str] = []
    page = kit_profile.new_page()
    page.on("pageerror", lambda error: errors.append(str(error)))
    yield Gallery(page, f"{kit_url}/"), errors
    page.close()


@pytest.fixture
def gallery(
    _gallery: tuple[Gallery, list[str]], request: pytest.FixtureRequest
) -> Iterator[Gallery]:
    """The page on which all tests of a process show parts and marks, as no test has been there."""
    shown, errors = _gallery
    shown.open()
    errors.clear()
    yield shown
    if request.node.stash.get(FAILED, False):
        shown.close()
    assert not errors, "errors of the page"


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page waits for a model that takes long to open: what is drawn is always the page itself."""
    monkeypatch.setattr(opening, "PATIENCE", 600)


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
