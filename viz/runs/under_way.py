"""What is being worked out, in a few words: whoever does it says so, and a page may listen.

Said where the work is done, inside of what keeps its answer: of an answer that is there already
nobody says anything.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar, copy_context

Hear = Callable[[str], object]

_HEAR: ContextVar[Hear] = ContextVar("hear", default=lambda _: None)
_SAID: ContextVar[str] = ContextVar("said", default="")


@contextmanager
def heard_by(hear: Hear) -> Iterator[None]:
    """Have `hear` told what is under way in here, and "" once nothing is.

    It is called as if from here: what it draws is no part of what Streamlit keeps of an answer.
    """
    here = copy_context()
    outer = _HEAR.set(lambda what: here.run(hear, what))
    try:
        yield
    finally:
        _HEAR.reset(outer)


@contextmanager
def under_way(what: str) -> Iterator[Hear]:
    """Say what is worked out in here, as "Running the model on 13 tokens"; then what was before.

    What it gives says something else meanwhile, such as how far it has come.
    """
    hear, before = _HEAR.get(), _SAID.get()

    def say(now: str) -> None:
        _SAID.set(now)
        hear(now)

    say(what)
    try:
        yield say
    finally:
        say(before)
