"""What the page of blanks is sent: the sentence, what is hidden of it, and what was predicted."""

import base64
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from model.analysis.probabilities import rank
from model.trace import Trace
from viz.figures.labels import token_labels, told_apart, word_groups
from viz.kit.arrays import encoded, head_address, head_arrays
from viz.kit.sampling import BOUNDS, limits_data
from viz.kit.tiles import MASKED, group_data
from viz.kit.wire import (
    Data,
    Settings,
    bounds_data,
    packed,
    stream_data,
)

CLOZE = "cloze"
NAMED_TOKENS = 8  # bars
MOST_SENT_ALONG = 400_000  # bytes of a map; a larger one is fetched


class Whole(NamedTuple):
    """The sentence as it stands: the ids of its tokens, and their strings."""

    ids: Sequence[int]
    tokens: Sequence[str]


class Kept(NamedTuple):
    """A trace, and the key it is in the store under."""

    trace: Trace
    key: str


def cloze_data(
    kept: Kept,
    whole: Whole,
    vocabulary: Sequence[str],
    settings: Settings,
    hardest: int = -1,
) -> Data:
    """What the browser needs of one sentence.

    settings: {"blanks": places that are hidden, "blank": the one whose distribution is shown, or
    −1, "causal": whether a mask is put on, "at": the head, "temperature" and "top_p"}. hardest: the
    word to try next, −1 for none.
    """
    trace = kept.trace
    shown = settings["blank"]
    labels = token_labels(whole.tokens)
    return {
        "instrument": CLOZE,
        "key": f"{kept.key}-{shown}",
        "arrays_key": kept.key,
        "labels": labels,
        "words": word_groups(whole.tokens),
        "stream": stream_data(trace.main),
        "groups": [group_data(group) for group in trace.groups],
        "found": [_found(trace, whole, place, labels, vocabulary) for place in settings["blanks"]],
        "hardest": hardest,
        "shown": None if shown < 0 else _shown(trace, whole, shown, vocabulary),
        "arrays": _sent_along(trace, kept.key, settings["at"]),
        "tile_codes": {"masked": MASKED},
        **limits_data(),
        "bounds": {name: bounds_data(BOUNDS[name]) for name in ("temperature", "top_p")},
        "settings": settings,
    }


def _found(
    trace: Trace, whole: Whole, place: int, labels: Sequence[str], vocabulary: Sequence[str]
) -> Data:
    """What was predicted in one blank: of the token that stood there, and the most likely one."""
    logits, token = trace.logits[place].astype(np.float64), int(whole.ids[place])
    from_top = logits - logits.max()
    log_total = float(np.log(np.exp(from_top).sum()))
    best = int(logits.argmax())
    return {
        "place": place,
        "id": token,
        "label": labels[place],
        "prob": _finite(float(np.exp(from_top[token] - log_total))),
        "nats": _finite(log_total - float(from_top[token])),
        "rank": rank(logits, token),
        "best": {"id": best, "label": told_apart(vocabulary, (token, best))[best]},
        "best_prob": _finite(float(np.exp(-log_total))),
    }


def _finite(value: float) -> float | None:
    """A number as JSON has it, not rounded: a small probability is more than none."""
    return value if np.isfinite(value) else None


def _shown(trace: Trace, whole: Whole, place: int, vocabulary: Sequence[str]) -> Data:
    """The distribution of one blank: all logits, and by name the most likely and the true one."""
    logits, token = trace.logits[place], int(whole.ids[place])
    leading = [int(i) for i in np.argsort(-logits, kind="stable")[:NAMED_TOKENS]]
    named = leading if token in leading else [*leading, token]
    names = told_apart(vocabulary, named)
    return {
        "place": place,
        "id": token,
        "logits": packed(logits.astype(np.float32)),
        "named": [{"id": i, "label": names[i]} for i in named],
    }


def _sent_along(trace: Trace, key: str, at: str) -> dict[str, str]:
    """The map that is drawn first, by its address, if it is small."""
    name, layer, head = at.rsplit(".", 2)
    record = trace.group(name).records[int(layer)]
    data = encoded(head_arrays(record, int(head)))
    if len(data) > MOST_SENT_ALONG:
        return {}
    address = head_address(key, record.site, int(head))
    return {address: base64.b64encode(data).decode("ascii")}
