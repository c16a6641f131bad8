"""The second input of an experiment, asked for in one way: a word exchanged, or another text.

Nothing is made up: of what nobody chose there is none, but for the pairs that come with the app.
"""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import NamedTuple
from urllib.parse import urlencode

import numpy as np
from streamlit.delta_generator import DeltaGenerator

from model.analysis.second import in_form_of
from model.given import Ids, Typed, with_words
from model.lines import quoted
from model.worked_out import softmax
from viz import runs
from viz.digits import digits
from viz.frame import ASSETS, controls, given, layout, notices, state, words
from viz.frame.given import Two
from viz.frame.settings import BLANKS, MODEL, OTHER_DIGIT, PAGE, SECOND, SENTENCE, SWAP
from viz.frame.view import View
from viz.kit.parts.pickers import Picker
from viz.kit.wire import Option, Settings
from viz.labels import clipped, token_labels, told_apart
from viz.runs import Run, patching

MOST_OFFERED, MOST_TRIED = 8, 2000  # words for one; tokens that are looked through for them
LONGEST = 24  # characters of a word in a list
ASKS = "Choose a word above and what stands in its place, or type a second sentence."


class Swap(NamedTuple):
    """Another token at one place of the input's first row."""

    place: int
    token: int

    def of(self, ids: Ids) -> Ids:
        """The ids with it."""
        return (*ids[: self.place], self.token, *ids[self.place + 1 :])


Second = Typed | Swap


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
    here = (view.given, view.model)
    return next((pair for pair in pairs() if (pair.clean, pair.model) == here), None)


def offer_pairs(page: str, architecture: str = "") -> None:
    """The pairs to begin with on a page, all or those for a kind of model, and what each shows."""
    offered = [x for x in pairs() if architecture in ("", runs.architecture_of(x.model))]
    words.caption("Or open a pair that comes with the app, each with its own model:")
    words.ways(words.Way(x.title, f"{x.shows}.", query=_address(x, page)) for x in offered)


def _address(pair: Pair, page: str) -> str:
    text = given.kind_of(runs.architecture_of(pair.model)).text or SENTENCE
    settings = {PAGE: page, MODEL: pair.model, text: pair.clean, SECOND: pair.corrupt}
    settings |= {} if pair.blank is None else {BLANKS: pair.blank}
    return "?" + urlencode({setting.name: value for setting, value in settings.items()})


# --- asking -----------------------------------------------------------------------------------


def let_go(view: View) -> None:
    """Of another sentence or model no word is exchanged, until one is chosen again."""
    state.only_for((view.given, view.model), SWAP)
    state.value(SWAP)


def row() -> DeltaGenerator:
    """Where it is asked for; what else is asked may stand beside it."""
    return layout.slim_row("second")


def ask(view: View, place: DeltaGenerator, hidden: Sequence[int] = ()) -> Second | None:
    """What was chosen as the second text, with the controls to choose it; None before that.

    place: a `row`. hidden: places that are blank, where no word can be exchanged.
    """
    ids, places = _row(view), _places(view, hidden)
    swap, pair = _swap(view, places), pair_of(view)
    setting = SECOND.given(default=pair.corrupt if pair and swap is None else "")
    if swap and state.value(setting).strip():  # it was typed later
        swap = _without_swap()
    with place:
        if places:
            _draw_word(view, places, swap)
        if swap:
            _draw_other(view, swap)
        text = controls.text(setting, placeholder="or type a second sentence")
    if text.strip():
        return with_words(view.given, text)
    return swap if swap and swap.token != ids[swap.place] else None


def _row(view: View) -> Ids:
    """The row in which a word is exchanged; of a translation the source."""
    found = view.run.trace.streams[0].ids
    return () if found is None else tuple(found.tolist())


def _places(view: View, hidden: Sequence[int]) -> list[int]:
    """Where a token can be exchanged: all that a person wrote, no special token."""
    if not {"vocabulary", "answers"} <= view.offers:
        return []
    special, roles = runs.tokenizer(view.handle).special_ids, view.run.trace.main.roles
    left_out = {*hidden, *(i for i, role in enumerate(roles) if role == "template")}
    return [i for i, token in enumerate(_row(view)) if i not in left_out and token not in special]


def _swap(view: View, places: Sequence[int]) -> Swap | None:
    """The exchange that was chosen; of one that is none here, a line."""
    chosen = state.value(SWAP)
    if chosen is None:
        return None
    swap, tokenizer = Swap(*chosen), runs.tokenizer(view.handle)
    is_token = swap.token < tokenizer.vocab_size and swap.token not in tokenizer.special_ids
    if swap.place in places and is_token:
        return swap
    text = SWAP.text(chosen)
    notices.add(f"{SWAP.label} {text}: no such word can be exchanged here; choose one.")
    return _without_swap()


def _without_swap() -> None:
    state.put((SWAP, None))
    state.value(SWAP)


