"""The app around `stage.py`, with the routes of the real one."""

import streamlit as st

from viz.live.routes import ROUTES

app = st.App("stage.py", routes=ROUTES)
