"""How the next token is drawn: the settings that two pages share."""

from dataclasses import asdict

from model.decoding.filters import Sampling
from viz.frame import state
from viz.frame.settings import MIN_P, ORDER, TEMPERATURE, TOP_K, TOP_P
from viz.frame.view import View


def for_browser(sampling: Sampling) -> dict[str, object]:
    """How the next token is drawn, as the sampler in the browser takes it."""
    settings = asdict(sampling)
    del settings["seed"]  # the sampler draws nothing
    return {**settings, "order": list(sampling.order)}


def drawing(view: View) -> Sampling:
    """How the next token is drawn, from the session or the address."""
    top_k = state.value(TOP_K.given(high=view.config.vocab_size))
    return Sampling(
        temperature=state.number(TEMPERATURE),
        top_k=None if top_k is None else int(top_k),
        top_p=state.number(TOP_P),
        min_p=state.number(MIN_P),
        order=state.value(ORDER),
    )
