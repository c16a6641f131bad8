"""Checkpoints of a test's own in the place of the shipped ones."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import streamlit as st

from model.sources import checkpoint


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder the app takes its checkpoints from; it remembers nothing of others."""
    folder = tmp_path / "checkpoints"
    folder.mkdir()
    monkeypatch.setattr(checkpoint, "SHIPPED", folder)
    _forget()
    yield folder
    _forget()


def _forget() -> None:
    st.cache_resource.clear()
    st.cache_data.clear()
