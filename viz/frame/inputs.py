"""What experiments are made on: the input on screen, or two of one shape.

Of two, a value of one may stand in for that of the other.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from model.analysis.patching import parting
from model.data.tokenizer import MASK
from model.given import Input
from model.lines import quoted
from model.trace import Trace
from viz import runs
from viz.figures.labels import clipped, token_labels
from viz.frame import blanks, controls, given, notices, state
from viz.frame.settings import ARROWS_OF, OTHER_DIGIT, OTHER_TOKEN, SECOND, TOKEN
from viz.frame.view import View
from viz.runs import blanks as blanked
from viz.runs import patching, translating
from viz.runs.patching import Ids

Strings = tuple[str, ...]
CROSS = "decoder.cross_attn"
LONGEST = 60  # characters of what two translations share


@dataclass(frozen=True)
class One:
    """An input as it is run, and the position whose answer is asked.

    `labels` has what stands in each stack's row, by the name of the stack; `hidden` the places that
    are blank.
    """

    given: Input
    position: int
    labels: Mapping[str, Strings]
    hidden: tuple[int, ...] = ()


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


# --- a decoder's: what comes after the last token -----------------------------------------------


def _text(view: View) -> One:
    return One(view.ids, len(view.ids) - 1, {"decoder": tuple(token_labels(view.tokens))})


def _texts(view: View, second: str) -> Two:
    ids = _within(patching.ids_of(view.handle, second), view.config.max_seq_len)
    strings = _equal(view.tokens, runs.tokenizer(view.handle).token_strings(ids))
    return Two(view.ids, ids, len(ids) - 1, "after the last token", {"decoder": strings})


# --- an encoder's: what stands in a blank, the first that is hidden until another is chosen -----


def _blank(view: View) -> One:
    tokens = blanked.tokens_of(view.handle, view.sentence)
    hidden = _hidden(view)
    first = (hidden or blanks.first_blank(tokens))[0]
    place = controls.token(TOKEN.given(label="Blank"), tokens, first, "hidden")
    hidden = hidden if place in hidden else (place,)
    ids = _hiding(view, blanked.ids_of(view.handle, view.sentence), hidden)
    labels = tuple(token_labels(runs.tokenizer(view.handle).token_strings(ids)))
    return One(ids, place, {"encoder": labels}, hidden)


def _both_blank(view: View, second: str) -> Two:
    strings, hidden = runs.tokenizer(view.handle).token_strings, _hidden(view)
    both = [blanked.ids_of(view.handle, text) for text in (view.sentence, second)]
    _equal(*map(strings, both))
    one, two = (_hiding(view, ids, hidden) for ids in both)
    place = f"in place of {MASK}, token {hidden[0]}"
    return Two(one, two, hidden[0], place, {"encoder": (strings(one), strings(two))})


def _hidden(view: View) -> tuple[int, ...]:
    return state.value(blanks.setting(view.handle, view.sentence, has_default=True))


def _hiding(view: View, ids: Ids, hidden: tuple[int, ...]) -> Ids:
    hiding = runs.tokenizer(view.handle).id_of(MASK)
    return tuple(hiding if place in hidden else i for place, i in enumerate(ids))


# --- a translation's: the German token after one of those that are there --------------------------


def _target(view: View) -> One:
    source, target = (tuple(ids.tolist()) for ids in view.run.trace.given)
    rows = [stream.labels for stream in view.run.trace.streams]
    setting = TOKEN.given(label="After German token")
    place = controls.token(setting, rows[1], len(target) // 2, "middle")
    first, second = (tuple(token_labels(row)) for row in (rows[0], rows[1][: place + 1]))
    return One((source, target[: place + 1]), place, {"encoder": first, "decoder": second})


def _sources(view: View, second: str) -> Two:
    """The token at which both translations part, after what they share."""
    handle, tokenizer = view.handle, runs.tokenizer(view.handle)
    first, own = (tuple(ids.tolist()) for ids in view.run.trace.given)
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


# --- a picture's: its class, which the class token says -------------------------------------------


def _picture(view: View) -> One:
    return One(_pixels(view.run.trace), 0, {"encoder": tuple(view.tokens)})


def _pictures(view: View, second: str) -> Two:
    """The other is a digit of the test set."""
    shipped = np.ascontiguousarray(given.shipped_digits().images[int(second)])
    other = runs.run_picture(view.handle, shipped.tobytes()).trace
    labels = {"encoder": (view.tokens, view.tokens)}
    return Two(_pixels(view.run.trace), _pixels(other), 0, "of the picture", labels)


def _pixels(trace: Trace) -> bytes:
    assert trace.main.pixels is not None, "a picture has pixels"
    return trace.main.pixels.astype(np.float32).tobytes()


# --- all of them ----------------------------------------------------------------------------------


class Kind(NamedTuple):
    """How one input of an architecture is asked about, and two."""

    one: Callable[[View], One]
    two: Callable[[View, str], Two]


KINDS: Mapping[str, Kind] = {
    "decoder": Kind(_text, _texts),
    "encoder": Kind(_blank, _both_blank),
    "encoder_decoder": Kind(_target, _sources),
    "vision": Kind(_picture, _pictures),
}


def one_of(view: View) -> One:
    """What is run and asked, drawn as a control where there is a choice."""
    return KINDS[view.run.trace.facts.architecture].one(view)


def two_of(view: View, second: str) -> Two:
    """Both inputs; ValueError where they have different numbers of tokens."""
    return KINDS[view.run.trace.facts.architecture].two(view, second)


def ask_second(view: View, default: str) -> str:
    """The control for the second input: a sentence, or the number of a digit."""
    if view.run.trace.main.pixels is None:
        if state.is_of_another_page(SECOND):  # which may take a text of any length
            texts = (view.sentence, state.value(SECOND))
            n, n_second = (len(patching.ids_of(view.handle, text)) for text in texts)
            if n != n_second:
                state.put((SECOND, default))
                if texts[1].strip():
                    notices.add(
                        f"{SECOND.label} {quoted(texts[1])} has {n_second} tokens, the first {n}; "
                        "showing another."
                    )
        return controls.text(SECOND.given(default=default), placeholder="another sentence")
    n = len(given.shipped_digits().labels)
    return str(int(controls.number(OTHER_DIGIT.given(high=n - 1))))


def group(view: View) -> str:
    """Which heads' edges: a choice where a model attends in several ways."""
    titles = {found.name: found.title for found in view.run.trace.groups}
    names = list(titles)
    if len(names) == 1:
        return names[0]
    setting = ARROWS_OF.given(default=CROSS, options=names, words=titles.__getitem__)
    return controls.select(setting, width=250)


def query(view: View, one: One, name: str) -> int:
    """Which token attends: what predicts, and where all tokens attend to all a choice."""
    if name != "encoder.attn":
        return one.position
    labels, asked, called = one.labels["encoder"], one.position, "predicts"
    if len(one.labels) > 1:  # the source predicts nothing: what is attended to most does most
        cross = [x.pattern[:, one.position] for x in view.run.trace.group(CROSS).records]
        asked, called = int(np.mean(cross, axis=(0, 1)).argmax()), "attended to most"
    return controls.token(OTHER_TOKEN.given(label="Edges from"), labels, asked, called)


def _within(ids: Ids, context: int) -> Ids:
    """The tokens of the second sentence, cut to the context."""
    if len(ids) > context:
        notices.add(f"The last {len(ids) - context} tokens of the second sentence are cut.")
    return ids[:context]


def _equal(first: Strings, second: Strings) -> tuple[Strings, Strings]:
    if len(first) != len(second):
        raise ValueError(parting(first, second))
    return first, second
