"""Protects the shipped checkpoint `stories`: what it is, how large, and that it proves itself."""

from functools import cache

import torch
from safetensors.torch import load_file

from model.decoding.filters import Sampling
from model.decoding.sampling import generate
from model.sources import checkpoint
from model.sources.checkpoint import Checkpoint
from model.sources.places import SHIPPED

FOLDER = SHIPPED / "stories"


@cache
def stories() -> Checkpoint:
    """The shipped checkpoint, on the CPU."""
    return checkpoint.load("stories", device="cpu")


def test_weights_are_half_precision_and_small() -> None:
    path = FOLDER / "model.safetensors"
    assert {weight.dtype for weight in load_file(path).values()} == {torch.float16}
    assert path.stat().st_size <= 15_000_000


def test_card_names_the_licences_and_the_scores() -> None:
    card = (FOLDER / "card.md").read_text(encoding="utf-8")
    for words in ("Project Gutenberg", "public domain", "TinyStories", "CDLA-Sharing-1.0"):
        assert words.lower() in card.lower(), words
    assert "bits per byte" in card.lower()


def test_greedy_text_is_the_stored_one() -> None:
    """Tokenizer, weights, forward pass and decoding together: any slip changes a word."""
    loaded = stories()
    ids = loaded.tokenizer.encode("Once upon a time")
    steps = generate(loaded.model, ids, Sampling(top_k=1), max_new_tokens=30)
    assert loaded.tokenizer.decode([step.token_id for step in steps]) == (
        ", there was a little girl named Lily. She loved to play with her toys and eat snacks. "
        "One day, she found a big, red"
    )
