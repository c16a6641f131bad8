"""Protects the whole model: parity with GPT-2 and Llama, who influences whom, every variant."""

import pytest
import torch
from transformers import (
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedModel,
)

from model.architectures.decoder import DecoderTransformer
from model.weights import initialise, to_column_major
from tests.model.builders import (
    GROUPED,
    randomise,
    tiny_config,
    tiny_ids,
    tiny_model,
    tiny_trace,
)
from tests.model.peers import LLAMA_LAYER, their_name


def test_llama_gives_the_same_logits_and_patterns() -> None:
    llama = {"position": "rope", "norm": "rms", "feedforward": "swiglu", "bias": False}
    ours = tiny_model(**GROUPED, **llama, tied_embeddings=False, position_base=500.0)
    config = LlamaConfig(
        vocab_size=17, hidden_size=36, intermediate_size=13, num_hidden_layers=2,
        num_attention_heads=6, num_key_value_heads=2, max_position_embeddings=11,
        rms_norm_eps=1e-5, rope_parameters={"rope_type": "default", "rope_theta": 500.0},
        tie_word_embeddings=False, attn_implementation="eager",
    )  # fmt: skip
    theirs = randomise(LlamaForCausalLM(config), seed=1)
    top = {
        "embed": "model.embed_tokens",
        "blocks": "model.layers",
        "final_norm": "model.norm",
        "unembed": "lm_head",
    }
    weights = theirs.state_dict()
    names = {name: their_name(name, LLAMA_LAYER, top) for name in ours.state_dict()}
    ours.load_state_dict({name: weights[their] for name, their in names.items()})
    assert len(set(names.values())) == len(weights)
    assert_same_model(ours, theirs)


def assert_same_model(ours: DecoderTransformer, theirs: PreTrainedModel) -> None:
    """Equal logits, and the pattern we show is the one Hugging Face computes."""
    ids = tiny_ids(batch_size=5)
    expected = theirs(ids).logits
    assert expected.std() > 0.1
    torch.testing.assert_close(ours(ids), expected, atol=1e-5, rtol=1e-5)
    trace = tiny_trace(ours)
    answer = theirs(tiny_ids(), output_attentions=True)
    for record, pattern in zip(trace.attention, answer.attentions, strict=True):
        torch.testing.assert_close(torch.tensor(record.pattern), pattern[0], atol=1e-5, rtol=0)


@pytest.mark.parametrize("tied", [True, False])
def test_layout_by_columns_changes_no_value(tied: bool) -> None:
    model, ids = tiny_model(tied_embeddings=tied), tiny_ids(batch_size=2)
    expected, before = model(ids), {name: x.clone() for name, x in model.state_dict().items()}
    to_column_major(model)
    for name, weight in model.state_dict().items():
        assert torch.equal(weight, before[name]), name
        assert weight.T.is_contiguous() or weight.ndim == 1, name
    assert (model.unembed.weight is model.embed.weight) == tied
    torch.testing.assert_close(model(ids), expected, atol=1e-5, rtol=1e-5)


def test_initial_weights_depend_on_the_seed_and_keep_the_stream_small() -> None:
    config = tiny_config(n_layers=8, d_model=66, d_ff=130, vocab_size=500)
    models = [DecoderTransformer(config) for _ in range(3)]
    for model, seed in zip(models, (1, 1, 2), strict=True):
        initialise(model, seed)
    weights = [model.state_dict() for model in models]
    assert all(torch.equal(weights[0][name], weights[1][name]) for name in weights[0])
    assert not torch.equal(weights[0]["embed.weight"], weights[2]["embed.weight"])
    stds = {name: weight.std().item() for name, weight in weights[0].items() if weight.ndim == 2}
    for name, std in stds.items():
        writes_residual = name.endswith(("out_proj.weight", "down.weight"))
        assert std == pytest.approx(0.02 / (4 if writes_residual else 1), rel=0.1), name
    assert all(w.abs().max() == 0 for n, w in weights[0].items() if n.endswith((".bias", "offset")))
    assert all((w == 1).all() for n, w in weights[0].items() if n.endswith(".gain"))
