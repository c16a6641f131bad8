"""The app with the made-up source beside the checkpoints: `streamlit run` starts it for tests."""

from pathlib import Path

import streamlit as st

from model.sources import table
from tests.model.made_up import MadeUp
from viz.live.routes import ROUTES

table.SOURCES["made-up"] = MadeUp()
STUDIO = Path(__file__).parents[2] / "viz" / "studio.py"

app = st.App(str(STUDIO), routes=ROUTES)
