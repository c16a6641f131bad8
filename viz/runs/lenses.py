"""Lenses fitted to a model, kept for all visitors, and what the stream of another run does."""

from model.analysis.fitted_lens import FittedLens, Fitting
from model.analysis.turning import Turning, turning
from model.sources.handle import ModelHandle
from viz import runs
from viz.runs import Run
from viz.runs.kept import kept


class _NotThereError(Exception):
    """No lens is kept."""


def fitted(handle: ModelHandle) -> FittedLens | None:
    """The lens of a model, as far as one was fitted for anybody and is kept."""
    try:
        return _fitted(handle, None)
    except _NotThereError:
        return None


def keep(handle: ModelHandle, found: FittedLens) -> None:
    """Keep a lens of a model."""
    _fitted(handle, found)


@kept
def _fitted(handle: ModelHandle, _found: FittedLens | None) -> FittedLens:
    if _found is None:
        raise _NotThereError
    return _found


def fitting(handle: ModelHandle) -> Fitting:
    """Begin to fit a lens; nothing runs before `advance`. ValueError where none can be fitted."""
    return Fitting(runs.runnable(handle))


def turned(handle: ModelHandle, first: Run, second: Run) -> Turning:
    """Begin to put the last stream of one run into another, layer by layer.

    ValueError where both have the same answer.
    """
    return turning(runs.decoder(handle), first.trace, second.trace)
