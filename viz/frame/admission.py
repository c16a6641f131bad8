"""How many visitors one process takes: one too many is told so, and slows nobody down."""

import os
from weakref import WeakSet

import streamlit as st

from viz import inside_streamlit
from viz.guard import VISITORS_VARIABLE, most_visitors

SEAT = "seat"


class _Seat:
    """What a session holds for as long as it lasts."""

    def __init__(self) -> None:
        self.session = inside_streamlit.session_id()

    def is_used(self) -> bool:
        """Whether its visitor is connected."""
        return inside_streamlit.is_connected(self.session)


_seats: WeakSet[_Seat] = WeakSet()


def admit() -> None:
    """Give this session a seat, or say in one line (ValueError) that all are taken."""
    if SEAT in st.session_state:
        return
    most = most_visitors(os.environ)
    if sum(seat.is_used() for seat in list(_seats)) >= most:
        raise ValueError(
            f"All {most} places here are taken. Come back in a minute; whoever runs Headlight can "
            f"raise {VISITORS_VARIABLE}, or start a second one."
        )
    seat = _Seat()
    _seats.add(seat)
    st.session_state[SEAT] = seat
