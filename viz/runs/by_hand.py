"""Numbers written by hand, worked out, and the same by independent code for browsers to ask for."""

from dataclasses import dataclass

from model.analysis.worked import Example, Worked, work_out
from model.trace import Trace
from model.verify.by_hand import IndependentByHand
from viz.live import store


@dataclass(frozen=True, eq=False)
class ByHand:
    """An example and every step of it; the browser has what it needs to draw them itself."""

    example: Example
    worked: Worked
    independent: IndependentByHand
    key: str
    trace: Trace  # kept with it: the store forgets what nobody holds


def by_hand(example: Example, trace: Trace) -> ByHand:
    """Work an example out, and offer the independent numbers to the browser beside a trace."""
    independent = IndependentByHand(**vars(example))
    return ByHand(example, work_out(example), independent, store.put(trace, independent), trace)
