"""Tables as CSV: UTF-8 with a byte-order mark, without which Excel takes it for another code."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from viz.figures.labels import visible


def frame_csv(frame: pd.DataFrame, *, has_index: bool = False) -> bytes:
    """A data frame as CSV."""
    return frame.to_csv(index=has_index).encode("utf-8-sig")


def numbers_csv(values: np.ndarray, corner: str) -> bytes:
    """A matrix, rows and columns numbered from 0."""
    frame = pd.DataFrame(values)
    frame.index.name = corner
    return frame_csv(frame, has_index=True)


def table_csv(
    values: np.ndarray, rows: Sequence[str], columns: Sequence[str], corner: str
) -> bytes:
    """A matrix with token labels on both sides."""
    frame = pd.DataFrame(values, index=_numbered(rows), columns=_numbered(columns))
    frame.index.name = corner
    return frame_csv(frame, has_index=True)


def tokens_csv(values: np.ndarray, tokens: Sequence[str]) -> bytes:
    """A matrix (T, T) of a sentence's tokens as queries and as keys."""
    return table_csv(values, tokens, tokens, "query \\ key")


def _numbered(tokens: Sequence[str]) -> list[str]:
    return [f"{i} {visible(token)}" for i, token in enumerate(tokens)]
