"""Protects the shipped checkpoint `stories`: what it is, how large, and that it proves itself."""

from functools import cache

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from model.capture import capture
from model.decoding.filters import Sampling
from model.decoding.sampling import generate
from model.sources import checkpoint
from model.sources.checkpoint import SHIPPED, Checkpoint
from model.trace import Trace
from model.verify.self_check import check

FOLDER = SHIPPED / "stories"
EXAMPLE = "The animal didn't cross the street because it was too tired."
CONTEXT = 256


@cache
def stories() -> Checkpoint:
    """The shipped checkpoint, on the CPU."""
    return checkpoint.load("stories", device="cpu")


@cache
def trace_of(n_tokens: int) -> Trace:
    """The example sentence, repeated and cut to a number of tokens."""
    ids = stories().tokenizer.encode(" ".join([EXAMPLE] * 30))[:n_tokens]
    return capture(stories().model, ids, stories().tokenizer.token_strings(ids))


LENGTHS = [13, CONTEXT]  # the example once, and a full context


def test_is_the_model_the_pages_describe() -> None:
    expected = {
        "vocab_size": 4096,
        "n_layers": 6,
        "n_heads": 8,
        "n_kv_heads": 8,
        "d_model": 256,
        "max_seq_len": CONTEXT,
        "position": "sinusoidal",
        "norm_placement": "pre",
        "feedforward": "gelu",
        "mask": "causal",
        "tied_embeddings": True,
    }
    assert expected.items() <= stories().config.to_dict().items()


def test_weights_are_half_precision_and_small() -> None:
    path = FOLDER / "model.safetensors"
    assert {weight.dtype for weight in load_file(path).values()} == {torch.float16}
    assert path.stat().st_size <= 15_000_000


def test_card_names_the_licences_and_the_scores() -> None:
    card = (FOLDER / "card.md").read_text(encoding="utf-8")
    for words in ("Project Gutenberg", "public domain", "TinyStories", "CDLA-Sharing-1.0"):
        assert words.lower() in card.lower(), words
    assert "bits per byte" in card.lower()


def test_example_is_thirteen_tokens() -> None:
    assert stories().tokenizer.decode(trace_of(13).ids.tolist()) == f" {EXAMPLE}"


@pytest.mark.parametrize("n_tokens", LENGTHS)
def test_every_check_passes(n_tokens: int) -> None:
    checks = check(trace_of(n_tokens), stories().model)
    assert len(trace_of(n_tokens).ids) == n_tokens
    assert [item for item in checks if not item.passed] == []


@pytest.mark.parametrize("n_tokens", LENGTHS)
def test_capture_does_not_change_the_logits(n_tokens: int) -> None:
    """Up to float32 rounding: the residual stream reaches 300, where one unit in the last place
    is 3e-5, and the logits 20. A float64 run lies as far from either as they from each other."""
    trace = trace_of(n_tokens)
    with torch.inference_mode():
        logits = stories().model(torch.tensor(trace.ids)[None])[0].numpy()
    assert np.abs(trace.logits - logits).max() <= 2e-6 * np.abs(logits).max()


def test_greedy_text_is_the_stored_one() -> None:
    """Tokenizer, weights, forward pass and decoding together: any slip changes a word."""
    loaded = stories()
    ids = loaded.tokenizer.encode("Once upon a time")
    steps = generate(loaded.model, ids, Sampling(top_k=1), max_new_tokens=30)
    assert loaded.tokenizer.decode([step.token_id for step in steps]) == (
        ", there was a little girl named Lily. She loved to play with her toys and eat snacks. "
        "One day, she found a big, red"
    )
