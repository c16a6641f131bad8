"""What browsers ask for of one page: a trace, and the independent side of what the page shows."""

from dataclasses import dataclass

from model.trace import Trace
from viz.live import store
from viz.live.store import Independent


@dataclass(frozen=True, eq=False)
class Beside:
    """A trace, whose key is gone when nobody holds this any more."""

    key: str
    trace: Trace
    independent: Independent


def beside(trace: Trace, independent: Independent) -> Beside:
    """Offer both to browsers."""
    return Beside(store.put(trace, independent), trace, independent)
