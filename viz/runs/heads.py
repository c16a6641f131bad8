"""What every head does: on the input of a page, and in the survey stored with a checkpoint."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from model.analysis.several import Weights, weights_of
from model.data.text import read_text
from model.files import MEGABYTE
from model.lines import quoted
from model.sources.handle import ModelHandle
from model.sources.sums import sum_of_weights
from model.sources.table import Runnable
from model.survey.measured import Measures, Sums, added, of_model, on_input, sums_of
from model.survey.samples import Repeats, Samples, random_repeats, windows_of
from model.survey.stored import Survey, place_of, read_survey
from model.survey.whole import averages_of
from model.trace import Site, Trace
from model.work import Work
from viz import runs
from viz.runs.kept import kept
from viz.runs.under_way import under_way


def on_this_input(handle: ModelHandle, run: runs.Run) -> dict[str, Measures]:
    """All measures of all heads of a run, by group; ValueError where there are no weights."""
    return _on_this_input(handle, run.key, run.trace)


@kept
@under_way("Measuring every head on this input")
def _on_this_input(handle: ModelHandle, key: str, _trace: Trace) -> dict[str, Measures]:
    return on_input(runs.runnable(handle), _trace)


class OnRepeats(NamedTuple):
    """Random repeats, the run of them, and its measures by group."""

    given: Repeats
    trace: Trace
    measured: dict[str, Measures]


@kept
@under_way("Measuring every head on random tokens said twice")
def on_random_repeats(handle: ModelHandle) -> OnRepeats:
    """All measures of all heads on random repeats; ValueError where a model cannot run them."""
    loaded = runs.runnable(handle)
    given = random_repeats(loaded)
    trace = loaded.captured((given.ids, loaded.tokenizer.token_strings(given.ids)))
    return OnRepeats(given, trace, on_input(loaded, trace))


WINDOW, MOST = 128, 4096  # tokens of a window, and of all of them
MOST_CHARACTERS = 100_000  # that are looked at: more than 4,096 tokens of any language
LARGEST = 64 * MEGABYTE


@dataclass(eq=False)
class Surveying(Work):
    """A text of a person's own while all heads are measured on it, window by window."""

    name: str
    loaded: Runnable
    samples: Samples
    is_cut: bool  # whether the text has more tokens than the windows
    sums: Mapping[str, Sums] = field(default_factory=dict)
    n_done: int = 0

    @property
    def progress(self) -> float:
        """How much of it is there, 0 to 1."""
        return self.n_done / len(self.samples)

    @property
    def n_tokens(self) -> int:
        """Tokens of the windows that were measured."""
        return sum(self.samples.lengths[: self.n_done])

    def go_on(self) -> bool:
        """Measure a window."""
        one = sums_of(self.samples.make(self.n_done), self.loaded)
        self.sums = added([self.sums, one])
        self.n_done += 1
        return self.n_done < len(self.samples)

    def measured(self, group: str) -> Measures:
        """The measures of a group over the windows so far; empty before the first."""
        return averages_of(self.sums[group]) if group in self.sums else {}


def survey_of(handle: ModelHandle, place: str) -> Surveying:
    """Begin to measure all heads on a text file; ValueError where it is none, or too short."""
    file = _text_file(place)
    text, loaded = read_text(file), runs.runnable(handle)
    read = text[:MOST_CHARACTERS]
    window = min(WINDOW, loaded.model.config.max_seq_len)
    samples = windows_of(loaded, [(file.name, read)], window, MOST)
    is_cut = read != text or sum(samples.lengths) >= MOST
    return Surveying(file.name, loaded, samples, is_cut)


def _text_file(place: str) -> Path:
    """The file that a person names; ValueError where there is none, or too much in it to read."""
    try:
        file = Path(place.strip().strip("\"'")).expanduser()
        size = file.stat().st_size if file.is_file() else None
    except (OSError, ValueError, RuntimeError):  # a name that no file or no person can have
        file, size = Path(), None
    if not size:  # of what has no size, as in /proc, nobody knows how much there is
        raise ValueError(f"{quoted(place)!r} is no file with text; give the path of one")
    if size > LARGEST:
        raise ValueError(
            f"{quoted(place)!r} has {size / MEGABYTE:,.0f} MB; give a text of at most "
            f"{LARGEST // MEGABYTE} MB"
        )
    return file


@kept
@under_way("Working out the copying score of every head")
def of_weights(handle: ModelHandle) -> Measures:
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
