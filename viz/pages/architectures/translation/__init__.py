"""Translation: English and German words, three kinds of attention, and what they are worth."""

import numpy as np
import streamlit as st

from model.analysis.language import looks_german
from model.decoding.translation import target_text
from viz import runs
from viz.formulas import parts as formulas
from viz.frame import controls, inspector, layout, settings, state, translating, words
from viz.frame.page import Page
from viz.frame.view import View
from viz.inside_streamlit import unbroken
from viz.labels import visible
from viz.pages import alive
from viz.pages.architectures.translation import alignment, beams, cache, damage, forcing

CLEAR = "as-the-model-writes"


def render(view: View) -> None:
    """Draw the page."""
    if looks_german(view.sentence):
        words.notice(
            "This looks like German, and the model was trained to translate English: what follows "
            "is what it makes of it."
        )
    with layout.beside_heading(), layout.slim_row("decoding"):
        way = controls.select(translating.DECODING, width=190)
    _more_of_writing(view, way)
    alive.show(view)
    written = translating.written(view.handle, view.sentence)
    words.continued(f"{view.sentence} → ", target_text(runs.tokenizer(view.handle), written.ids))
    _inspect(view)
    of_beams = beams.section(view, written)
    fed = forcing.section(view)
    alignment.section(view)
    damage.section(view, written, fed, way)
    cache.section(view, written)
    inspector.export(view, {**inspector.pattern_table(view), **of_beams})


def _more_of_writing(view: View, way: str) -> None:
    """What belongs to how each next token is chosen, and the way back from what a person chose."""
    begun = translating.begun(view.handle, view.sentence)
    with st.container(horizontal=True, vertical_alignment="bottom", key="more-of-writing"):
        if way == "sampling":
            for setting in (settings.TEMPERATURE, settings.TOP_P):
                controls.slider(setting)
            controls.number(settings.SEED)
        if way == "beam":
            controls.number(translating.BEAM_WIDTH)
        if begun:
            n = f"{len(begun)} token{'s' if len(begun) > 1 else ''}"
            st.button(
                f"Forget the {n} that you chose",
                on_click=unbroken(lambda: state.put((settings.FORCED, ()))),
            )


def _inspect(view: View) -> None:
    """The formula of the chosen head, with the numbers of its largest weight."""
    record = view.record
    if record.site.kind == "cross":
        inspector.formula("model.blocks.CrossBlock")
    inspector.attention(record)
    query, key = divmod(int(view.pattern.argmax()), view.pattern.shape[1])
    scores = record.scores[view.head, query].astype(np.float64)
    allowed = scores[record.mask_of(view.head)[query]]
    log_total = float(np.logaddexp.reduce(allowed))
    asker, to = (
        f"{visible(tokens[place])} ({place})"
        for tokens, place in ((view.query_tokens, query), (view.key_tokens, key))
    )
    inspector.beside_formula(lambda: words.pair(asker, to, view.head_name))
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


PAGE = Page(
    "Translation",
    ":material/translate:",
    "Point at a German word: which English words does it attend to?",
    "An encoder runs over the English once; a decoder writes the German token by token and "
    "attends to what it has written and, by cross-attention, to the encoder’s output. Point at "
    "a German word to see what it attends to, and in the list what might have come after it; "
    "choose another token there, and the rest is written on from it.",
    render,
    needs=("translates",),
    shows_heads=True,
    shows_tokens=True,  # larger than the bar would
    opens_inspector=False,
)
