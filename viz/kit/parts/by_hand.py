"""What attention by hand is sent: examples to begin with, and the numbers that were chosen."""

from collections.abc import Sequence
from typing import NamedTuple

from model.analysis.worked import LARGEST, MOST_COLUMNS, MOST_HEADS, MOST_ROWS
from viz.kit.part import Part
from viz.kit.wire import Settings

MASKING = {"none": "all keys", "causal": "causal", "valid": "valid length"}


class Given(NamedTuple):
    """An example as a person finds it: what it shows in a line or two, and its settings."""

    name: str
    about: str
    settings: Settings


def by_hand_part(key: str, examples: Sequence[Given], settings: Settings) -> Part:
    """The numbers as the browser takes them.

    settings: cells as `model.analysis.worked.read_cells` reads them, heads, masking, valid and
    scaled.
    """
    spec = {
        "key": key,
        "examples": [example._asdict() for example in examples],
        "maskings": MASKING,
        "most": {
            "rows": MOST_ROWS,
            "columns": MOST_COLUMNS,
            "heads": MOST_HEADS,
            "size": LARGEST,
        },
    }
    return Part("by_hand", spec, settings)
