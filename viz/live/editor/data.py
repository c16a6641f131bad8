"""What the editor is sent: one head under an edited mask, and what the model says next."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from model.trace import Site, Trace
from viz.live.core.wire import ALLOWED_ERROR, Data, Settings, finite, packed, stream_data

EDITOR = "editor"
FIGURE = "mask editor"  # what the browser calls what it reads back


@dataclass(frozen=True)
class NextTokens:
    """What comes next: each token's label, its probability before the edits and with them.

    `ids` are those of the bars, `position` the token they come after. `runs` are the keys of the
    runs before the edits and with them, empty where nothing is to be compared.
    """

    title: str
    bars: Sequence[tuple[str, float, float]]
    ids: Sequence[int] = ()
    position: int = 0
    runs: tuple[str, str] = ("", "")


def editor_data(
    trace: Trace,
    key: str,
    site: Site,
    head: int,
    base: np.ndarray,
    next_tokens: NextTokens,
    settings: Settings,
) -> Data:
    """One head of a run under an edited mask, and what the run says next.

    `key` is new when anything but the edits changed. base: (T, T) bool, the mask before them;
    `trace` ran under the mask with them. `settings["edits"]` names the cells that differ: 3-1.5-2.
    """
    record = trace.record(site)
    return {
        "instrument": EDITOR,
        "key": key,
        "head": f"L{site.layer} H{head}",
        "stream": stream_data(trace.stream(record.queries)),
        "pattern": packed(record.pattern[head].astype(np.float32)),
        "mask": packed(record.mask_of(head).astype(np.uint8)),
        "base": packed(base.astype(np.uint8)),
        "site": site.address,
        "head_number": head,
        "base_run": next_tokens.runs[0],
        "run": next_tokens.runs[1],
        "position": next_tokens.position,
        "ids": list(next_tokens.ids),
        "allowed_error": ALLOWED_ERROR,
        "bars": [
            {"label": label, "before": finite(before), "after": finite(after)}
            for label, before, after in next_tokens.bars
        ],
        "bars_title": next_tokens.title,
        "settings": settings,
    }
