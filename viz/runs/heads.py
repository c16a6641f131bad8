"""What every head does: on the input of a page, and in the survey stored with a checkpoint."""

from typing import Any

import numpy as np

from model.analysis.circuits import copying_scores
from model.analysis.exchanged import exchanged, exchanged_patches
from model.analysis.heads import Averages
from model.analysis.several import Weights, weights_of
from model.inputs import Text
from model.sources.handle import ModelHandle
from model.sources.sums import sum_of
from model.survey.measured import Found, measured
from model.survey.stored import STORED, Survey, read_survey
from model.trace import Site, Stream, Trace
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
    found = runs.runnable(handle)
    other = found.captured(_in_another_order(found, _trace))
    return measured(_trace, other, found.model)


def _in_another_order(found: runs.Runnable, trace: Trace) -> tuple[Any, ...]:
    """What a capture takes for a trace's input with its words, or its patches, exchanged."""
    pixels = trace.main.pixels
    if pixels is not None:
        return (exchanged_patches(pixels, len(pixels) // trace.main.side),)
    texts = [_text(found, stream) for stream in trace.streams]
    return texts[0] if len(texts) == 1 else tuple(texts)


def _text(found: runs.Runnable, stream: Stream) -> Text:
    ids = exchanged(np.asarray(stream.ids).tolist(), found.tokenizer.special_ids)
    return ids, found.tokenizer.token_strings(ids)


@kept
def of_weights(handle: ModelHandle) -> Found:
    """The copying score, which needs no input; empty for a model that has none."""
    scores = copying_scores(runs.runnable(handle).model)
    return {} if scores is None else {"copying": Averages(scores, np.zeros(scores.shape, int))}


def survey(handle: ModelHandle) -> Survey | None:
    """The survey stored with a checkpoint; None where there is none. ValueError: a broken one."""
    folder = runs.runnable(handle).folder
    path = folder / STORED
    state = path.stat() if path.is_file() else None
    return None if state is None else _survey(handle, (state.st_mtime_ns, state.st_size))


@kept
def _survey(handle: ModelHandle, state: tuple[int, int]) -> Survey | None:
    folder = runs.runnable(handle).folder
    return read_survey(folder, sum_of(folder / "model.safetensors"))


@kept
def weights(handle: ModelHandle, site: Site) -> Weights:
    """What the heads of one layer go through."""
    return weights_of(runs.checkpoint(handle).model, site)
