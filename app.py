"""The Headlight app: `streamlit run app.py` serves the pages and what the browser asks for."""

import asyncio
import importlib
import os
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import streamlit as st
from starlette.middleware import Middleware

from model.memory import look_at_new_objects_alone
from viz import inside_streamlit
from viz.guard import Access, Guard, access_from, most_visitors
from viz.live.routes import ROUTES


def access() -> Access:
    """Who may speak to the app, by the environment; a wrong entry ends the start with one line.

    So does a Streamlit that is built otherwise.
    """
    try:
        inside_streamlit.refuse_unknown()
        most_visitors(os.environ)
        if st.get_option("server.baseUrlPath"):
            raise ValueError(
                "Headlight is served at the root of a host; unset server.baseUrlPath "
                "(STREAMLIT_SERVER_BASE_URL_PATH) and let the proxy cut its path off"
            )
        return access_from(os.environ, st.get_option("server.address"))
    except ValueError as error:
        sys.exit(f"error: {error}")


def warm_up() -> None:
    """Import the pages and run the first example, so that the first visitor finds it done.

    Where models of transformers are on offer, the library is imported, too: that takes seconds.
    """
    importlib.import_module("viz.frame.bar").run_first_example()
    importlib.import_module("model.sources.transformers").get_ready()
    look_at_new_objects_alone()


def say_fault(error: Exception) -> bool:
    """What the guards of a page leave, as in a dialog or a callback; Streamlit has logged it."""
    return importlib.import_module("viz.frame.notices").say_fault(error)


def spare_threads() -> None:
    """Compute each answer on one thread of the CPU, unless OMP_NUM_THREADS says otherwise.

    The models are small. Threads that wait for each other cost them more than is gained as soon as
    a browser or another visitor wants a core too: a beam search of 14 steps takes 0.07 s on one
    thread, and up to 7 s on two of them beside one busy process. Read when torch is imported.
    """
    os.environ.setdefault("OMP_NUM_THREADS", "1")


def stay_offline() -> None:
    """Have transformers ask no other machine for anything. Read when it is imported."""
    os.environ["HF_HUB_OFFLINE"] = "1"


@asynccontextmanager
async def starting(app: st.App) -> AsyncIterator[None]:
    """Warm up in a thread: the server answers at once, and the browser loads meanwhile."""
    inside_streamlit.send_at_once(asyncio.get_running_loop())
    inside_streamlit.send_no_more_than_fits()
    inside_streamlit.hear_every_message()
    inside_streamlit.write_in_turn()
    threading.Thread(target=warm_up, daemon=True).start()
    yield


spare_threads()
stay_offline()
app = st.App(
    "viz/studio.py",
    lifespan=starting,
    routes=ROUTES,
    middleware=[Middleware(Guard, access=access())],
    on_script_error=say_fault,
)
