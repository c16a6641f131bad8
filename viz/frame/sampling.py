"""How the next token is drawn, from the settings of this visitor."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar

from model.decoding.filters import GREEDY, Sampling
from viz.frame import settings, state
from viz.frame.kinds import Setting
from viz.frame.settings import MIN_P, ORDER, SEED, TEMPERATURE, TOP_K, TOP_P
from viz.frame.view import View

# Beams have a page of their own.
DECODING = settings.DECODING.given(options=("sampling", "greedy"))
Value = TypeVar("Value")


def drawing(view: View) -> Sampling:
    """How the next token is drawn: greedy, or as the sliders say; with the seed."""
    by_sliders, seed = sliders(view), int(state.number(SEED))
    return replace(GREEDY if is_greedy() else by_sliders, seed=seed)


def is_greedy() -> bool:
    """Whether the most likely token is taken, whatever the sliders say."""
    return state.value(DECODING) == "greedy"


def sampling_of(raw: Mapping[str, object], vocab_size: int) -> Sampling:
    """What the sliders say as the browser sends it: the nearest that is possible, else defaults.

    Needs no session: it is asked for between two runs of a page.
    """
    top_k = _nearest(TOP_K.given(high=vocab_size), raw)
    return Sampling(
        temperature=_nearest(TEMPERATURE, raw) or TEMPERATURE.low,
        top_k=None if top_k is None else int(top_k),
        top_p=_nearest(TOP_P, raw) or TOP_P.low,
        min_p=_nearest(MIN_P, raw) or MIN_P.low,
        order=_nearest(ORDER, raw),
    )


def _nearest(setting: Setting[Value], raw: Mapping[str, object]) -> Value:
    return setting.nearest(raw[setting.name])[0] if setting.name in raw else setting.default


def sliders(view: View) -> Sampling:
    """What the sliders say, from the session or the address."""
    vocab_size = view.config.vocab_size
    chosen: tuple[Any, ...] = (TEMPERATURE, TOP_K.given(high=vocab_size), TOP_P, MIN_P, ORDER)
    return sampling_of({x.name: state.value(x) for x in chosen}, vocab_size)
