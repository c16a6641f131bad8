"""Edges in words, as a table has them."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from model.analysis.paths.terms import (
    ANSWER,
    HEAD,
    KEY,
    KIND,
    LAYER,
    MLP,
    QUERY,
    WRITER,
    Paths,
)

KINDS = ("q", "k", "v")
Rows = list[dict[str, Any]]


def rows(paths: Paths, edges: np.ndarray, effects: np.ndarray, tokens: Sequence[str]) -> Rows:
    """Each edge: who writes, at which token, who reads it, at which token, and its effect."""
    return [
        {
            "writer": paths.writer_name(edge[WRITER]),
            "at": edge[KEY],
            "token": tokens[edge[KEY]],
            "reader": _reader(edge),
            "query": edge[QUERY],
            "query_token": tokens[edge[QUERY]],
            "effect": float(effect),
        }
        for edge, effect in zip(edges.tolist(), effects, strict=True)
    ]


def _reader(edge: list[int]) -> str:
    if edge[KIND] == ANSWER:
        return "answer"
    if edge[KIND] == MLP:
        return f"MLP {edge[LAYER]}"
    return f"{KINDS[edge[KIND]]} of L{edge[LAYER]} H{edge[HEAD]}"
