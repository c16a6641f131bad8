"""The map: the model that runs, in one line above every page, each part a way to another."""

from collections.abc import Collection, Sequence

import numpy as np

from model.sources.offers import missing
from model.trace import Trace
from model.worked_out import softmax
from viz import runs
from viz.frame import ahead
from viz.frame.page import Page
from viz.frame.view import View
from viz.kit.part import Part
from viz.kit.parts import strip
from viz.kit.wire import Settings
from viz.labels import token_labels
from viz.live import component
from viz.runs.kept import kept

# Pages about each part of the model; a part leads to the first of them that applies.
ABOUT = {
    "tokens": ("Tokens",),
    "embed": ("Embeddings and similarity",),
    "positions": ("Positional encoding",),
    "layer": (
        *("Attention", "Heads", "Masks", "Multi-head attention", "Attention by hand"),
        *("Kernels", "Cheaper attention", "KV cache", "Explanation"),
    ),
    "stream": (
        *("Transformer block", "Logit lens"),
        *("Circuit", "Contributions", "Ablation", "Patching"),
    ),
    "end": ("Next token", "Masked language model", "Translation", "Vision", "Beam search"),
}
KEY = "map"
ENDS = {  # what comes out is called so
    "Next token": "next token",
    "Masked language model": "hidden token",
    "Translation": "next token",
    "Vision": "class",
}


def show(view: View, page: Page, pages: Sequence[Page], told: str) -> None:
    """Draw the map of what runs; `told` stands in the place of the tokens, where it is given."""
    about = next((part for part, titles in ABOUT.items() if page.title in titles), "")
    applying = {one.title for one in pages if not missing(one.needs, view.offers)}
    by_part = {part: [x for x in titles if x in applying] for part, titles in ABOUT.items()}
    ways = {part: titles[0] for part, titles in by_part.items() if titles}
    stays = about in ("layer", "stream")
    if stays:
        ways["layer"] = page.title
    if "end" in ways:
        ways["called"] = ENDS[ways["end"]]
    lit = f"{view.attention}.{view.layer}" if stays else ""

    def of_run(run: runs.Run, _text: str = "", _chosen: Settings | None = None) -> Part:
        return strip.at(_part(run.key, view.handle, run), ways, about, lit, told)

    component.show_small(KEY, of_run(view.run))
    if not told:  # which says sizes, as of this run
        ahead.also(KEY, of_run)


@kept
def _part(key: str, handle: runs.ModelHandle, _run: runs.Run) -> Part:
    best = _best(handle, _run.trace, _run.offers)
    return strip.strip_part(_run.trace, runs.predicted(_run), best)


def _best(
    handle: runs.ModelHandle, trace: Trace, offers: Collection[str]
) -> tuple[str, float] | None:
    """The most likely next token and its probability, before all filters."""
    if not {"decoder", "text", "vocabulary", "logits"} <= set(offers):
        return None
    logits = trace.logits[-1].astype(np.float64)
    best = int(logits.argmax())
    (label,) = token_labels([runs.tokenizer(handle).name(best)])
    return label, float(softmax(logits)[best])
