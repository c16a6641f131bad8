"""How the next token is drawn, from the settings of this visitor."""

from dataclasses import replace
from typing import Any

from model.decoding.filters import GREEDY, Sampling
from viz.frame import settings, state
from viz.frame.settings import MIN_P, ORDER, SEED, TEMPERATURE, TOP_K, TOP_P
from viz.frame.sliders import sampling_of
from viz.frame.view import View

# Beams have a page of their own.
DECODING = settings.DECODING.given(options=("sampling", "greedy"))


def drawing(view: View) -> Sampling:
    """How the next token is drawn: greedy, or as the sliders say; with the seed."""
    by_sliders, seed = sliders(view), int(state.number(SEED))
    return replace(GREEDY if is_greedy() else by_sliders, seed=seed)


def is_greedy() -> bool:
    """Whether the most likely token is taken, whatever the sliders say."""
    return state.value(DECODING) == "greedy"


def sliders(view: View) -> Sampling:
    """What the sliders say, from the session or the address."""
    vocab_size = view.config.vocab_size
    chosen: tuple[Any, ...] = (TEMPERATURE, TOP_K.given(high=vocab_size), TOP_P, MIN_P, ORDER)
    return sampling_of({x.name: state.value(x) for x in chosen}, vocab_size)
