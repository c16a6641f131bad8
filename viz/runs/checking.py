"""The self-check beside the page: on a thread of its own, so that no figure waits for it.

It takes several times as long as the run it checks. One thread does it for all visitors, one after
the other; what nobody looks at any more by then is not checked.
"""

import weakref
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from model.trace import Trace
from model.verify.check import Check

Checks = tuple[Check, ...]

_THREAD = ThreadPoolExecutor(max_workers=1, thread_name_prefix="self-check")


def begin(trace: Trace, check: Callable[[Trace], Checks]) -> "Future[Checks]":
    """Have a trace checked; its checks are there when the future is done.

    The trace is not kept for it: once every visitor has gone on, there is nothing to check.
    """
    wanted = weakref.ref(trace)

    def work() -> Checks:
        found = wanted()
        return () if found is None else check(found)

    return _THREAD.submit(work)
