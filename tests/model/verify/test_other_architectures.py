"""Protects the self-check of the other architectures: truth passes, each lie is seen."""

import dataclasses

import numpy as np
import pytest
import torch

from model import reference
from model.sources.checkpoint import own_weights
from model.trace import Site, Trace
from model.verify.independent import check_independently
from model.verify.self_check import check
from tests.model.builders import every_trace, tiny_translator, translation_trace, with_cell

NAMES = ("encoder", "encoder_decoder", "vision")
# One value of the last layer of the main stream, and a word of a check that must notice.
LIES = {
    "attention.q[1, 1, 3]": "q, k, v",
    "attention.v[1, 2, 3]": "q, k, v",
    "attention.pattern[1, 1, 2]": "pattern",
    "attention.z[1, 1, 3]": "out_proj",
    "residuals.attn_out[1, 3]": "attn_out",
    "residuals.ffn_out[1, 3]": "ffn_out",
    "residuals.resid_mid[1, 3]": "residual sums",
    "residuals.resid_post[0, 3]": "logits",
    "stream.embed[1, 3]": "embed",
    "stream.positions[1, 3]": "positions",
    "output[-1, 3]": "logits",
}


def files_of(model: torch.nn.Module) -> reference.Files:
    """What the files of a model would say."""
    config = {"n_encoder_layers": model.config.n_layers} | model.config.to_dict()
    weights = {name: x.double().numpy() for name, x in own_weights(model).items()}
    return reference.Files(reference.DEFAULTS | config, weights)


def failed(name: str, trace: Trace) -> list[str]:
    """Names of the checks that fail."""
    model, _ = every_trace()[name]
    return [x.name for x in check(trace, model, files=files_of(model)) if not x.passed]


@pytest.mark.parametrize("placement", ["pre", "post"])
@pytest.mark.parametrize("name", NAMES)
def test_the_truth_passes(name: str, placement: str) -> None:
    model, trace = every_trace(norm_placement=placement)[name]
    checks = check(trace, model, files=files_of(model))
    assert all(item.passed for item in checks), [x.name for x in checks if not x.passed]
    assert len(checks) >= 22


@pytest.mark.parametrize("lie", LIES)
@pytest.mark.parametrize("name", NAMES)
def test_each_lie_is_noticed_by_the_model_and_by_the_files(name: str, lie: str) -> None:
    _, trace = every_trace()[name]
    found = failed(name, with_cell(trace, lie, lambda x: x + 0.01))
    assert any(LIES[lie] in check_name for check_name in found), found
    assert any("independent" in check_name for check_name in found), found


@pytest.mark.parametrize("field", ["cross_out", "resid_cross"])
def test_lies_about_cross_attention_are_noticed(field: str) -> None:
    _, trace = every_trace()["encoder_decoder"]
    found = failed(
        "encoder_decoder", with_cell(trace, f"residuals.{field}[1, 3]", lambda x: x + 0.01)
    )
    assert "resid_mid and resid_post are the residual sums" in found
    assert any("residual stream = an independent" in name for name in found)


def test_keys_of_another_source_are_noticed() -> None:
    """The cross-attention of one text in the trace of another of the same length."""
    model = tiny_translator()
    trace = translation_trace(model)
    site = Site("decoder", "cross", 1)
    record = trace.record(site)
    lying = dataclasses.replace(record, k=record.k[:, ::-1].copy())
    others = tuple(lying if x is record else x for x in trace.attention)
    found = failed("encoder_decoder", dataclasses.replace(trace, attention=others))
    assert "q, k, v = this model's projections of its residual stream" in found


@pytest.mark.parametrize("name", NAMES)
def test_weights_that_are_not_the_files_are_noticed(name: str) -> None:
    model, trace = every_trace()[name]
    files = files_of(model)
    changed = next(x for x in files.weights if "q_proj.weight" in x)
    other = reference.Files(files.config, {**files.weights, changed: files.weights[changed] * 1.02})
    assert not all(item.passed for item in check_independently(trace, other))


def test_a_mask_makes_no_sense_for_a_translation() -> None:
    model, trace = every_trace()["encoder_decoder"]
    with pytest.raises(ValueError, match="leave the mask out"):
        check(trace, model, np.ones((3, 3), dtype=bool))
