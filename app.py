"""The Headlight app: `streamlit run app.py` serves it on localhost."""

import streamlit as st

app = st.App("viz/studio.py")
