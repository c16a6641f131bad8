"""Edges in words, as a table has them."""

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


def _reader(edge: list[int]) -> str:
    if edge[KIND] == ANSWER:
        return "answer"
    if edge[KIND] == MLP:
        return f"MLP {edge[LAYER]}"
    return f"{KINDS[edge[KIND]]} of {head_name(edge[LAYER], edge[HEAD])}"
