"""Which tokens of the sentence are hidden behind [MASK], from the settings of this visitor."""

from collections.abc import Sequence

from model.analysis.blanks import InTurn
from model.sources.handle import ModelHandle
from viz import runs
from viz.frame import state
from viz.frame.kinds import Places
from viz.frame.settings import BLANK, BLANKS, CAUSAL
from viz.runs import blanks


def first_blank(tokens: Sequence[str]) -> tuple[int, ...]:
    """The longest whole word of the first half, with words on both sides.

    Of a text without one, the token in the middle.
    """
    middle = len(tokens) // 2
    candidates = [i for i in _between(tokens) if i <= middle] or [min(middle, len(tokens) - 1)]
    return (_longest(tokens, candidates),)


def _found_first(tokens: Sequence[str], in_turn: InTurn) -> tuple[int, ...]:
    """What is hidden before a person chose: the longest word that the model finds then.

    Where it finds none, as `first_blank`.
    """
    right = [i for i in _between(tokens) if i < len(in_turn.is_found) and in_turn.is_found[i]]
    return (_longest(tokens, right),) if right else first_blank(tokens)


def hardest(tokens: Sequence[str], in_turn: InTurn) -> int:
    """The word that the model finds least when it is hidden; −1 where it finds every one."""
    missed = [i for i in _between(tokens) if i < len(in_turn.is_found) and not in_turn.is_found[i]]
    return max(missed, key=lambda i: float(in_turn.losses[i]), default=-1)


def _between(tokens: Sequence[str]) -> list[int]:
    """Tokens that are whole words, letters after a space, with something before and after them."""
    return [
        i
        for i, token in enumerate(tokens[:-1])
        if i and token[:1] == " " and token[1:].isalpha() and not tokens[i + 1][:1].isalnum()
    ]


def _longest(tokens: Sequence[str], places: Sequence[int]) -> int:
    return max(places, key=lambda i: (len(tokens[i]), -i))


def setting(handle: ModelHandle, text: str, *, has_default: bool) -> Places:
    """The blanks of a sentence; with a default only where a page is about them."""
    tokens = blanks.tokens_of(handle, text)
    default = _found_first(tokens, blanks.in_turn(handle, text)) if has_default else ()
    return BLANKS.given(n=len(tokens), default=default)


def chosen(handle: ModelHandle, text: str) -> tuple[tuple[int, ...], int]:
    """The hidden places, and the one whose answer is shown: the last, until another is chosen.

    Where nothing is hidden, the place is −1.
    """
    places = state.value(setting(handle, text, has_default=True))
    options = places or (-1,)
    shown = BLANK.given(options=options, default=options[-1], follows=True)
    state.settle_quietly(shown)
    return places, state.value(shown)


def run(handle: ModelHandle, text: str, page: str) -> runs.Run:
    """The sentence with what is hidden of it, on a page that is about that with something hidden.

    Under the mask that may be chosen there.
    """
    has_mask = page == CAUSAL.page
    has_default = has_mask or page == "Home"
    hidden = state.value(setting(handle, text, has_default=has_default))
    is_causal = has_mask and state.value(CAUSAL)
    if not hidden and not is_causal:
        return runs.run(handle, text)
    return blanks.run_blanked(handle, text, hidden, is_causal)
