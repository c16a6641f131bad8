"""Which tokens of the sentence are hidden behind [MASK], from the settings of this visitor."""

from collections.abc import Sequence

from model.sources.handle import ModelHandle
from viz import runs
from viz.frame import state
from viz.frame.kinds import Places
from viz.frame.settings import BLANKS, CAUSAL
from viz.runs import blanks


def first_blank(tokens: Sequence[str]) -> tuple[int, ...]:
    """What is hidden before a person chose: the longest whole word of the first half.

    Not the first, so that it has words on both sides. Of a text without one, the token in the
    middle.
    """
    middle = len(tokens) // 2
    starts = [i for i, token in enumerate(tokens) if _begins(token)]
    whole = [i for i in starts if i + 1 == len(tokens) or not tokens[i + 1][:1].isalnum()]
    candidates = [i for i in whole if 0 < i <= middle] or [min(middle, len(tokens) - 1)]
    return (max(candidates, key=lambda i: (len(tokens[i]), -i)),)


def _begins(token: str) -> bool:
    """Whether a token is letters after a space."""
    return token[:1] == " " and token[1:].isalpha()


def setting(handle: ModelHandle, text: str, *, has_default: bool) -> Places:
    """The blanks of a sentence; with a default only where a page is about them."""
    tokens = blanks.tokens_of(handle, text)
    default = first_blank(tokens) if has_default else ()
    return BLANKS.given(n=len(tokens), default=default)


def run(handle: ModelHandle, text: str, *, is_own_page: bool) -> runs.Run:
    """The sentence with what is hidden of it, under the mask that is chosen on the page Encoder."""
    hidden = state.value(setting(handle, text, has_default=is_own_page))
    is_causal = is_own_page and state.value(CAUSAL)
    if not hidden and not is_causal:
        return runs.run(handle, text)
    return blanks.run_blanked(handle, text, hidden, is_causal)
