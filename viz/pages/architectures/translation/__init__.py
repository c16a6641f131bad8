"""Translation: English and German words, three kinds of attention, and what they are worth."""

from typing import Any

import numpy as np

from model.analysis.language import looks_german
from model.decoding.translation import Way, Written
from viz import formulas, runs
from viz.figures.labels import visible
from viz.frame import controls, inspector, layout, notices, settings, state, translating, words
from viz.frame.kinds import Setting
from viz.frame.pairs import pairs
from viz.frame.view import View
from viz.kit.sampling import BOUNDS
from viz.kit.wire import Bounds, Option
from viz.kit.wire import Settings as Chosen
from viz.live import component
from viz.live.pickers.data import Picker
from viz.live.translation.data import Kept, Target, Words, translation_data
from viz.pages.architectures.translation import alignment, beams, cache, damage, forcing

TITLE = "Translation"
ICON = ":material/translate:"
NEEDS = ()
ARCHITECTURE = "encoder_decoder"
SHOWS_TOKENS = True  # larger than the bar would
OPENS_INSPECTOR = False

PAIR = "pair"
IN_THE_INSTRUMENT: tuple[Setting[Any], ...] = (
    settings.SHOWN_HEADS,
    settings.ALIGN_BY,
    settings.DECODE,
    settings.TEMPERATURE,
    settings.TOP_P,
    settings.BEAMS,
    settings.SEED,
)


def render(view: View) -> None:
    """Draw the page."""
    row = layout.heading(
        ICON,
        TITLE,
        "Touch a German word: which English words does it attend to?",
        "An encoder runs over the English once; a decoder writes the German token by token and "
        "attends to what it has written and, by cross-attention, to the encoder’s output. Below a "
        "German word stands its probability, below an English one the weight it gets. Click a "
        "German word to see what else might have come there; choose another token, and the rest is "
        "written on from it.",
    )
    with row:
        _examples()
    if looks_german(view.sentence):
        notices.add(
            "This looks like German, and the model was trained to translate English: what follows "
            "is what it makes of it."
        )
    notices.show()
    way, written = _written(view)
    chosen = _chosen(view, written)
    component.show(_data(view, way, written, chosen), on_change=state.take_over)
    _inspect(view, chosen)
    of_beams = beams.section(view, written)
    of_text, fed = forcing.section(view)
    csv = {
        **inspector.pattern_table(view),
        **of_beams,
        **of_text,
        **alignment.section(view),
        **damage.section(view, written, fed),
        **cache.section(view, written),
    }
    inspector.export(view, csv)


def _written(view: View) -> tuple[Way, Written]:
    return translating.way(view.handle), translating.written(view.handle, view.sentence)


def _examples() -> None:
    """Sentences whose alignment was made by hand."""
    options = [Option(pair.source, pair.source) for pair in pairs()]
    controls.pickers(
        "pickers-pairs",
        Picker(PAIR, "Examples", options, "", placeholder="choose one"),
        on_change=_take_example,
    )


def _take_example(changes: Chosen) -> None:
    source = changes.pop(PAIR, None)
    if source in {pair.source for pair in pairs()}:
        state.put((settings.SOURCE, source))
    state.take_over(changes)


def _chosen(view: View, written: Written) -> Chosen:
    """What is chosen in the instrument, by the names the browser has for it."""
    token = settings.TARGET_TOKEN.given(n=max(1, len(written.ids)))
    state.only_for((view.model, view.sentence), token)
    state.settle_quietly(token)
    shown = {setting.name: state.value(setting) for setting in IN_THE_INSTRUMENT}
    return shown | {
        settings.AT.name: f"{view.attention}.{view.layer}.{view.head}",
        token.name: state.value(token),
        settings.FORCED.name: list(translating.begun(view.handle, view.sentence)),
    }


def _key(view: View, way: Way, written: Written) -> str:
    """Another one when anything but what is chosen of the picture is."""
    drawn = way.sampling
    by = f"{way.beam_width}-{drawn.temperature}-{drawn.top_k}-{drawn.top_p}"
    return f"{view.run.key}-{by}-{len(written.ids)}-{_n_forced(view)}"


def _n_forced(view: View) -> int:
    return len(translating.begun(view.handle, view.sentence))


def _data(view: View, way: Way, written: Written, chosen: Chosen) -> dict[str, object]:
    is_drawn = way.beam_width is None and way.sampling.top_k != 1
    beam = settings.BEAMS
    most = min(beam.high, runs.tokenizer(view.handle).vocab_size)
    bounds = {
        "temperature": BOUNDS["temperature"],
        "top_p": BOUNDS["top_p"],
        "beams": Bounds(beam.low, most, 1),
    }
    return translation_data(
        _key(view, way, written),
        Kept(view.run.trace, view.run.key),
        Target(written.ids, way.sampling if is_drawn else None, _n_forced(view)),
        Words(runs.vocabulary(view.handle), dict(translating.specials(view.handle))),
        chosen,
        bounds,
    )


def _inspect(view: View, chosen: Chosen) -> None:
    """The formula of the chosen head, with the numbers of one of its weights."""
    record = view.record
    name = "model.blocks.CrossBlock" if record.site.kind == "cross" else None
    if name:
        inspector.formula(name)
    inspector.attention(record)
    query = _query(chosen, len(view.pattern))
    key = int(view.pattern[query].argmax())
    scores = record.scores[view.head, query].astype(np.float64)
    allowed = scores[record.mask_of(view.head)[query]]
    log_total = float(np.log(np.exp(allowed - allowed.max()).sum()) + allowed.max())
    inspector.beside_formula(
        lambda: words.pair(
            visible(view.query_tokens[query]), visible(view.key_tokens[key]), view.head_name
        )
    )
    inspector.formula(
        "model.attention.scaled_dot_product",
        formulas.weight_with_numbers(
            float(record.q[view.head, query] @ record.k[record.kv_head(view.head), key]),
            record.q.shape[-1],
            float(scores[key]),
            log_total,
        ),
    )
    inspector.source(
        "model.attention.scaled_dot_product",
        "model.blocks.CrossBlock",
        "model.decoding.translation.write",
    )


def _query(chosen: Chosen, n_queries: int) -> int:
    """The row that belongs to the chosen German token, in a map of any head."""
    token = chosen["target_token"] or 0
    is_input = chosen["align_by"] == "input"
    return min(token + (1 if is_input else 0), n_queries - 1)
