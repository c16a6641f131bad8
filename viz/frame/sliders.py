"""What the sliders of sampling say, as a browser or an address spells it."""

from collections.abc import Mapping
from typing import TypeVar

from model.decoding.filters import Sampling
from viz.frame.kinds import Setting
from viz.frame.settings import MIN_P, ORDER, TEMPERATURE, TOP_K, TOP_P

Value = TypeVar("Value")


def sampling_of(raw: Mapping[str, object], vocab_size: int) -> Sampling:
    """What the sliders say as the browser sends it: the nearest that is possible, else defaults.

    Needs no session: it is asked for between two runs of a page, and where there is no page.
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
