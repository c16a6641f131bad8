"""What every head does: on the input of a page, and in the survey stored with a checkpoint."""

from model.analysis.several import Weights, weights_of
from model.sources.handle import ModelHandle
from model.sources.sums import sum_of_weights
from model.survey.measured import Found, of_model, on_input
from model.survey.stored import Survey, place_of, read_survey
from model.trace import Site, Trace
from viz import runs
from viz.kit.part import Part
from viz.kit.parts.heads import heads_part
from viz.runs.kept import kept


def part(run: runs.Run) -> Part:
    """All heads of a run, to be looked at."""
    return _part(run.key, run.trace)


@kept
def _part(key: str, _trace: Trace) -> Part:
    return heads_part(_trace)


def on_this_input(handle: ModelHandle, run: runs.Run) -> dict[str, Found]:
    """All measures of all heads of a run, by group; ValueError where there are no weights."""
    return _on_this_input(handle, run.key, run.trace)


@kept
def _on_this_input(handle: ModelHandle, key: str, _trace: Trace) -> dict[str, Found]:
    return on_input(runs.runnable(handle), _trace)


@kept
def of_weights(handle: ModelHandle) -> Found:
    """The copying score, which needs no input; empty for a model that has none."""
    return of_model(runs.runnable(handle).model)


def survey(handle: ModelHandle) -> Survey | None:
    """The survey stored with a checkpoint; None where there is none. ValueError: a broken one."""
    folder = runs.runnable(handle).folder
    path = place_of(folder)
    state = path.stat() if path.is_file() else None
    return None if state is None else _survey(handle, (state.st_mtime_ns, state.st_size))


@kept
def _survey(handle: ModelHandle, state: tuple[int, int]) -> Survey | None:
    folder = runs.runnable(handle).folder
    return read_survey(folder, sum_of_weights(folder))


@kept
def weights(handle: ModelHandle, site: Site) -> Weights:
    """What the heads of one layer go through."""
    return weights_of(runs.runnable(handle).model, site)
