"""Every array of a trace against an independent run from the model's own files.

`model.reference` shares no code with the model that runs, so a fault of either shows, and so does a
weight that is not the file's any more.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from inspect import signature
from threading import Lock

import numpy as np

from model import reference
from model.trace import RESIDUAL_NAMES, Trace
from model.verify.additive import ADDITIVE_OF_A_SITE
from model.verify.answered import ANSWERED
from model.verify.attributed import ATTRIBUTED, ATTRIBUTED_OF_A_SITE
from model.verify.blanked import BLANKED
from model.verify.blocked import BLOCKED
from model.verify.boxed import BOXED
from model.verify.cheapened import CHEAPENED, CHEAPENED_OF_A_SITE
from model.verify.check import Check, relative_error
from model.verify.counted import COUNTED, COUNTED_OF_A_SITE
from model.verify.deep import DEEP
from model.verify.derived import DERIVED, OF_A_SITE, Ran
from model.verify.edited import EDITED, Off, files_without
from model.verify.facts import FACTS, FACTS_OF_A_SITE
from model.verify.found import FOUND, FOUND_IN_A_GROUP
from model.verify.habits import OF_HABITS
from model.verify.lettered import LETTERED, LETTERED_OF_A_SITE
from model.verify.merged import MERGED
from model.verify.of_heads import OF_A_GROUP, OF_A_LAYER, OF_THE_OUTPUT
from model.verify.pictured import PICTURED
from model.verify.sampled import SAMPLED
from model.verify.saturated import SATURATED, SATURATED_OF_A_SITE
from model.verify.scaled import SCALED
from model.verify.schemes import OF_SCHEMES, SCHEMES_OF_A_SITE
from model.verify.several import SEVERAL, SEVERAL_OF_A_SITE
from model.verify.similar import SIMILAR, SIMILAR_OF_A_SITE
from model.verify.sized import SIZED
from model.verify.smoothed import SMOOTHED, SMOOTHED_OF_A_SITE
from model.verify.stated import as_stated, indices
from model.verify.texts import NO_WORDS, Vocabulary, texts_of_ids
from model.verify.weighed import WEIGHED
from model.verify.worded import WORDED, WORDED_OF_A_SITE

ALLOWED = 1e-5
# What is compared, under one name each: arrays by the last part of their addresses.
COMPARED: dict[str, tuple[str, ...]] = {
    "token ids, embeddings and positions": ("ids", "pixels", "embed", "positions"),
    "q, k and v": ("q", "k", "v"),
    "biases and masks": ("bias", "mask"),
    "scores": ("scores",),
    "pattern": ("pattern",),
    "z": ("z",),
    "residual stream": RESIDUAL_NAMES,
    "logits": ("output",),
}
OF_HEADS = ("q, k and v", "scores", "pattern", "z")
NOT_COMPUTED = ("labels", "scale")  # text; and what the scores would show


@dataclass
class _Found:
    """The largest error of one kind so far, and the first array that was off."""

    error: float = 0.0
    address: str = ""


def check_independently(
    trace: Trace, files: reference.Files, mask: np.ndarray | None = None
) -> tuple[Check, ...]:
    """All arrays of a trace against those of the independent run, a check for each kind.

    mask: the (T, T) mask it was captured under, if not the model's own. A check that fails names
    the first array, in the order of the forward pass, that is off: what follows inherits it.
    """
    ours = {
        address: array for address, array in trace.arrays() if _last(address) not in NOT_COMPUTED
    }
    compared = {name: _Found() for name in COMPARED}
    for address, expected in reference.arrays(files, trace.given, mask):
        array = ours.pop(address, None)
        error = math.inf if array is None else relative_error(array, expected)
        _keep(compared, address, error)
    for address in ours:  # what the independent run knows nothing of
        _keep(compared, address, math.inf)
    return tuple(_check(name, found, trace) for name, found in compared.items())


def _last(address: str) -> str:
    return address.rsplit(".", 1)[-1]


def _keep(compared: dict[str, _Found], address: str, error: float) -> None:
    found = compared[next(name for name, last in COMPARED.items() if _last(address) in last)]
    found.error = max(found.error, error)
    if error > ALLOWED and not found.address:
        found.address = address


def _check(name: str, found: _Found, trace: Trace) -> Check:
    n_heads = sum(record.n_heads for record in trace.attention)
    of = f" of {n_heads} heads" if name in OF_HEADS else ""
    where = f", first in {found.address}" if found.address else ""
    return Check(f"{name}{of} = an independent float64 run{where}", found.error, ALLOWED)


# --- by address ---------------------------------------------------------------------------------

# A name, and in brackets which part of the array, axis by axis: numbers, or stretches as in Python.
LONGEST_NAME = 100
ADDRESS = re.compile(rf"([a-z0-9_.]{{1,{LONGEST_NAME}}})(?:\[([0-9:,-]{{1,40}})\])?")
NUMBERED = re.compile(r"(.*?)((?:\.[0-9]{1,9})*)")  # what is worked out, and numbers it depends on
ALL = {
    **DERIVED,
    **PICTURED,
    **OF_SCHEMES,
    **COUNTED,
    **MERGED,
    **BLANKED,
    **SAMPLED,
    **SIZED,
    **WEIGHED,
    **SATURATED,
    **SMOOTHED,
    **SIMILAR,
    **SEVERAL,
    **BLOCKED,
    **DEEP,
    **CHEAPENED,
    **LETTERED,
    **SCALED,
    **ATTRIBUTED,
    **EDITED,
    **FOUND,
    **FACTS,
    **WORDED,
    **OF_THE_OUTPUT,
    **ANSWERED,
    **BOXED,
}
OF_INSTRUMENTS = {
    **OF_A_LAYER,
    **OF_A_GROUP,
    **ATTRIBUTED_OF_A_SITE,
    **OF_HABITS,
    **FOUND_IN_A_GROUP,
}
ALL_OF_A_SITE = {
    **OF_A_SITE,
    **FACTS_OF_A_SITE,
    **SCHEMES_OF_A_SITE,
    **COUNTED_OF_A_SITE,
    **SATURATED_OF_A_SITE,
    **SMOOTHED_OF_A_SITE,
    **SIMILAR_OF_A_SITE,
    **SEVERAL_OF_A_SITE,
    **CHEAPENED_OF_A_SITE,
    **ADDITIVE_OF_A_SITE,
    **LETTERED_OF_A_SITE,
    **WORDED_OF_A_SITE,
    **OF_INSTRUMENTS,
}
KEPT_RUNS = 2  # of 256 tokens and 48 heads, some 70 MB each
KEPT_ARRAYS = 16  # worked out from them
_COMPUTING = Lock()


@dataclass(frozen=True, eq=False)
class IndependentRun:
    """The independent run of one input, asked for by address; only the last few are kept.

    given: ids (T,), of a translation those of source and target, or pixels (S, S), as `Trace.given`
    has it. mask: (T, T) where it is not the model's own. `vocabulary` has the bytes of each id; of
    the parts named by `off` the run goes without.
    """

    files: reference.Files
    given: np.ndarray | tuple[np.ndarray, ...]
    mask: np.ndarray | None = None
    vocabulary: Vocabulary = NO_WORDS
    off: Off | None = None

    def labels(self, stream: int = -1) -> list[str | None]:
        """What stands in a row of its input, of a translation the source, 0, or the target.

        What tokens stand for, as `texts`; of a picture the places of its patches, after the class.
        """
        own = self.given[stream] if isinstance(self.given, tuple) else self.given
        if own.ndim == 1:
            return self.texts(own.tolist())
        side = len(own) // int(self.files.config["patch_size"])
        return ["[CLS]", *(f"{place // side},{place % side}" for place in range(side * side))]

    @cached_property
    def unedited(self) -> "IndependentRun":
        """The same run with nothing off."""
        return replace(self, off=None)

    def texts(self, wanted: Sequence[int]) -> list[str | None]:
        """What ids stand for; None for a part of a character.

        ValueError for an id that the vocabulary does not have.
        """
        return texts_of_ids(self.vocabulary, wanted)

    def array(self, address: str) -> np.ndarray:
        """The array at an address in float64, such as decoder.blocks.2.attn.pattern[4] or output.

        What `model.verify.derived` works out is there beside what a trace has. In brackets, one
        number or stretch for each axis: lens.top[:,0:13]. A mask that all heads share is that of
        each. It may state something of a number, see `model.verify.stated`. ValueError where there
        is none.
        """
        return as_stated(self._part, address)

    def _part(self, address: str) -> np.ndarray:
        found = ADDRESS.fullmatch(address)
        name, part = found.groups() if found else ("", None)
        with _COMPUTING:  # who asks for the same waits for it, and does not compute it again
            array = _array(self, name)
        if part is None or (name.endswith(".mask") and array.ndim == 2):
            return array
        try:
            return array[indices(part)]
        except (IndexError, ValueError):
            raise ValueError(f"{name} of shape {array.shape} has no part [{part}]") from None


@lru_cache(maxsize=KEPT_RUNS)
def _ran(run: IndependentRun) -> Ran:
    if run.off is None:
        arrays = dict(reference.arrays(run.files, run.given, run.mask))
        return Ran(run.files, arrays, run.vocabulary)
    own = _ran(run.unedited)
    other: Mapping[str, np.ndarray] = {}
    if run.off.way == "other":
        other = dict(reference.arrays(run.files, run.off.other_input))
    files = files_without(run.files, run.off, own.arrays, other)
    arrays = dict(reference.arrays(files, run.given, run.mask))
    return Ran(files, arrays, run.vocabulary, own)


@lru_cache(maxsize=KEPT_ARRAYS)
def _array(run: IndependentRun, name: str) -> np.ndarray:
    """A whole array; ValueError where there is none, also for want of what it is made of."""
    ran = _ran(run)
    if name in ran.arrays:
        return ran.arrays[name]
    found = NUMBERED.fullmatch(name)
    wanted, numbers = found.groups() if found else (name, "")
    given = [int(number) for number in numbers.split(".")[1:]]
    site, _, last = wanted.rpartition(".")
    try:
        if wanted in ALL:
            return _worked_out(ALL[wanted], ran, *given)
        return _worked_out(ALL_OF_A_SITE[last], ran, site, *given)
    except (KeyError, IndexError):
        what = name or "of that address"
        raise ValueError(f"the independent run has no array {what}") from None


def _worked_out(work: Callable[..., np.ndarray], *given: object) -> np.ndarray:
    """What an entry of the tables makes; ValueError where it takes fewer or more numbers."""
    wanted = signature(work)
    try:
        wanted.bind(*given)
    except TypeError:
        names = ", ".join(list(wanted.parameters)[1:]) or "none"
        raise ValueError(f"the numbers after this array's name are: {names}") from None
    return np.asarray(work(*given))
