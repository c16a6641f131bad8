"""Pairs of sentences for activation patching, and the second that goes with what is on screen."""

import tomllib
from dataclasses import dataclass
from functools import cache

from model.lines import quoted
from viz import runs
from viz.frame import ASSETS, controls, given, notices, state
from viz.frame.blanks import first_blank
from viz.frame.settings import BLANKS, MODEL, OTHER_DIGIT, SECOND, SENTENCE
from viz.frame.view import View
from viz.kit.parts.pickers import Picker
from viz.kit.wire import Option, Settings
from viz.runs import patching, translating

PAIR = "pair"


@dataclass(frozen=True)
class Pair:
    """Two sentences of equally many tokens, and what patching one into the other shows.

    `subject` is the position that alone brings the answer back, `blank` of an encoder the one that
    is hidden and asked for.
    """

    title: str
    clean: str
    corrupt: str
    model: str
    subject: int
    shows: str
    blank: int | None = None


@cache
def pairs() -> tuple[Pair, ...]:
    """The pairs of assets/patching.toml."""
    text = (ASSETS / "patching.toml").read_text(encoding="utf-8")
    return tuple(Pair(**entry) for entry in tomllib.loads(text)["pair"])


def pair_of(view: View) -> Pair | None:
    """The pair whose first sentence is on screen, on its model."""
    here = (view.sentence, view.model)
    return next((pair for pair in pairs() if (pair.clean, pair.model) == here), None)


def draw_pairs(architecture: str = "") -> None:
    """The list of pairs to choose from, all or those for a kind of model."""
    offered = [x for x in pairs() if architecture in ("", runs.architecture_of(x.model))]
    options = [Option(pair.title, pair.title) for pair in offered]
    picker = Picker(PAIR, "Pairs", options, "", placeholder="choose one")
    controls.pickers("pickers-pair", picker, on_change=_take_over)


def _take_over(changes: Settings) -> None:
    for pair in pairs():
        if pair.title == changes.get(PAIR):
            text = given.kind_of(runs.architecture_of(pair.model)).text or SENTENCE
            state.put((text, pair.clean), (SECOND, pair.corrupt), (MODEL, pair.model))
            if pair.blank is not None:
                state.put((BLANKS, [pair.blank]))


def second_input(view: View) -> str:
    """What is asked for the second input, until a person chooses: the pair's, or one made."""
    found = pair_of(view)
    default = found.corrupt if found else _made_of(view)
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


def _made_of(view: View) -> str:
    """The sentence with one word exchanged.

    A decoder's for what the model found more likely there, others for a word alike.
    """
    trace = view.run.trace
    if trace.main.ids is None:
        return ""
    if "decoder" in view.offers:
        first = first_blank(view.tokens)[0]
        places = (first, *(i for i in range(len(view.tokens)) if i != first))
        return patching.with_another_word(view.handle, view.sentence, places)
    ids = patching.ids_of(view.handle, view.sentence)
    hidden = first_blank(runs.tokenizer(view.handle).token_strings(ids))
    is_encoder = "encoder" in view.offers
    places = [i for i in range(len(ids)) if i not in hidden or not is_encoder]
    order = places if is_encoder else (*hidden, *places)
    made = patching.with_alike_words(view.handle, view.sentence, ids, tuple(order))
    return next((text for text in made if is_encoder or _turns(view, text)), (*made, "")[0])


def _turns(view: View, text: str) -> bool:
    """Whether another source is translated differently."""
    way, texts = translating.Way(), (view.sentence, text)
    first, second = (translating.written(view.handle, x, way).ids for x in texts)
    return first != second
