"""What the tests of the Positions page share: its tabs, and the properties on them."""

import re

import numpy as np
from streamlit.testing.v1 import AppTest

from tests.viz.apps import TOM, lines, open_page

SCHEMES = ("sinusoidal", "learned", "rope", "alibi", "none")


def open_tab(scheme: str, /, **query: str) -> AppTest:
    """The tab of a scheme, with its model running."""
    return open_page(
        "Positional encoding", **{"model": f"positions-{scheme}", "sentence": TOM} | query
    )


def properties(app: AppTest) -> dict[str, tuple[float, float]]:
    """Max error and bound of each property on the page, all of which must be verified."""
    assert not any("NOT verified" in line for line in lines(app, "error"))
    verified = r"(.*): property verified \(max error (.*), allowed (.*)\)"
    found = [re.fullmatch(verified, x) for x in said(app)]
    return {match[1]: (float(match[2]), float(match[3])) for match in found}


def said(app: AppTest) -> list[str]:
    """The lines of properties that were verified."""
    return lines(app, "good")


def waves(n_positions: int, d_model: int, base: float) -> np.ndarray:
    """Sines and cosines by their definition, (N, D)."""
    angles = np.arange(n_positions)[:, None] / base ** (np.arange(0, d_model, 2) / d_model)
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(n_positions, d_model)


def frequencies(width: int) -> np.ndarray:
    return 10_000 ** (-np.arange(0, width, 2) / width)
