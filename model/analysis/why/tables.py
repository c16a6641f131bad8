"""A cell's sums as rows: of a table in a notebook, and of what the command prints."""

from typing import Any

import numpy as np

from model.analysis.why.reasons import KINDS, SIDES, Cell
from model.analysis.writers import Writer

TOKENS = ("query_token", "key_token")  # columns of whole numbers, with none where it is of no word
Rows = list[dict[str, Any]]


def kind_rows(cell: Cell) -> Rows:
    """The four kinds of the score, and the weight that is left without each."""
    return [
        {
            "kind": kind,
            "score": cell.kinds[kind],
            "weight_without": float(cell.without_kind(kind)[cell.key]),
        }
        for kind in KINDS
    ]


def word_rows(cell: Cell, most: int | None = None) -> Rows:
    """Each word in the query with each in the key, the largest scores first.

    What is of no word, positions, biases and what cross-attention brought, has no token number.
    """
    row, centred = cell.words, cell.against(cell.words.terms)
    order = np.argsort(-np.abs(centred), axis=None, kind="stable")[:most]
    pairs = zip(*(axis.tolist() for axis in np.unravel_index(order, centred.shape)), strict=True)
    record = cell.of.record
    return [
        {
            "query": _said(cell, record.queries, row.asking[a]),
            "query_token": _token(row.asking[a]),
            "key": _said(cell, record.keys, row.asked[b]),
            "key_token": _token(row.asked[b]),
            "score": float(centred[a, b]),
            "weight_without": float(row.without(a, b)[cell.key]),
        }
        for a, b in pairs
    ]


def writer_rows(cell: Cell, most: int | None = None) -> Rows:
    """Who wrote the query and who wrote the key, each with the whole of the other side."""
    rows = [
        {
            "side": name,
            "writer": writer.name,
            "score": float(score),
            "weight_without": float(side.without(number)[cell.key]),
        }
        for name, side in zip(SIDES, cell.writers, strict=True)
        for number, (writer, score) in enumerate(
            zip(side.writers, cell.against(side.terms), strict=True)
        )
    ]
    return sorted(rows, key=lambda row: -abs(row["score"]))[:most]


def number_of(side: tuple[Writer, ...], asked: int | str) -> int:
    """A word by its token, or a writer by its name; ValueError, which names some, for neither."""
    for number, writer in enumerate(side):
        is_word = isinstance(asked, int) and writer.kind == "word" and writer.token == asked
        if is_word or writer.name == asked:
            return number
    known = ", ".join(dict.fromkeys(one.name for one in side if one.kind != "word"))
    raise ValueError(f"{asked!r} is no writer there; give the number of a token, or one of {known}")


def _said(cell: Cell, stream: str, writer: Writer) -> str:
    is_word = writer.kind == "word"
    return cell.reasons.trace.stream(stream).labels[writer.token] if is_word else writer.name


def _token(writer: Writer) -> int | None:
    return writer.token if writer.kind == "word" else None
