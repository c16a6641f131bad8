"""Protects `python -m model trace`: it writes the published format, true by another's numpy."""

import json
import re
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from model.commands import trace
from model.commands.cli import trace_text
from model.sources import checkpoint
from model.sources.recorded import REPRODUCED
from model.verify.independent import check_independently
from model.verify.records import ATTENTION_CHECKS
from tests.model.builders import GROUPED, SENTENCE, softmax, tiny_checkpoint
from tests.model.conftest import Command


def read_npz(path: Path | BytesIO) -> dict[str, np.ndarray]:
    """The arrays of an archive; nothing is unpickled."""
    with np.load(path, allow_pickle=False) as archive:
        return dict(archive)


@pytest.mark.parametrize("position", ["sinusoidal", "rope", "alibi"])
def test_archive_recomputed_in_float64(position: str, tmp_path: Path, command: Command) -> None:
    folder, out = tiny_checkpoint(tmp_path / "c", **GROUPED, position=position), tmp_path / "t.npz"
    result = command(trace, "--checkpoint", folder, "--text", SENTENCE, "--out", out)
    assert (result.code, result.err) == (0, [])
    x = read_npz(out)
    assert "".join(x["decoder.labels"]) == SENTENCE
    start = x["decoder.embed"] + x["decoder.positions"]
    np.testing.assert_array_equal(start, x["decoder.blocks.0.resid_pre"])
    for layer in range(2):
        block = inside(x, f"decoder.blocks.{layer}.")
        attn = inside(block, "attn.")
        q, k = attn["q"].astype(np.float64), np.repeat(attn["k"].astype(np.float64), 3, axis=0)
        scores = q @ k.swapaxes(1, 2) / np.sqrt(6) + attn.get("bias", 0)
        pattern = softmax(np.where(attn["mask"], scores, -np.inf))
        assert ("bias" in attn) == (position == "alibi")
        assert np.abs(attn["scores"] - scores).max() <= 1e-5
        assert np.abs(attn["pattern"] - pattern).max() <= 1e-5
        assert np.abs(attn["pattern"].sum(axis=-1, dtype=np.float64) - 1).max() <= 1e-6
        middle, end = block["resid_pre"] + block["attn_out"], block["resid_mid"] + block["ffn_out"]
        np.testing.assert_allclose(middle, block["resid_mid"], atol=1e-5)
        np.testing.assert_allclose(end, block["resid_post"], atol=1e-5)
    facts, config = json.loads(str(x["facts"])), checkpoint.load(folder).config
    assert all(getattr(config, name) == value for name, value in facts.items())


def inside(arrays: dict[str, np.ndarray], prefix: str) -> dict[str, np.ndarray]:
    """The arrays below an address."""
    return {k.removeprefix(prefix): x for k, x in arrays.items() if k.startswith(prefix)}


def test_last_line_says_what_was_proved(tmp_path: Path, command: Command) -> None:
    folder, out = tiny_checkpoint(tmp_path / "c"), tmp_path / "no suffix"
    result = command(trace, "--checkpoint", folder, "--text", "the cat", "--out", out)
    answer = json.loads(result.out[-1])
    assert answer["tokens"] == 7
    assert answer["checks_passed"] is True
    names = {name for name, *_ in ATTENTION_CHECKS}
    loaded = checkpoint.load(folder, device="cpu")
    names |= {x.name for x in check_independently(trace_text(loaded, "the cat"), loaded.files)}
    assert set(answer["checks"]) == names | {REPRODUCED}
    assert answer["worst_error"] == max(answer["checks"].values()) < 1e-5
    assert answer["bytes"] == out.stat().st_size


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"--text": ""}, "the text is empty; give a sentence"),
        ({"--text": 24 * "a"}, "24 tokens but the model's context is 23; shorten it"),
        ({"--out": "missing/t.npz"}, "cannot write .*missing/t.npz: No such file"),
    ],
)
def test_bad_input_gets_one_line(
    changes: dict[str, str], message: str, tmp_path: Path, command: Command
) -> None:
    paths = {"--checkpoint": tiny_checkpoint(tmp_path / "c"), "--out": tmp_path / "t.npz"}
    options: dict[str, Any] = {"--text": SENTENCE} | paths | changes
    result = command(trace, *(word for option in options.items() for word in option))
    assert result.code == 2
    assert len(result.err) == 1
    assert re.match(f"error: .*{message}", result.err[0])
