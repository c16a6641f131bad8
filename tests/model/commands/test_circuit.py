"""Protects `python -m model circuit`: JSON last, and exact effects."""

from pathlib import Path

import numpy as np
import pytest

from model.analysis.metrics import Metric
from model.analysis.patching import Pair
from model.analysis.paths.edges import Edges, effects
from model.analysis.paths.kept import kept_only
from model.analysis.paths.terms import (
    ANSWER,
    HEAD,
    KEY,
    KIND,
    LAYER,
    MLP,
    QUERY,
    WRITER,
    V,
    paths,
)
from model.commands import circuit
from model.sources import checkpoint
from tests.model.builders import SENTENCE, tiny_checkpoint
from tests.model.conftest import Command

OTHER = SENTENCE.replace("cat", "tat")
ASKED = ("--answer", "t", "--against", "m")


def test_the_last_line_has_edges_their_effects_and_what_circuits_keep(
    tmp_path: Path, command: Command
) -> None:
    folder = tiny_checkpoint(tmp_path / "mine")
    words = ("--text", SENTENCE, "--second", OTHER, *ASKED, "--edges", 7, "--prune")
    answer = command(circuit, "--checkpoint", folder, *words).answer
    loaded = checkpoint.load(folder, "cpu")
    ids, other = (loaded.tokenizer.encode(text) for text in (SENTENCE, OTHER))
    (t,), (m,) = loaded.tokenizer.encode("t"), loaded.tokenizer.encode("m")
    found = paths(Pair(loaded.model, ids, other, Metric("difference", len(ids) - 1, t, m)))
    edges = Edges(found)
    edges.finish()
    assert answer["n_edges"] == edges.n_all
    assert (answer["answer"], answer["against"]) == ("t", "m")
    exact = effects(found, edges.edges[:7])
    order = np.argsort(-np.abs(exact), kind="stable")
    assert [edge["effect"] for edge in answer["edges"]] == pytest.approx(exact[order], abs=1e-6)
    assert any(edge[QUERY] != edge[KEY] for edge in edges.edges[:7])
    for said, edge in zip(answer["edges"], edges.edges[order].tolist(), strict=True):
        assert (said["at"], said["query"]) == (edge[KEY], edge[QUERY])
        assert (said["token"], said["query_token"]) == (SENTENCE[edge[KEY]], SENTENCE[edge[QUERY]])
        assert said["writer"] == found.writer_name(edge[WRITER])
        head = f"{'qkv'[min(edge[KIND], V)]} of L{edge[LAYER]} H{edge[HEAD]}"
        assert said["reader"] == {MLP: f"MLP {edge[LAYER]}", ANSWER: "answer"}.get(edge[KIND], head)
    k, share = list(answer["curve"].items())[-3]
    assert share == pytest.approx(found.share(kept_only(found, edges.edges[: int(k)])), abs=1e-6)
    assert 0.9 <= answer["pruned"]["share"] <= 1.1
    assert 0 < len(answer["pruned"]["edges"]) < edges.n_all
