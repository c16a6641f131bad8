"""A recipe for a text that comes without one: the larger the text, the larger the model."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from model.data.text import read_text
from model.training.plan import Stage
from model.training.recipe import Recipe

TIMES_OVER = 8  # how often each token is seen
LEAST_STEPS, MOST_STEPS = 300, 5000
EVALUATIONS = 10  # of a training


@dataclass(frozen=True)
class Size:
    """A model for texts of so many bytes and more.

    `token_bytes` are what a token is long on average.
    """

    least_bytes: int
    tokenizer: str
    vocab_size: int
    token_bytes: float
    d_model: int
    n_layers: int
    n_heads: int
    seq_len: int
    batch_tokens: int
    matrix_lr: float
    other_lr: float


SIZES = (
    Size(0, "characters", 0, 1.0, 64, 2, 4, 64, 2048, 12e-3, 8e-3),
    Size(300_000, "characters", 0, 1.0, 128, 4, 4, 128, 4096, 12e-3, 8e-3),
    Size(3_000_000, "bpe", 2048, 3.2, 192, 6, 6, 128, 8192, 8e-3, 4e-3),
    Size(30_000_000, "bpe", 4096, 3.8, 256, 6, 8, 256, 8192, 6e-3, 2e-3),
)


def size_of(corpus: Sequence[Path]) -> int:
    """Bytes of some text files; ValueError where one is missing, empty or no file."""
    return sum(len(read_text(path).encode()) for path in corpus)


def recipe_for(n_bytes: int, name: str) -> Recipe:
    """How a text of so many bytes is trained on: seen `TIMES_OVER`, in bounds on the steps."""
    size = [size for size in SIZES if n_bytes >= size.least_bytes][-1]
    wanted = TIMES_OVER * n_bytes / size.token_bytes / size.batch_tokens
    steps = round(min(max(wanted, LEAST_STEPS), MOST_STEPS))
    return Recipe(
        name=name,
        tokenizer=size.tokenizer,
        vocab_size=size.vocab_size,
        batch_tokens=size.batch_tokens,
        stages=(Stage(steps=steps, seq_len=size.seq_len),),
        matrix_lr=size.matrix_lr,
        other_lr=size.other_lr,
        evaluate_every=max(1, steps // EVALUATIONS),
        model={
            "d_model": size.d_model,
            "n_layers": size.n_layers,
            "n_heads": size.n_heads,
            "max_seq_len": size.seq_len,
            "position": "sinusoidal",
            "norm": "layer",
            "norm_placement": "pre",
            "feedforward": "gelu",
            "mask": "causal",
            "tied_embeddings": True,
            "scale_embeddings": True,
            "bias": False,
        },
    )
