"""Protects what is said of weights: copying against whole matrices, norms against loops."""

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

from model.adopted.adopt import adopt
from model.analysis.circuits import copying_scores, value_norms
from model.architectures.decoder import DecoderTransformer
from model.trace import Site
from tests.model.adopted.families import build
from tests.model.builders import GROUPED, every_trace, tiny_config, tiny_model

VARIANTS = {
    "pre-norm": {},
    "grouped": GROUPED,
    "rms": {"norm": "rms"},
    "post-norm": {"norm_placement": "post"},
    "untied": {"tied_embeddings": False},
}


def whole_circuit(model: DecoderTransformer, layer: int, head: int) -> np.ndarray:
    """W_U·W_OV·W_E, (V, V), one token at a time through the head's matrices."""
    config, weights = model.config, {k: x.double().numpy() for k, x in model.state_dict().items()}
    d_head, shared = config.d_head, config.n_heads // config.n_kv_heads

    def normed(x: np.ndarray, name: str) -> np.ndarray:
        if config.norm_placement == "post":
            return x
        return (x - x.mean() if config.norm == "layer" else x) * weights[f"{name}.gain"]

    block = f"blocks.{layer}"
    group = head // shared
    w_v = weights[f"{block}.attn.v_proj.weight"][group * d_head : (group + 1) * d_head]
    w_o = weights[f"{block}.attn.out_proj.weight"][:, head * d_head : (head + 1) * d_head]
    columns = []
    for embedding in weights["embed.weight"]:
        written = w_o @ (w_v @ normed(embedding, f"{block}.attn_norm"))
        columns.append(weights["unembed.weight"] @ normed(written, "final_norm"))
    return np.array(columns).T


@pytest.mark.parametrize("changes", VARIANTS.values(), ids=list(VARIANTS))
def test_copying_scores_are_those_of_the_whole_matrix(changes: dict[str, object]) -> None:
    model = tiny_model(**changes)
    found = copying_scores(model)
    assert found is not None
    assert found.shape == (model.config.n_layers, model.config.n_heads)
    for layer in range(model.config.n_layers):
        for head in range(model.config.n_heads):
            values = np.linalg.eigvals(whole_circuit(model, layer, head))
            expected = values.real.sum() / np.abs(values).sum()
            assert found[layer, head] == pytest.approx(expected, abs=1e-6)


def _gpt2(w: dict[str, np.ndarray], layer: int, head: int) -> tuple[np.ndarray, ...]:
    block, d = f"transformer.h.{layer}.", w["transformer.wte.weight"].shape[1]
    v = w[block + "attn.c_attn.weight"].T[2 * d :].reshape(N_HEADS, -1, d)[head]
    o = w[block + "attn.c_proj.weight"].T.reshape(d, N_HEADS, -1)[:, head]
    centring = np.eye(d) - 1 / d
    gains = (w[block + "ln_1.weight"], w["transformer.ln_f.weight"])
    return v, o, *(np.diag(gain) @ centring for gain in gains)


def _llama(
    w: dict[str, np.ndarray], layer: int, head: int, more: float = 0.0
) -> tuple[np.ndarray, ...]:
    """more: what is added to each gain."""
    block, d = f"model.layers.{layer}.", w["model.norm.weight"].size
    o = w[block + "self_attn.o_proj.weight"].reshape(d, N_HEADS, -1)[:, head]
    v = w[block + "self_attn.v_proj.weight"].reshape(-1, o.shape[1], d)
    read, last = w[block + "input_layernorm.weight"], w["model.norm.weight"]
    if more:  # Gemma's have a norm on what attention writes
        o = np.diag(more + w[block + "post_attention_layernorm.weight"]) @ o
    return v[head * len(v) // N_HEADS], o, np.diag(more + read), np.diag(more + last)


N_HEADS = 4
THEIRS: dict[str, Callable[..., tuple[np.ndarray, ...]]] = {
    "gpt2": _gpt2, "llama": _llama, "qwen2": _llama, "gemma2": partial(_llama, more=1.0),
    "gemma3": partial(_llama, more=1.0),
}  # fmt: skip


@pytest.mark.parametrize("family", THEIRS)
def test_copying_scores_of_models_of_transformers_are_those_of_the_whole_matrix(
    family: str,
) -> None:
    inner = build(family)
    weights = {name: x.detach().double().numpy() for name, x in inner.state_dict().items()}
    embed = inner.get_input_embeddings().weight.detach().double().numpy()
    unembed = inner.get_output_embeddings().weight.detach().double().numpy()
    found = copying_scores(adopt(inner))
    assert found is not None
    for layer, head in np.ndindex(found.shape):
        w_v, w_o, read, last = THEIRS[family](weights, layer, head)
        values = np.linalg.eigvals(unembed @ last @ w_o @ w_v @ read @ embed.T)
        expected = values.real.sum() / np.abs(values).sum()
        assert found[layer, head] == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("family", ["bert", "deepseek_v3", "gemma4", "t5", "vit"])
def test_where_a_part_was_not_found_there_is_no_score(family: str) -> None:
    assert copying_scores(adopt(build(family))) is None


def test_where_no_path_leads_from_tokens_to_their_logits_there_is_no_score() -> None:
    for name in ("encoder_decoder", "vision"):
        assert copying_scores(every_trace()[name][0]) is None


@pytest.mark.parametrize("name", ["encoder", "encoder_decoder", "vision"])
def test_every_site_has_its_module(name: str) -> None:
    model, trace = every_trace()[name]
    for record in trace.attention:
        assert value_norms(record, model).shape == (record.n_heads, record.k.shape[1])
    with pytest.raises(ValueError, match=r"no attention at decoder\.blocks\.9\.attn"):
        DecoderTransformer(tiny_config()).attention_at(Site("decoder", "self", 9))
