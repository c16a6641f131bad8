"""Protects the parts of a model: all weights counted once, shapes as they run."""

import pytest
import transformers as hf

from model.adopted.adopt import adopt
from model.analysis.anatomy import anatomy
from model.architectures.base import Transformer
from tests.model.adopted.families import FAMILIES, HYBRIDS, UNEVEN, build
from tests.model.builders import every_trace, randomise, tiny_model

NOT_FOUND = {"falcon_h1", "gemma4"}  # their blocks add more than attention and a feed-forward


@pytest.mark.parametrize("family", [*FAMILIES, *HYBRIDS, *UNEVEN])
def test_every_weight_of_any_family_is_counted_once(family: str) -> None:
    model = adopt(build(family))
    assert (not model.stacks) == (family in NOT_FOUND)
    columns = anatomy(model, (7,) * len(model.stacks))
    counted = sum(column.n_parameters for column in columns)
    assert counted == sum(x.numel() for x in build(family).parameters()) * bool(columns)


GEMMA = ["norm", "self_attention", "norm", "add", "norm", "feed_forward", "norm", "add"]
USUAL = ["norm", "self_attention", "add", "norm", "feed_forward", "add"]
LAYERS = {  # kinds of parts and kinds of norms in a block; what the feed-forward reads, its width
    "llama": (USUAL, "rms", "resid_mid", 40),
    "gemma3": (GEMMA, "rms", "resid_mid", 40),
    "gpt2": (USUAL, "layer", "resid_mid", 96),
    "gpt_neox": (USUAL, "layer", "resid_pre", 40),
    "phi": (USUAL, "layer", "resid_pre", 40),
    "mixtral": (USUAL, "rms", "resid_mid", 0),
    "bert": ([*USUAL[1:4], *USUAL[4:], "norm"], "layer", "resid_mid", 40),
}


@pytest.mark.parametrize("family", LAYERS)
def test_parts_of_any_family_stand_in_their_order(family: str) -> None:
    kinds, norm, reads, width = LAYERS[family]
    (column,) = anatomy(adopt(build(family)), (7,))
    inside = [part for sublayer in column.sublayers for part in sublayer]
    assert [part.kind for part in inside] == kinds
    assert {part.norm for part in inside if part.kind == "norm"} == {norm}
    (last,) = (part for part in inside if part.kind == "feed_forward")
    assert (last.reads, last.width) == (reads, width)
    assert column.before[0].detail == ("× 4.899" if family == "gemma3" else "")  # √24


def test_weights_of_no_known_step_are_named_by_their_modules() -> None:
    pooled = hf.BertModel._from_config(build("bert").config, attn_implementation="eager").eval()
    (column,) = anatomy(adopt(randomise(pooled, seed=1)), (7,))
    named = {part.detail: part.n_parameters for part in column.parts if part.kind == "other"}
    pooler = 24 * 24 + 24
    assert named == {"embeddings.token_type_embeddings": 2 * 24, "pooler.dense": pooler}


@pytest.mark.parametrize("placement", ["pre", "post"])
def test_norms_stand_where_they_work(placement: str) -> None:
    """Before attention in a pre-norm block, after the addition in a post-norm block."""
    model = tiny_model(norm_placement=placement)
    (column,) = anatomy(model, (7,))
    kinds = [[part.kind for part in sublayer] for sublayer in column.sublayers]
    attention = ["norm", "self_attention", "add"]
    assert kinds[0] == (attention if placement == "pre" else [*attention[1:], "norm"])
    after = [part.kind for part in column.after]
    assert after == [*(["final_norm"] if placement == "pre" else []), "unembedding", "softmax"]


def test_a_translation_has_two_columns_and_three_kinds_of_attention() -> None:
    model: Transformer = every_trace()["encoder_decoder"][0]
    encoder, decoder = anatomy(model, (5, 3))
    assert (encoder.n_layers, decoder.n_layers) == (3, 2)
    groups = [part.group for column in (encoder, decoder) for x in column.sublayers for part in x]
    assert [group for group in groups if group] == [
        "encoder.attn",
        "decoder.attn",
        "decoder.cross_attn",
    ]
    assert {part.shape for sublayer in decoder.sublayers for part in sublayer} == {(3, 30)}
    assert encoder.before[0].n_parameters == 17 * 30
    assert decoder.before[0].n_parameters == 0, "the encoder's embedding"
