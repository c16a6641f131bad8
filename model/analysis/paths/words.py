"""Edges in words, as a table and an address have them."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from model.analysis.paths.edges import Exact
from model.analysis.paths.terms import (
    ANSWER,
    HEAD,
    KEY,
    KIND,
    LAYER,
    MLP,
    QUERY,
    WRITER,
)
from model.names import head_name

KINDS = ("q", "k", "v")
PART = re.compile(r"(embedding|head|MLP|answer) -?\d+\.\d+@\d+")
Rows = list[dict[str, Any]]


def rows(exact: Exact, tokens: Sequence[str]) -> Rows:
    """Each edge: who writes, at which token, who reads it, at which token; the largest first."""
    order = np.argsort(-np.abs(exact.exact), kind="stable")
    return [
        {
            "writer": exact.paths.writer_name(edge[WRITER]),
            "at": edge[KEY],
            "token": tokens[edge[KEY]],
            "reader": _reader(edge),
            "query": edge[QUERY],
            "query_token": tokens[edge[QUERY]],
            "effect": float(effect),
        }
        for edge, effect in zip(exact.edges[order].tolist(), exact.exact[order], strict=True)
    ]


def edge_text(edge: Sequence[int]) -> str:
    """An edge as an address has it: its columns, as `terms` names them, with points between."""
    return ".".join(map(str, edge))


def is_part(text: str) -> bool:
    """Whether it names a part at a token, as a click on one does: head 2.3@5."""
    return PART.fullmatch(text) is not None


def _reader(edge: list[int]) -> str:
    if edge[KIND] == ANSWER:
        return "answer"
    if edge[KIND] == MLP:
        return f"MLP {edge[LAYER]}"
    return f"{KINDS[edge[KIND]]} of {head_name(edge[LAYER], edge[HEAD])}"
