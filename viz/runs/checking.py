"""The self-check behind the page: on a thread of its own, and after the figures.

It takes several times as long as the run it checks. One thread does it for all visitors, one after
the other, the newest first: a text that goes on has left the others behind. What nobody looks at
any more by then is not checked.
"""

import threading
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager

from model.trace import Trace
from model.verify.check import Check

Checks = tuple[Check, ...]

MOST_WAIT = 2.0  # seconds a check leaves to pages that are being drawn; one may draw for long
MORE_WAIT = 0.01  # for each token: of a long text both take longer

_WAITING: list[tuple[Future[Checks], Callable[[], Checks]]] = []
_THREAD = ThreadPoolExecutor(max_workers=1, thread_name_prefix="self-check")


class _Pages:
    """Counts the pages that are being drawn."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._n_drawn = 0

    def add(self, number: int) -> None:
        with self._changed:
            self._n_drawn += number
            self._changed.notify_all()

    def wait(self, most: float) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._n_drawn == 0, timeout=most)


_PAGES = _Pages()


@contextmanager
def figures_first() -> Iterator[None]:
    """Checks begin after what is drawn in here: beside a check it takes twice as long."""
    _PAGES.add(1)
    try:
        yield
    finally:
        _PAGES.add(-1)


def figures_first_for(seconds: float) -> Callable[[], None]:
    """The same for a while, or until what is given back is called: a page follows meanwhile."""
    _PAGES.add(1)
    held = threading.Lock()

    def let_go() -> None:
        if held.acquire(blocking=False):
            _PAGES.add(-1)

    timer = threading.Timer(seconds, let_go)
    timer.daemon = True
    timer.start()
    return let_go


def begin(trace: Trace, check: Callable[[Trace], Checks]) -> "Future[Checks]":
    """Have a trace checked; its checks are there when the future is done.

    The trace is not kept for it: once every visitor has gone on, there is nothing to check.
    """
    wanted, most_wait = weakref.ref(trace), MOST_WAIT + MORE_WAIT * len(trace.main)

    def work() -> Checks:
        kept = wanted()
        return () if kept is None else check(kept)

    checking: Future[Checks] = Future()
    _WAITING.append((checking, work))
    _THREAD.submit(_check_newest, most_wait)
    return checking


def _check_newest(most_wait: float) -> None:
    _PAGES.wait(most_wait)
    checking, work = _WAITING.pop()
    try:
        checking.set_result(work())
    except Exception as error:
        checking.set_exception(error)
