"""What the mask editor is sent: one head under an edited mask, and what the model says next."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from model.names import head_name
from model.trace import Site, Trace
from viz.kit.part import Part
from viz.kit.wire import Settings, finite, stream_data


@dataclass(frozen=True)
class NextTokens:
    """What comes next: each token's label, its probability before the edits and with them."""

    title: str
    bars: Sequence[tuple[str, float, float]]


def mask_editor_part(
    trace: Trace,
    key: str,
    site: Site,
    head: int,
    base: np.ndarray,
    next_tokens: NextTokens,
    settings: Settings,
) -> Part:
    """One head of a run under an edited mask, and what the run says next.

    `key` is new when anything but the edits changed. base: (T, T) bool, the mask before them;
    `trace` ran under the mask with them. `settings["edits"]` names the cells that differ: 3-1.5-2.
    """
    record = trace.record(site)
    spec = {
        "key": key,
        "head": head_name(site.layer, head),
        "stream": stream_data(trace.stream(record.queries)),
        "bars": [
            {"label": label, "before": finite(before), "after": finite(after)}
            for label, before, after in next_tokens.bars
        ],
        "bars_title": next_tokens.title,
    }
    masks = {"mask": record.mask_of(head), "base": base}
    return Part("mask_editor", spec, settings, {"pattern": record.pattern[head], **masks})
