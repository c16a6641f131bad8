"""The second input of an experiment, asked for in one way: a word exchanged, or another text.

Nothing is made up: of what nobody chose there is none, but for the pairs that come with the app.
"""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import NamedTuple

import numpy as np

from model.analysis.second import in_form_of
from model.given import Ids, Typed, with_words
from model.lines import quoted
from model.worked_out import softmax
from viz import runs
from viz.digits import digits
from viz.frame import ASSETS, controls, given, layout, notices, state, words
from viz.frame.given import Two
from viz.frame.settings import BLANKS, MODEL, OTHER_DIGIT, SECOND, SENTENCE, SWAP
from viz.frame.view import View
from viz.kit.parts.pickers import Picker
from viz.kit.wire import Option, Settings
from viz.labels import clipped, token_labels, told_apart
from viz.runs import Run, patching

PAIR = "pair"
MOST_OFFERED, MOST_TRIED = 8, 2000  # words for one; tokens that are looked through for them
LONGEST = 24  # characters of a word in a list
ASKS = "Choose a word and what stands in its place, or type a second sentence."


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
            state.put((text, pair.clean), (SECOND, pair.corrupt), (SWAP, None), (MODEL, pair.model))
            if pair.blank is not None:
                state.put((BLANKS, [pair.blank]))


# --- asking -----------------------------------------------------------------------------------


def let_go(view: View) -> None:
    """Of another sentence or model no word is exchanged, until one is chosen again."""
    state.only_for((view.given, view.model), SWAP)
    state.value(SWAP)


def ask(view: View, hidden: Sequence[int] = ()) -> Second | None:
    """What was chosen as the second text, with the controls to choose it; None before that.

    hidden: places that are blank, where no word can be exchanged.
    """
    ids, places = _row(view), _places(view, hidden)
    swap, pair = _swap(view, places), pair_of(view)
    setting = SECOND.given(default=pair.corrupt if pair and swap is None else "")
    if swap and state.value(setting).strip():  # it was typed later
        swap = _without_swap()
    with layout.slim_row("second"):
        if places:
            _draw_word(view, places, swap)
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
    ids, labels = _row(view), token_labels(view.run.trace.streams[0].labels)

    def choose(place: int | None) -> None:
        found = None if place is None else (place, ids[place])
        state.put((SWAP, found), (SECOND, ""))

    controls.listed(
        "Word",
        {place: f"{place}: {clipped(labels[place], LONGEST)}" for place in places},
        swap and swap.place,
        choose,
        placeholder="choose a word",
    )


def _draw_other(view: View, swap: Swap | None) -> None:
    """What may stand in the place of the word, the most likely first, or is typed."""
    own = _row(view)[swap.place] if swap else None

    def choose(token: int | str | None) -> None:
        assert swap is not None and own is not None
        found = _spelled(view, swap.place, token) if isinstance(token, str) else token
        state.put((SWAP, (swap.place, own if found is None else found)), (SECOND, ""))

    controls.listed(
        "In its place",
        _offered(view, swap) if swap else {},
        swap.token if swap and swap.token != own else None,
        choose,
        placeholder="choose or type one" if swap else "",
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
    found = ask(view, fixed)
    if found is None:
        return None
    if isinstance(found, Swap):
        return runs.run_ids(view.handle, found.of(view.ids), first.roles)
    other = runs.run(view.handle, found)
    if other.n_cut:
        notices.add(f"The last {other.n_cut} tokens of the second sentence are cut.")
    return other


# --- both -------------------------------------------------------------------------------------


def both(view: View) -> Two | None:
    """Both inputs of an experiment; None with a line where there is no second, or none that fits.

    They fit where both have as many tokens.
    """
    kind = given.kind_on(view)
    if view.run.trace.main.ids is None:
        digit = controls.maybe(OTHER_DIGIT.given(high=len(given.shipped_digits().labels) - 1))
        if digit is None:
            words.notice("Choose the number of a second test digit.")
        return None if digit is None else kind.two(view, (digit,))
    second = ask(view, kind.hidden(view))
    if second is None:
        words.notice(ASKS)
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
