"""Tables as CSV: UTF-8 with a byte-order mark, without which Excel takes it for another code."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from viz.charts.chart import Chart, Row
from viz.charts.table import columns as columns_of
from viz.labels import visible

if TYPE_CHECKING:
    import pandas as pd


def frame(
    columns: Mapping[str, object] | Sequence[Mapping[str, object]], index: object = None
) -> pd.DataFrame:
    """A table of columns by their names, or of rows.

    pandas takes half a second to import, and what people see first has no table.
    """
    return importlib.import_module("pandas").DataFrame(columns, index=index)


def matrix_frame(
    values: np.ndarray | Sequence[Sequence[object]],
    index: Sequence[object] | None = None,
    columns: object = None,
) -> pd.DataFrame:
    """A matrix as a table, its rows and columns named or numbered from 0."""
    return importlib.import_module("pandas").DataFrame(values, index=index, columns=columns)


def whole_numbers(values: Sequence[int | None]) -> pd.Series:
    """A column of whole numbers, empty where there is none."""
    return importlib.import_module("pandas").Series(values, dtype="Int64")


def frame_csv(frame: pd.DataFrame, *, has_index: bool = False) -> bytes:
    """A data frame as CSV, its numbers with the digits of float32, in which the model computes."""
    wide = frame.select_dtypes("float64").columns
    return frame.astype(dict.fromkeys(wide, "float32")).to_csv(index=has_index).encode("utf-8-sig")


def csv(columns: Mapping[str, object] | Sequence[Mapping[str, object]]) -> bytes:
    """A table of columns by their names, or of rows."""
    return frame_csv(frame(columns))


def chart_csv(chart: Chart | Row) -> bytes:
    """The numbers of a chart."""
    return csv(columns_of(chart))


def matrix_csv(
    values: np.ndarray,
    rows: Sequence[object] | None = None,
    columns: object = None,
    corner: str | None = None,
) -> bytes:
    """A matrix, its rows and columns named or numbered from 0; `corner` says what they are."""
    named = matrix_frame(values, rows, columns)
    named.index.name = corner
    return frame_csv(named, has_index=True)


def table_csv(
    values: np.ndarray, rows: Sequence[str], columns: Sequence[str], corner: str
) -> bytes:
    """A matrix with token labels on both sides."""
    return matrix_csv(values, _numbered(rows), _numbered(columns), corner)


def tokens_csv(values: np.ndarray, tokens: Sequence[str]) -> bytes:
    """A matrix (T, T) of a sentence's tokens as queries and as keys."""
    return table_csv(values, tokens, tokens, "query \\ key")


def _numbered(tokens: Sequence[str]) -> list[str]:
    return [f"{i} {visible(token)}" for i, token in enumerate(tokens)]
