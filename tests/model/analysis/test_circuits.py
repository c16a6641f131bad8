"""Protects what is said of weights: copying against whole matrices, norms against loops."""

import numpy as np
import pytest
import torch

from model.analysis.circuits import copying_scores, value_norms
from model.architectures.decoder import DecoderTransformer
from model.trace import Site
from tests.model.builders import GROUPED, every_trace, tiny_config, tiny_model, tiny_trace

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


def test_a_head_that_copies_scores_one_and_one_that_takes_away_minus_one() -> None:
    model = tiny_model(norm_placement="post")
    attention = model.attention_at(Site("decoder", "self", 0))
    with torch.no_grad():
        attention.out_proj.weight.copy_(attention.v_proj.weight.T)  # W_O = W_Vᵀ: it copies
        attention.out_proj.weight[:, 10:20] *= -1
    found = copying_scores(model)
    assert found is not None
    assert found[0].tolist() == pytest.approx([1, -1, 1])


def test_where_no_path_leads_from_tokens_to_their_logits_there_is_no_score() -> None:
    for name in ("encoder_decoder", "vision"):
        assert copying_scores(every_trace()[name][0]) is None


@pytest.mark.parametrize("changes", [{}, GROUPED], ids=["plain", "grouped"])
def test_value_norms_by_a_loop(changes: dict[str, object]) -> None:
    model = tiny_model(**changes)
    record = tiny_trace(model).attention[1]
    w_o = model.state_dict()["blocks.1.attn.out_proj.weight"].numpy()
    found = value_norms(record, model)
    d_head = model.config.d_head
    for head in range(record.n_heads):
        for key in range(record.v.shape[1]):
            moved = (
                w_o[:, head * d_head : (head + 1) * d_head] @ record.v[record.kv_head(head), key]
            )
            assert found[head, key] == pytest.approx(np.sqrt((moved**2).sum()), rel=1e-5)


@pytest.mark.parametrize("name", ["encoder", "encoder_decoder", "vision"])
def test_every_site_has_its_module(name: str) -> None:
    model, trace = every_trace()[name]
    for record in trace.attention:
        assert value_norms(record, model).shape == (record.n_heads, record.k.shape[1])
    with pytest.raises(ValueError, match=r"no attention at decoder\.blocks\.9\.attn"):
        DecoderTransformer(tiny_config()).attention_at(Site("decoder", "self", 9))
