"""How a translation is written, from the settings of this visitor."""

from model.data.tokenizer import START_OF_TEXT
from model.decoding.filters import Sampling
from model.decoding.translation import Way, Written
from model.sources.handle import ModelHandle
from viz import runs
from viz.frame import settings, state
from viz.frame.settings import FORCED, SEED, TEMPERATURE, TOP_P
from viz.runs import translating

DECODING = settings.DECODING.given(default="greedy")
BEAM_WIDTH = settings.BEAM_WIDTH.given(default=5, low=2)


def way() -> Way:
    """Greedy, drawn by temperature and top-p, or by beams."""
    chosen, seed = state.value(DECODING), int(state.number(SEED))
    temperature, top_p = state.number(TEMPERATURE), state.number(TOP_P)
    width = int(state.number(BEAM_WIDTH))
    if chosen == "beam":
        return Way(beam_width=width)
    if chosen == "greedy":
        return Way()
    return Way(Sampling(temperature=temperature, top_p=top_p, seed=seed))


def begun(handle: ModelHandle, text: str) -> tuple[int, ...]:
    """The ids a person wants at the beginning of the target; they belong to one source."""
    state.only_for((handle.spelled, text), FORCED)
    context = translating.translator(handle).config.max_seq_len
    vocab_size = runs.tokenizer(handle).vocab_size
    return state.value(FORCED.given(n=vocab_size, most=context - 1))


def written(handle: ModelHandle, text: str) -> Written:
    """What the model writes of a source, as it is to be written."""
    return translating.written(handle, text, way(), begun(handle, text))


def specials(handle: ModelHandle) -> tuple[tuple[int, str], ...]:
    """The ids that begin and end a translation, and what they mean."""
    tokenizer = runs.tokenizer(handle)
    return (tokenizer.end_id, "⟨end⟩"), (tokenizer.id_of(START_OF_TEXT), "⟨start⟩")
