"""Why a head of a run looks where it looks, as far as it was worked out for a visitor."""

from model.analysis.why.reasons import reasons
from model.analysis.why.telling import Telling
from model.device import one_thread
from model.sources.handle import ModelHandle
from model.trace import Site
from viz import runs
from viz.runs import Run

SOON = 0.4  # seconds in which a small model's words are read: then nobody sees a bar


def telling(
    handle: ModelHandle, run: Run, site: Site, head: int, query: int, key: int, other: int | None
) -> Telling:
    """A cell of an attention with its kinds, and as much of the rest as is there at once.

    ValueError, of one line, where there is nothing to explain.
    """
    asked = reasons(run.trace, runs.runnable(handle).model, site)
    with one_thread():
        work = Telling(asked.cell(head, query, key, other))
    work.advance(SOON)
    return work
