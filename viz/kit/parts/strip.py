"""The model at a glance: what Home draws of a run, in a line that stands above every page."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from model.trace import Stream, Trace
from viz.kit.part import Part
from viz.kit.parts.home import Picture, bands_of, first_vectors
from viz.kit.wire import finite, stream_labels, stream_looks
from viz.labels import signs

IN_LAYERS = {"rope": "RoPE", "alibi": "ALiBi", "none": "none"}  # where nothing is added before
ROWS = (12, 12)  # of a text: as many as can be seen in a map of 22 pixels


def strip_part(
    trace: Trace, given: np.ndarray | None = None, best: tuple[str, float] | None = None
) -> Part:
    """A run in one line: tokens, embedding, a map for each attention layer, what comes out.

    given: (T,), the probability the model gave each token, NaN where it gave none. `best` is the
    most likely next token and its probability.
    """
    picture = Picture(trace, bands_of(trace, -1, ROWS, has_picture=False))
    about, vectors = picture.about({}, ""), first_vectors(picture)
    pattern, mask = picture.squares()
    n_heads = np.array([record.n_heads for record in trace.attention])
    spec = {
        **about,
        "columns": [{**column, "n_heads": 1} for column in about["columns"]],
        "n_heads": n_heads.tolist(),
        "asked": picture.n - 1,
        "tokens": [
            _tokens(stream, is_given=given is not None and stream is trace.main)
            for stream in trace.streams
        ],
        "has_positions": bool(vectors["positions"].any()),
        "position": IN_LAYERS.get(trace.facts.position or "", ""),
        "best": best and {"label": best[0], "given": finite(best[1])},
    }
    arrays = {
        **vectors,
        "pattern": pattern.sum(axis=1) / n_heads[:, None, None].astype(np.float32),
        "mask": mask,
        "given": np.zeros(0, np.float32) if given is None else given.astype(np.float32),
    }
    return Part("strip", spec, {}, arrays, first=[(name, ()) for name in arrays])


def at(part: Part, ways: Mapping[str, str], lit: str, layer: str, told: str = "") -> Part:
    """A strip on a page: where each of its parts leads, the one it is about, the chosen layer.

    `ways` has titles of pages by parts. `told` stands in the place of the tokens.
    """
    return part.saying({**part.spec, "ways": dict(ways), "lit": lit, "layer": layer, "told": told})


def _tokens(stream: Stream, *, is_given: bool) -> dict[str, Any]:
    """The tokens of a stream, whether they were predicted, and what their signs mean."""
    if stream.kind == "patches":
        none = {"labels": [], "looks": None, "is_given": False, "legend": ""}
        return {"called": "patches", **none}
    labels = stream_labels(stream)
    bars = ["bar: predicted probability of this token"] if is_given else []
    legend = "; ".join([*bars, *signs(labels)])
    own = {"labels": labels, "looks": stream_looks(stream)}
    return {"called": "tokens", **own, "is_given": is_given, "legend": legend}
