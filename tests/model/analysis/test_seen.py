"""Protects what a model of transformers is said to cost: against its tensors, torch, a cache."""

import pytest
import torch

from model.adopted.adopt import adopt
from model.analysis.cost_timing import FlopCounterMode
from model.analysis.seen import seen_of
from model.analysis.sizes import memory, operations, parameters
from model.tap import Recorder, attach
from tests.model.adopted.families import DECODERS, ENCODER_DECODERS, FAMILIES, UNEVEN, build, given
from tests.model.adopted.test_adopted import KEPT_APART

ROUTED = {"mixtral", "gpt_oss"}  # experts: each token meets some


@pytest.mark.parametrize("family", [x for x in (*FAMILIES, *UNEVEN) if x != "gemma4"])
@torch.inference_mode()
def test_a_cost_is_what_tensors_and_torch_say(family: str) -> None:
    model = adopt(build(family))
    shape, inputs = seen_of(model), given(family)
    total = sum(x.numel() for x in model.parameters())
    assert sum(parameters(shape).values()) == total
    found = memory(shape, 7, 4)
    assert found["weights"] == sum(x.nbytes for x in model.parameters())
    ids = [x[:, :7] for x in inputs.values()]
    tap = Recorder(("pattern",))
    with FlopCounterMode(display=False) as counter:
        model(tuple(ids) if family in ENCODER_DECODERS else next(iter(inputs.values())),
              tap=attach(tap))  # fmt: skip
    per_token = operations(shape, 7)
    is_known = family not in ROUTED and "pixel_values" not in inputs
    assert 7 * sum(per_token.values()) == counter.get_total_flops() * is_known
    if "pixel_values" not in inputs:
        assert found["maps"] == sum(x.nbytes for x in tap.values.values())
    if family in {**DECODERS, **UNEVEN}:
        layers = model.inner(**inputs, use_cache=True).past_key_values.layers
        held = sum(x.nbytes for layer in layers for x in (layer.keys, layer.values))
        assert found.get("cache", held) == held
        assert ("cache" in found) == (family not in KEPT_APART)
