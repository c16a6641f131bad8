"""The model at a glance: what Home draws of a run, in a line that stands above every page."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from model.trace import Stream, Trace
from viz.kit.part import Part
from viz.kit.parts.home import Picture, bands_of, first_vectors
from viz.kit.tiles import tile_bytes
from viz.kit.wire import finite, packed, stream_labels
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
    spec = {
        **about,
        "columns": [{**column, "n_heads": 1} for column in about["columns"]],
        "n_heads": [record.n_heads for record in trace.attention],
        "asked": picture.n - 1,
        "tokens": [
            _tokens(stream, given if stream is trace.main else None) for stream in trace.streams
        ],
        "has_positions": bool(vectors["positions"].any()),
        "position": IN_LAYERS.get(trace.facts.position or "", ""),
        "best": best and {"label": best[0], "given": finite(best[1])},
        "maps": packed(_maps(picture)),
        **{name: packed(_signed(of)) for name, of in vectors.items()},
    }
    return Part("strip", spec, {})


def at(part: Part, ways: Mapping[str, str], lit: str, layer: str, told: str = "") -> Part:
    """A strip on a page: where each of its parts leads, the one it is about, the chosen layer.

    `ways` has titles of pages by parts. `told` stands in the place of the tokens.
    """
    return part.saying({**part.spec, "ways": dict(ways), "lit": lit, "layer": layer, "told": told})


def _tokens(stream: Stream, given: np.ndarray | None) -> dict[str, Any]:
    """The tokens of a stream, what was predicted of them, and what their signs mean."""
    if stream.kind == "patches":
        return {"called": "patches", "labels": [], "given": None, "legend": ""}
    labels = stream_labels(stream)
    bars = [] if given is None else ["bar: predicted probability of this token"]
    shares = None if given is None else [finite(value) for value in given]
    legend = "; ".join([*bars, *signs(labels)])
    return {"called": "tokens", "labels": labels, "given": shares, "legend": legend}


def _maps(picture: Picture) -> np.ndarray:
    """The mean of each layer’s heads, (C, N, N), as `tile_bytes` has it."""
    pattern, mask = picture.squares()
    n_heads = np.array([record.n_heads for record in picture.trace.attention])
    return tile_bytes(pattern.sum(axis=1) / n_heads[:, None, None], mask)


def _signed(values: np.ndarray) -> np.ndarray:
    """Numbers as whole shares of the largest, −127 to 127; none where there is nothing."""
    most = np.abs(np.nan_to_num(values)).max(initial=0)
    return np.round(127 * np.nan_to_num(values) / most if most else values).astype(np.int8)
