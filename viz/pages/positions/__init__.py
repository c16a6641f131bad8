"""Positions: what each scheme does to a model that runs, one tab a scheme, and all side by side."""

from collections.abc import Callable, Sequence

import streamlit as st

from model.verify.check import Check
from viz import controls, say, ui
from viz.pages.positions import alibi, compare, learned, none, rope, sinusoidal
from viz.runs import positions

TITLE = "Positions"
ICON = ":material/waves:"

COMPARE = "compare"
TABS: dict[str, str] = {
    "sinusoidal": "Sinusoidal",
    "learned": "Learned",
    "rope": "RoPE",
    "alibi": "ALiBi",
    "none": "None",
    COMPARE: "Compare",
}
DRAW: dict[str, Callable[[ui.View], None]] = {
    "sinusoidal": sinusoidal.draw,
    "learned": learned.draw,
    "rope": rope.draw,
    "alibi": alibi.draw,
    "none": none.draw,
    COMPARE: compare.draw,
}


def render() -> None:
    """Draw the page."""
    view = ui.open_page(_promises)
    ui.heading(
        ICON,
        TITLE,
        "Attention alone cannot tell the order of tokens; a position scheme must. Five small "
        "models differ in nothing else: same data, same seed, same steps. Choose a scheme and its "
        "model runs on your sentence.",
    )
    tab = _scheme_picker(view)
    if tab != COMPARE and view.model not in positions.family().values():
        config = view.run.trace.config
        say.notice(
            f"This is {view.model}, {config.n_layers} layers × {config.n_heads} heads, which is "
            "none of them: choose a positions-… model above for one that compares with the others."
        )
    DRAW[tab](view)


def _promises(view: ui.View) -> Sequence[Check]:
    return positions.checks(view.model, view.device, view.sentence)


def _scheme_picker(view: ui.View) -> str:
    """The scheme of the model that runs, or the comparison; another scheme runs its model."""
    scheme, family = view.run.trace.config.position, positions.family()
    is_comparing = controls.kept_option("Compare", "compare", ("no", "yes"), "no") == "yes"
    controls.show_complaints()

    def open_tab() -> None:
        chosen = st.session_state["scheme"]
        st.session_state["compare"] = "yes" if chosen == COMPARE else "no"
        if chosen not in (COMPARE, scheme):
            ui.switch_model(family[chosen])

    st.session_state["scheme"] = COMPARE if is_comparing else scheme
    return st.segmented_control(
        "Scheme",
        [tab for tab in TABS if tab in family or tab in (COMPARE, scheme)],
        required=True,
        key="scheme",
        format_func=TABS.get,
        on_change=open_tab,
        label_visibility="collapsed",
    )