def _draw_word(view: View, places: Sequence[int], swap: Swap | None) -> None:
    """The words of the text side by side: one of them is pressed, and pressed again let go."""
    ids, labels = _row(view), token_labels(view.run.trace.streams[0].labels)
    by_name = {str(place): place for place in places}

    def choose(changes: Settings) -> None:
        place = by_name.get(str(changes.get(SWAP.name)))
        state.put((SWAP, None if place is None else (place, ids[place])), (SECOND, ""))

    options = [Option(name, labels[place]) for name, place in by_name.items()]
    chosen = "" if swap is None else str(swap.place)
    row = Picker(SWAP.name, "Exchange the word", options, chosen, is_row=True)
    controls.pickers("pickers-word", row, on_change=choose)


def _draw_other(view: View, swap: Swap) -> None:
    """What may stand in the place of the word, the most likely first, or is typed."""
    own = _row(view)[swap.place]

    def choose(token: int | str | None) -> None:
        found = _spelled(view, swap.place, token) if isinstance(token, str) else token
        state.put((SWAP, (swap.place, own if found is None else found)), (SECOND, ""))

    controls.listed(
        "In its place",
        _offered(view, swap),
        swap.token if swap.token != own else None,
        choose,
        placeholder="choose or type one",
        takes_new=True,
    )


def _offered(view: View, swap: Swap) -> dict[int, str]:
    """Words for the one at a place, by token, and what is in each one's place if it was typed.

    Each with its probability there; where a model says none, those with the most alike embedding.
    """
    own, tokenizer = _row(view)[swap.place], runs.tokenizer(view.handle)
    logits = given.kind_on(view).likely(view, swap.place)
    if logits is None:
        order, said = patching.alike(view.handle, own), "alike"
    else:
        order, said = np.argsort(-logits, kind="stable").tolist(), ""
    found = [*islice(in_form_of(tokenizer, own, order[:MOST_TRIED]), MOST_OFFERED)]
    found += [swap.token] * (swap.token not in (own, *found))
    names = told_apart(runs.vocabulary(view.handle), found)
    p = None if logits is None else softmax(logits.astype(np.float64))
    return {
        i: f"{clipped(name, LONGEST)} · {said if p is None else digits(float(p[i]), 2)}"
        for i, name in names.items()
    }


def _spelled(view: View, place: int, word: str) -> int | None:
    """The token of a word that was typed; None with a line where it is not one token."""
    tokenizer, ids = runs.tokenizer(view.handle), _row(view)
    space = " " if tokenizer.name(ids[place])[:1] == " " else ""
    ways = [tokenizer.encode(f"{before}{word.strip()}") for before in (space, "")]
    ways = [[i for i in way if i not in tokenizer.special_ids] for way in ways]
    shortest = min(ways, key=len)
    if len(shortest) == 1:
        return shortest[0]
    n, n_new = len(ids), len(shortest)
    notices.add(
        f"“{quoted(word)}” is {n_new} tokens: the sentences would have {n} and {n - 1 + n_new}. "
        "Type a word of one token."
    )
    return None


def run(view: View) -> Run | None:
    """The run on the second prompt that is chosen, with the controls to choose it."""
    first = view.run.trace.streams[0]
    fixed = range(len(first)) if len(view.run.trace.streams) > 1 else ()  # a source alone is typed
    found = ask(view, row(), fixed)
    if found is None:
        return None
    if isinstance(found, Swap):
        return runs.run_ids(view.handle, found.of(view.ids), first.roles)
    other = runs.run(view.handle, found)
    if other.n_cut:
        notices.add(f"The last {other.n_cut} tokens of the second sentence are cut.")
    return other


# --- both -------------------------------------------------------------------------------------


def both(view: View, place: DeltaGenerator, promise: str) -> Two | None:
    """Both inputs of an experiment; None with a line where there is no second, or none that fits.

    They fit where both have as many tokens. place: a `row`; promise: a sentence, what is seen then.
    """
    kind = given.kind_on(view)
    if view.run.trace.main.ids is None:
        with place:
            high = len(given.shipped_digits().labels) - 1
            digit = controls.maybe(OTHER_DIGIT.given(high=high))
        if digit is None:
            words.notice("Choose the number of a second test digit.")
        return None if digit is None else kind.two(view, (digit,))
    second = ask(view, place, kind.hidden(view))
    if second is None:
        words.notice(f"{ASKS} {promise}")
        return None
    ids = second.of(_row(view)) if isinstance(second, Swap) else kind.read(view, second)
    try:
        return kind.two(view, ids)
    except ValueError as error:
        strings = runs.tokenizer(view.handle).token_strings
        draw_rows(strings(_row(view)), strings(ids))
        words.notice(f"{error}.")
        return None


def draw_rows(first: Sequence[str], second: Sequence[str], more: str = "") -> None:
    """The tokens of both, what differs framed, and how many there are."""
    words.token_pairs(("first", "second"), first, second)
    words.caption(f"{len(first)} tokens and {len(second)}. {more}".strip())


def in_address() -> dict[str, str]:
    """What an address says to have the same second text."""
    address = state.visit().address
    return {one.name: address[one.name] for one in (SECOND, SWAP) if one.name in address}
