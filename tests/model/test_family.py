"""Protects the checkpoints `positions-*`: alike but for positions, and as their cards say."""

import re
from functools import cache

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from model.analysis.positions import check_identities
from model.capture import capture
from model.config import POSITION_NAMES
from model.sources import checkpoint
from model.sources.checkpoint import Checkpoint
from model.sources.places import SHIPPED
from model.trace import Trace
from model.training.evaluation import read_scores

STORY = (SHIPPED / "stories" / "card.md").read_text(encoding="utf-8").rpartition("```\n")[0]
STORY = STORY.rpartition("```\n")[2]  # five continuations, some 450 tokens


@cache
def model_of(scheme: str) -> Checkpoint:
    """The shipped checkpoint of a scheme, on the CPU."""
    return checkpoint.load(f"positions-{scheme}", device="cpu")


def trace_of(scheme: str, text: str, n_tokens: int | None = None) -> Trace:
    """What a scheme's model does on a text, cut to a number of tokens."""
    loaded = model_of(scheme)
    ids = loaded.tokenizer.encode(text)[: n_tokens or loaded.config.max_seq_len]
    return capture(loaded.model, ids, loaded.tokenizer.token_strings(ids))


def test_they_differ_in_their_positions_alone() -> None:
    configs = [model_of(scheme).config.to_dict() for scheme in POSITION_NAMES]
    names = {name for name in configs[0] if len({str(config[name]) for config in configs}) > 1}
    assert names == {"position", "max_seq_len"}
    assert [config["position"] for config in configs] == list(POSITION_NAMES)
    contexts = [config["max_seq_len"] for config in configs]
    assert contexts == [512, 128, 512, 512, 512], "a learned table ends where training ended"
    expected = {"n_layers": 4, "n_heads": 4, "d_model": 128, "mask": "causal"}
    assert expected.items() <= configs[0].items()
    tokenizers = {
        (SHIPPED / f"positions-{scheme}" / "tokenizer.json").read_bytes()
        for scheme in POSITION_NAMES
    }
    assert len(tokenizers) == 1


def test_all_are_half_precision_and_small_together() -> None:
    folders = [SHIPPED / f"positions-{scheme}" for scheme in POSITION_NAMES]
    for folder in folders:
        weights = load_file(folder / "model.safetensors")
        assert {weight.dtype for weight in weights.values()} == {torch.float16}
    assert sum(x.stat().st_size for folder in folders for x in folder.iterdir()) <= 20_000_000


@pytest.mark.parametrize("scheme", POSITION_NAMES)
def test_every_check_and_promise_holds(scheme: str) -> None:
    trace = trace_of(scheme, STORY, 128)
    loaded = model_of(scheme)
    checks = (*loaded.check(trace), *check_identities(trace, loaded.model))
    assert [item for item in checks if not item.passed] == []


@pytest.mark.parametrize("scheme", POSITION_NAMES)
def test_card_says_what_is_stored(scheme: str) -> None:
    folder = SHIPPED / f"positions-{scheme}"
    card, scores = (folder / "card.md").read_text(encoding="utf-8"), read_scores(folder)
    assert sorted(scores) == [w for w in (64, 128, 256, 512) if scheme != "learned" or w <= 128]
    for window, score in scores.items():
        assert f"| {window} | {score.bits_per_byte:.4f} | {score.loss:.4f} |" in card
        assert np.mean(score.by_position) == pytest.approx(score.loss, abs=5e-3)
    assert ("no row in the table" in card) == (scheme == "learned")
    n_parameters = sum(x.numel() for x in model_of(scheme).model.parameters())
    assert f"{n_parameters:,}" in card
    for words in ("Project Gutenberg", "public domain", "CDLA-Sharing-1.0", "16.4 million tokens"):
        assert words.lower() in card.lower(), words
    for other in POSITION_NAMES:
        bits = read_scores(SHIPPED / f"positions-{other}")[128].bits_per_byte
        assert re.search(rf"`positions-{other}` \| {bits:.4f} \|", card)
