"""The Headlight app: `streamlit run app.py` serves the pages and what the browser asks for."""

import gc
import importlib
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import streamlit as st

from viz.live.routes import ROUTES


def warm_up() -> None:
    """Import the pages and run the first example, so that the first visitor finds it done.

    Streamlit collects garbage after every run of the script. What is here now stays for good, so
    looking through it each time (a quarter of a second, with torch imported) is spared.
    """
    importlib.import_module("viz.frame.bar").run_first_example()
    gc.collect()
    gc.freeze()


@asynccontextmanager
async def warm_up_beside(app: st.App) -> AsyncIterator[None]:
    """Warm up in a thread: the server answers at once, and the browser loads meanwhile."""
    threading.Thread(target=warm_up, daemon=True).start()
    yield


app = st.App("viz/studio.py", lifespan=warm_up_beside, routes=ROUTES)
