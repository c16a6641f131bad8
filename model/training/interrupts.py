"""Ctrl-C and its like, held back while something is done that must not be done by half."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

# Ctrl-C; a plain `kill`, or a machine that shuts down; a terminal that is closed (not on Windows).
STOPS = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Let no signal that stops a program come between; the first one is obeyed at the end.

    Also where what was done has failed meanwhile: Ctrl-C reaches the programs it had started too,
    such as a compiler, and their failure is then none of its own.

    What obeying means is up to the handler that was there: KeyboardInterrupt for Ctrl-C. A signal
    that is ignored, as under nohup, stays ignored. Python hands signals to the main thread alone,
    so in another thread there is nothing to hold back.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handlers = {number: signal.getsignal(number) for number in STOPS}
    held_back: list[int] = []
    try:
        for number, handler in handlers.items():
            if handler not in (None, signal.SIG_IGN):
                signal.signal(number, lambda number, frame: held_back.append(number))
        yield
    except Exception:
        if not held_back:
            raise
    finally:
        for number, handler in handlers.items():
            if handler not in (None, signal.SIG_IGN):
                signal.signal(number, handler)
    if held_back:
        signal.raise_signal(held_back[0])
