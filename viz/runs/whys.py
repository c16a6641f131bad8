"""Why a head of a run looks where it looks, as far as it was worked out for a visitor."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial

from model.analysis.why.reasons import DEEP, MOST_TOKENS, reasons
from model.analysis.why.rule import Counted, Rules, counted
from model.analysis.why.telling import Telling
from model.device import one_thread
from model.sources.handle import ModelHandle
from model.trace import Site, Trace
from viz import runs
from viz.runs import Run
from viz.runs.kept import kept
from viz.runs.under_way import under_way

SOON = 0.4  # seconds in which a small model's words are read: then nobody sees a bar


@under_way("Working out why the head looks there")
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


@under_way("Counting where heads look")
def rules(handle: ModelHandle, group: str, traces: Sequence[Callable[[], Trace]]) -> Rules:
    """The looks of all heads of a group, to be counted; of a deep model once somebody asks.

    ValueError, of one line, where they cannot be.
    """
    model = runs.runnable(handle).model
    work = Rules(model, group, traces)
    work.advance(0)
    work.is_running = work.is_running and model.config.n_layers <= DEEP
    return work


def short_runs(handle: ModelHandle, rows: Iterable[Sequence[int]]) -> list[Callable[[], Trace]]:
    """What makes the run of the beginning of each row of ids, as long as looks are explained."""
    loaded = runs.runnable(handle)

    def made(ids: Sequence[int]) -> Trace:
        return loaded.captured((ids, loaded.tokenizer.token_strings(ids)))

    return [partial(made, list(ids[:MOST_TOKENS])) for ids in rows]


def of_head(handle: ModelHandle, run: Run, site: Site, head: int) -> Counted:
    """The looks of one head of a run; none where they cannot be explained."""
    return _of_head(handle, run.key, site, head, run.trace)


@kept
def _of_head(handle: ModelHandle, key: str, site: Site, head: int, _trace: Trace) -> Counted:
    try:
        with one_thread():
            return counted(reasons(_trace, runs.runnable(handle).model, site), head)
    except ValueError:
        return Counted()
