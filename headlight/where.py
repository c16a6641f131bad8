"""Where the rest of Headlight lies: beside this package in a clone, inside it where pip put it."""

import sys
from pathlib import Path

INSIDE = Path(__file__).parent / "house"
HOUSE = INSIDE if INSIDE.is_dir() else Path(__file__).parents[1]


def enter() -> None:
    """Have its packages found, before a `model.py` of somebody else's that may lie around."""
    if str(HOUSE) not in sys.path:
        sys.path.insert(0, str(HOUSE))
