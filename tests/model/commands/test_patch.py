"""Protects `python -m model patch`: JSON last, every cell a run, each refusal one line."""

import json
from pathlib import Path

import numpy as np
import pytest

from model.analysis.metrics import Metric
from model.analysis.patching import GRIDS, Pair, begin, pieces
from model.commands import patch
from model.sources import checkpoint
from tests.model.builders import SENTENCE, tiny_checkpoint, tiny_translation_checkpoint
from tests.model.conftest import Command

OTHER = SENTENCE.replace("cat", "tat")


def test_the_last_line_has_every_grid(tmp_path: Path, command: Command) -> None:
    folder = tiny_checkpoint(tmp_path / "mine")
    asked = ("--answer", "t", "--against", "m", "--into", "first", "--metric", "logit")
    result = command(patch, "--checkpoint", folder, "--text", SENTENCE, "--second", OTHER, *asked)
    assert (result.code, result.err) == (0, [])
    answer = json.loads(result.out[-1])
    loaded = checkpoint.load(folder, "cpu")
    ids, other = (loaded.tokenizer.encode(text) for text in (SENTENCE, OTHER))
    (t,), (m,) = loaded.tokenizer.encode("t"), loaded.tokenizer.encode("m")
    pair = Pair(loaded.decoder, ids, other, Metric("logit", len(ids) - 1, t, m))
    found = begin(pair)
    for piece in pieces(pair, found.kept):
        found.take(piece)
    for name in GRIDS:
        np.testing.assert_allclose(answer["grids"][name], found.values[name], atol=1e-5)
        shares = found.kept.restored(found.values[name])
        np.testing.assert_allclose(answer["put_back"][name], shares, rtol=1e-3, atol=1e-5)
        assert -1 <= answer["correlation_with_estimate"][name] <= 1
    assert (answer["answer"], answer["against"], answer["into"]) == ("t", "m", "first")
    assert answer["of_base"] == pytest.approx(found.kept.of_base, abs=1e-6)


def test_each_refusal_is_one_line(tmp_path: Path, command: Command) -> None:
    folder = tiny_checkpoint(tmp_path / "mine")
    given = ("--checkpoint", folder, "--text", SENTENCE, "--second")
    for arguments, said in (
        ((*given, "the cat"), "they part at “␣” and the end"),
        ((*given, ""), "the text has 0 tokens; give 1 to 23"),
        ((*given, OTHER, "--answer", "cats"), "“cats” has 4 tokens; give an answer of one"),
    ):
        result = command(patch, *arguments)
        assert result.code == 2
        (line,) = result.err
        assert said in line
    other = tiny_translation_checkpoint(tmp_path / "other")
    result = command(patch, "--checkpoint", other, "--text", "ab", "--second", "ba")
    assert result.code == 2
    assert "this needs a decoder" in result.err[0]
