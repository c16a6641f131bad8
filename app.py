"""The Headlight app: `streamlit run app.py` serves it on localhost."""

import importlib
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import streamlit as st


@asynccontextmanager
async def import_early(app: st.App) -> AsyncIterator[None]:
    """Import what the pages need while the first visitor's browser is still loading."""
    threading.Thread(target=importlib.import_module, args=["viz.ui"], daemon=True).start()
    yield


app = st.App("viz/studio.py", lifespan=import_early)
