"""A typed text is answered before the page runs again, with what its parts will be told of it.

A run of the page's script takes its time before a part hears of a text. So the box asks here, past
the script, by the functions that the script calls: the run is kept, the script that follows finds
it, and says the same again. What cannot be answered so, a text that is cut or refused among it, is
left to the script, which has the words.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import streamlit as st

from viz.frame.kinds import Text
from viz.kit.part import Part
from viz.kit.wire import Data, Settings
from viz.live import store
from viz.runs import Run
from viz.runs.checking import figures_first_for

AHEAD = "answers-a-typed-text"
LONGEST_WAIT = 0.5  # seconds that checks leave to the page that follows

Make = Callable[[Run, str, Settings], Part]  # of a run, its text, and what is chosen in the part


class How(NamedTuple):
    """How a typed text is run on the open page, and what the count beside it says of the run."""

    setting: Text
    run: Callable[[str], Run]
    counted: Callable[[Run], str]


class Ahead:
    """What answers the sentence box of one visitor: `parts` by their keys, as their page has them.

    On a page that says nothing of its parts, or before it has, nothing is answered. `begun` is what
    was begun of the last text, after what it was made with: the script goes on with it.
    """

    def __init__(self) -> None:
        self.how: How | None = None
        self.parts: dict[str, Make] = {}
        self.is_ready = False
        self.begun: tuple[object, Any] = (None, None)
        self._let_go: Callable[[], None] = lambda: None

    def begin(self) -> None:
        """The script runs: until it has said what is shown, nothing is answered."""
        self._let_go()
        self.how, self.parts, self.is_ready = None, {}, False

    def more(self, asked: Mapping[str, Any]) -> Mapping[str, Any]:
        """What each part is told of a text, the arrays it draws at once by their paths, a count."""
        how, parts, text = self.how, dict(self.parts), asked.get("sentence")
        chosen = asked.get("settings")
        if not (self.is_ready and how and isinstance(text, str) and isinstance(chosen, dict)):
            return {}
        value, line = how.setting.nearest(text)
        if line or value != text or not text.strip():
            return {}
        self._let_go()
        self._let_go = figures_first_for(LONGEST_WAIT)
        try:
            run = how.run(text)
        except ValueError:
            return {}
        if run.n_cut:
            return {}
        now = {key: what for key, what in chosen.items() if isinstance(what, dict)}
        made = {key: make(run, text, now.get(key, {})) for key, make in parts.items()}
        arrays: dict[str, Any] = {}
        for part in made.values():
            store.share(part.by_id)
            arrays |= part.first_pieces()
        told = {key: _told(part) for key, part in made.items()}
        return {"parts": told, "arrays": arrays, "count": how.counted(run)}


def _told(part: Part) -> Data:
    asks = {"asks": store.offer(part.answers)} if part.answers else {}
    return part.told_of_run | asks


def of_visitor() -> Ahead:
    """What answers this visitor, the same one on all pages."""
    return st.session_state.setdefault(AHEAD, Ahead())


def also(key: str, make: Make) -> None:
    """Have the part of this key on the open page told of a typed text, too."""
    of_visitor().parts[key] = make


def answers() -> None:
    """The page itself has said what its parts are made of: from now on texts are answered."""
    of_visitor().is_ready = True
