"""How the next token is drawn: the settings that two pages share."""

from dataclasses import asdict, dataclass

from viz.frame import state
from viz.frame.settings import MIN_P, ORDER, TEMPERATURE, TOP_K, TOP_P
from viz.frame.view import View
from viz.runs import Sampling


@dataclass(frozen=True)
class Drawing:
    """The filters and the order in which they are applied."""

    sampling: Sampling
    order: tuple[str, ...]

    def for_browser(self) -> dict[str, object]:
        """The same as the sampler in the browser takes it."""
        return {**asdict(self.sampling), "order": list(self.order)}


def drawing(view: View) -> Drawing:
    """How the next token is drawn, from the session or the address."""
    sampling = Sampling(
        temperature=state.value(TEMPERATURE),
        top_k=state.value(TOP_K.given(high=view.config.vocab_size)),
        top_p=state.value(TOP_P),
        min_p=state.value(MIN_P),
    )
    return Drawing(sampling, state.value(ORDER))
