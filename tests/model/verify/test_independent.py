"""Protects the checks against an independent run: what is off is named; arrays by address."""

import math
from dataclasses import replace

import numpy as np
import pytest

from model import reference
from model.capture import capture
from model.trace import Trace
from model.verify.independent import check_independently
from tests.model.builders import CAPTURED, every_trace, files_of, tiny_model, tiny_trace, with_cell

# A cell of the main stream or of its last attention, and how the check begins that names it.
LIES = {
    "stream.embed[1, 3]": "token ids, embeddings and positions",
    "stream.positions[1, 3]": "token ids, embeddings and positions",
    "attention.q[1, 1, 3]": "q, k and v",
    "attention.k[1, 2, 3]": "q, k and v",
    "attention.v[1, 2, 3]": "q, k and v",
    "attention.mask[1, 2]": "biases and masks",
    "attention.scores[1, 1, 2]": "scores",
    "attention.pattern[1, 1, 2]": "pattern",
    "attention.z[1, 1, 3]": "z",
    "residuals.resid_pre[1, 3]": "residual stream",
    "residuals.attn_out[1, 3]": "residual stream",
    "residuals.resid_mid[1, 3]": "residual stream",
    "residuals.ffn_out[1, 3]": "residual stream",
    "residuals.resid_post[1, 3]": "residual stream",
    "output[-1, 3]": "logits",
}
CASES = [(name, *lie) for name in CAPTURED for lie in LIES.items()] + [
    ("decoder", "attention.bias[1, 1, 2]", "biases and masks"),
    ("encoder_decoder", "residuals.cross_out[1, 3]", "residual stream"),
    ("encoder_decoder", "residuals.resid_cross[1, 3]", "residual stream"),
]


def failed(
    trace: Trace, files: reference.Files, mask: np.ndarray | None = None
) -> dict[str, float]:
    """The checks that failed, and their errors."""
    checks = check_independently(trace, files, mask)
    return {item.name: item.error for item in checks if not item.passed}


@pytest.mark.parametrize("placement", ["pre", "post"])
@pytest.mark.parametrize("name", CAPTURED)
def test_a_trace_of_the_model_passes(name: str, placement: str) -> None:
    model, trace = every_trace(norm_placement=placement)[name]
    checks = check_independently(trace, files_of(model))
    assert [item.name for item in checks if not item.passed] == []
    n_heads = sum(record.n_heads for record in trace.attention)
    assert f"pattern of {n_heads} heads = an independent float64 run" in [x.name for x in checks]


@pytest.mark.parametrize("added", [0.01, math.nan], ids=str)
@pytest.mark.parametrize(("name", "lie", "kind"), CASES)
def test_a_lie_about_any_array_is_named(name: str, lie: str, kind: str, added: float) -> None:
    """By that array alone, also where it is not a number."""
    model, trace = every_trace()[name]
    change = (lambda x: not x) if "mask" in lie else (lambda x: x + added)
    (said,) = failed(with_cell(trace, lie, change), files_of(model))
    assert said.startswith(kind)
    assert said.endswith(lie.partition("[")[0].rpartition(".")[2])


@pytest.mark.parametrize("name", ["decoder", "encoder", "encoder_decoder"])
def test_other_ids_are_another_run(name: str) -> None:
    model, trace = every_trace()[name]
    other = with_cell(trace, "stream.ids[1]", lambda x: (x + 1) % 17)
    said = " ".join(failed(other, files_of(model)))
    assert "embeddings and positions =" in said
    assert "logits =" in said


@pytest.mark.parametrize("name", CAPTURED)
def test_weights_that_are_not_the_files_are_noticed(name: str) -> None:
    model, trace = every_trace()[name]
    files = files_of(model)
    changed = next(x for x in files.weights if "q_proj.weight" in x)
    weights = {**files.weights, changed: files.weights[changed] * 1.02}
    assert failed(trace, reference.Files(files.config, weights))


def test_what_is_missing_or_too_much_is_an_infinite_error() -> None:
    for position, bias in (("alibi", None), ("sinusoidal", np.zeros((3, 7, 7)))):
        model = tiny_model(position=position)
        trace = tiny_trace(model)
        first, *others = trace.attention
        changed = replace(trace, attention=(replace(first, bias=bias), *others))
        assert list(failed(changed, files_of(model)).values()) == [math.inf]


@pytest.mark.parametrize("seed", range(3))
def test_any_mask_can_be_checked(seed: int) -> None:
    """And another one is found."""
    model = every_trace()["decoder"][0]
    mask = np.random.default_rng(seed).random((7, 7)) < 0.5
    mask[3] = False
    trace = capture(model, list(range(7)), list("abcdefg"), mask)
    assert failed(trace, files_of(model), mask) == {}
    other = mask.copy()
    other[4, 2] = not other[4, 2]
    for wrong in (None, other):
        assert any(x.startswith("biases and masks") for x in failed(trace, files_of(model), wrong))


@pytest.mark.parametrize("seq_len", [1, 2, 5])
@pytest.mark.parametrize("prefix_len", [0, 4, 11])
def test_short_texts_and_prefixes_pass(prefix_len: int, seq_len: int) -> None:
    model = tiny_model(mask="prefix", prefix_len=prefix_len)
    ids = list(range(seq_len))
    assert failed(capture(model, ids, list(map(str, ids))), files_of(model)) == {}
