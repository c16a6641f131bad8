"""Two inputs of one shape, of which a value of one may stand in for that of the other."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from model.analysis.patching import parting
from model.data.tokenizer import MASK
from model.given import Input
from viz import runs
from viz.figures.labels import clipped
from viz.frame import blanks, controls, given, notices, state
from viz.frame.settings import OTHER_DIGIT, SECOND
from viz.frame.view import View
from viz.runs import blanks as blanked
from viz.runs import patching, translating
from viz.runs.patching import Ids

Strings = tuple[str, ...]
LONGEST = 60  # characters of what two translations share


@dataclass(frozen=True)
class Two:
    """Both inputs as they are run, the position whose answer is asked, and what its place is.

    `labels` has the strings of both, row by row, by the name of the stack they go into.
    """

    first: Input
    second: Input
    position: int
    place: str
    labels: Mapping[str, tuple[Strings, Strings]]


def _texts(view: View, second: str) -> Two:
    """A decoder's: what comes after the last token."""
    ids = _within(patching.ids_of(view.handle, second), view.config.max_seq_len)
    strings = _equal(view.tokens, runs.tokenizer(view.handle).token_strings(ids))
    return Two(view.ids, ids, len(ids) - 1, "after the last token", {"decoder": strings})


def _blanked(view: View, second: str) -> Two:
    """An encoder's: what stands in the first blank, which is hidden in both."""
    handle, tokenizer = view.handle, runs.tokenizer(view.handle)
    both = blanked.ids_of(handle, view.sentence), blanked.ids_of(handle, second)
    first, other = _equal(*map(tokenizer.token_strings, both))
    hidden = state.value(blanks.setting(handle, view.sentence, has_default=True))
    hiding = tokenizer.id_of(MASK)
    one, two = (
        tuple(hiding if place in hidden else i for place, i in enumerate(ids)) for ids in both
    )
    place = f"in place of {MASK}, token {hidden[0]}"
    first, other = map(tokenizer.token_strings, (one, two))
    return Two(one, two, hidden[0], place, {"encoder": (first, other)})


def _sources(view: View, second: str) -> Two:
    """An encoder-decoder's: the token at which both translations part, after what they share."""
    handle, tokenizer = view.handle, runs.tokenizer(view.handle)
    trace = view.run.trace
    first, own = (tuple(ids.tolist()) for ids in trace.given)
    other = translating.source_ids(handle, second)
    strings = _equal(*(tokenizer.token_strings(ids[:-1]) for ids in (first, other)))
    theirs = (own[0], *translating.written(handle, second, translating.Way()).ids)
    pairs = enumerate(zip(own, theirs, strict=False))
    target = own[: next((i for i, pair in pairs if len(set(pair)) > 1), 1)]
    ends = tokenizer.token_strings(first[-1:])
    sides = tuple((*row, *ends) for row in strings)
    german = tokenizer.token_strings(target)
    labels = {"encoder": (sides[0], sides[1]), "decoder": (german, german)}
    shared = clipped(tokenizer.decode(list(target[1:])).strip(), LONGEST)
    place = f"after “{shared}”" if shared else "for the first German token"
    return Two((first, target), (other, target), len(target) - 1, place, labels)


def _pictures(view: View, second: str) -> Two:
    """A picture's: its class; the other is a digit of the test set."""
    given_pixels = view.run.trace.main.pixels
    assert given_pixels is not None, "a picture has pixels"
    shipped = np.ascontiguousarray(given.shipped_digits().images[int(second)])
    other_pixels = runs.run_picture(view.handle, shipped.tobytes()).trace.main.pixels
    assert other_pixels is not None, "a picture has pixels"
    first, other = (x.astype(np.float32).tobytes() for x in (given_pixels, other_pixels))
    return Two(first, other, 0, "of the picture", {"encoder": (view.tokens, view.tokens)})


TWO: Mapping[str, Callable[[View, str], Two]] = {
    "decoder": _texts,
    "encoder": _blanked,
    "encoder_decoder": _sources,
    "vision": _pictures,
}


def two_of(view: View, second: str) -> Two:
    """Both inputs; ValueError where they have different numbers of tokens."""
    return TWO[view.run.trace.facts.architecture](view, second)


def ask(view: View, default: str) -> str:
    """The control for the second input: a sentence, or the number of a digit."""
    if view.run.trace.main.pixels is None:
        return controls.text(SECOND.given(default=default), placeholder="another sentence")
    n = len(given.shipped_digits().labels)
    return str(int(controls.number(OTHER_DIGIT.given(high=n - 1))))


def _within(ids: Ids, context: int) -> Ids:
    """The tokens of the second sentence, cut to the context."""
    if len(ids) > context:
        notices.add(f"The last {len(ids) - context} tokens of the second sentence are cut.")
    return ids[:context]


def _equal(first: Strings, second: Strings) -> tuple[Strings, Strings]:
    if len(first) != len(second):
        raise ValueError(parting(first, second))
    return first, second
