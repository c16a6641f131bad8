"""Python imports this at its start where its folder is on the path: it plants the fault named."""

import os
import sys
from pathlib import Path

if chosen := os.environ.get("HEADLIGHT_FAULT"):
    sys.path.insert(0, str(Path(__file__).parents[3]))
    from tests.sabotage.faults import FAULTS
    from tests.sabotage.planting import Planter

    sys.meta_path.insert(0, Planter(FAULTS[int(chosen)]))
