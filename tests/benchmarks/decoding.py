"""Tokens a second with the cache, beside Hugging Face's `generate` on equal weights.

Asked, CPU, float32, greedy: at least 1.3 times theirs on the shape of `stories`, 1.0 times on the
shape of GPT-2 small. There the weights must come from memory for every token, so the share of
that limit is printed too: the time a plain sum over as many bytes takes, over our time.
All on one thread: of several, on a machine that does anything else, most only wait.
"""

from functools import partial

import torch
from transformers import GPT2Config, GPT2LMHeadModel

from model.architectures.decoder import DecoderTransformer
from model.config import DecoderConfig
from model.decoding.filters import GREEDY
from model.decoding.sampling import generate
from model.weights import to_column_major
from tests.benchmarks.rounds import medians
from tests.model.peers import gpt2_weights

# Positions, norms, biases and tied embeddings as GPT-2 has them.
STORIES = DecoderConfig(
    vocab_size=4096,
    d_model=256,
    n_layers=6,
    n_heads=8,
    max_seq_len=256,
    position="learned",
    feedforward="gelu",
)
GPT2_SMALL = DecoderConfig(
    vocab_size=50257,
    d_model=768,
    n_layers=12,
    n_heads=12,
    max_seq_len=1024,
    position="learned",
    feedforward="gelu_tanh",
)
THEIR_ACTIVATIONS = {"gelu": "gelu", "gelu_tanh": "gelu_new"}
PROMPT_LEN = 16


def measure() -> dict[str, float]:
    """All figures."""
    n_threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        return _beside_hugging_face(
            "stories", STORIES, n_new=128, n_rounds=15, asked=1.3
        ) | _beside_hugging_face("GPT-2 small", GPT2_SMALL, n_new=24, n_rounds=7, asked=1.0)
    finally:
        torch.set_num_threads(n_threads)


@torch.inference_mode()
def _beside_hugging_face(
    name: str, config: DecoderConfig, *, n_new: int, n_rounds: int, asked: float
) -> dict[str, float]:
    """Tokens a second of both, after they have given the same tokens."""
    ours, theirs = _equal_models(config)
    prompt = torch.randint(config.vocab_size, (1, PROMPT_LEN))
    sides = [partial(_our_ids, ours, prompt, n_new), partial(_their_ids, theirs, prompt, n_new)]
    if sides[0]() != sides[1]():
        raise RuntimeError(f"{name}: the two models do not give the same tokens")
    n_values = sum(weight.numel() for weight in ours.parameters())
    n_values -= config.max_seq_len * config.d_model  # of the positions, one row is read
    as_many = torch.ones(n_values)
    our_ms, their_ms, sum_ms = medians([*sides, as_many.sum], n_rounds + 1, warm_up=1)
    return {
        f"{name}: Headlight, tokens/s": 1000 * n_new / our_ms,
        f"{name}: Hugging Face, tokens/s": 1000 * n_new / their_ms,
        f"{name}: Headlight / Hugging Face (asked ≥ {asked})": their_ms / our_ms,
        f"{name}: weights, MB": as_many.nbytes / 1e6,
        f"{name}: reading as much, ms": sum_ms,
        f"{name}: Headlight, share of the memory's limit": n_new * sum_ms / our_ms,
        f"{name}: Hugging Face, share of the memory's limit": n_new * sum_ms / their_ms,
    }


def _equal_models(config: DecoderConfig) -> tuple[DecoderTransformer, GPT2LMHeadModel]:
    torch.manual_seed(0)
    theirs = GPT2LMHeadModel(
        GPT2Config(
            vocab_size=config.vocab_size,
            n_positions=config.max_seq_len,
            n_embd=config.d_model,
            n_layer=config.n_layers,
            n_head=config.n_heads,
            activation_function=THEIR_ACTIVATIONS[config.feedforward],
            bos_token_id=None,
            eos_token_id=None,
            initializer_range=0.1,  # far from ties, which rounding would decide
        )
    ).eval()
    ours = DecoderTransformer(config)
    ours.load_state_dict(gpt2_weights(theirs.state_dict(), list(ours.state_dict())))
    to_column_major(ours)
    return ours.requires_grad_(False).eval(), theirs


def _our_ids(model: DecoderTransformer, prompt: torch.Tensor, n_new: int) -> list[int]:
    steps = generate(model, prompt[0].tolist(), GREEDY, max_new_tokens=n_new)
    return [step.token_id for step in steps]


def _their_ids(model: GPT2LMHeadModel, prompt: torch.Tensor, n_new: int) -> list[int]:
    ids = model.generate(
        prompt,
        attention_mask=torch.ones_like(prompt),
        max_new_tokens=n_new,
        do_sample=False,
        pad_token_id=0,
    )
    return ids[0, prompt.shape[1] :].tolist()
