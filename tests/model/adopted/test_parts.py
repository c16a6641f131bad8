"""Protects what parts of a model of transformers add to a logit, and what its arrows are worth."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from model.adopted.adopt import adopt
from model.adopted.model import capture_adopted
from model.analysis import explanation
from model.analysis.attribution import attribute, can_attribute, words_of_head, words_of_neuron
from model.analysis.explanation import Arrows, measure, unseen
from model.analysis.input_gradients import Integrated, integrated
from model.analysis.metrics import Metric
from model.analysis.similarity import nearest, token_table
from model.capture import capture
from model.trace import Stream
from tests.model.adopted.families import DECODERS, FAMILIES, build, given
from tests.model.adopted.test_adopted import EXACT, captured, twins
from tests.model.analysis.test_explanation import effects_of

IDS = list(range(3, 10))
METRIC = Metric("difference", 6, 5, 4)
IN_PARTS = {*DECODERS, "bart", "marian"} - {"gemma2"}  # whose logits are bent once more
EXPERTS = {"mixtral", "gpt_oss"}  # no one matrix makes what their feed-forward writes
RMS = {*DECODERS} - {"gpt2", "gpt_neox", "opt", "phi", "olmo"}


@pytest.mark.parametrize("family", FAMILIES)
def test_parts_sum_to_the_logit_where_they_can(family: str) -> None:
    model, trace = captured(family)
    assert model.has_projections
    assert can_attribute(model) == (family in IN_PARTS)
    if family not in IN_PARTS:
        return
    last = len(trace.output) - 1
    for position, token, against in ((last, 4, None), (0, 9, 3)):
        found = attribute(trace, model, position, token, against)
        assert found.error < EXACT
        assert np.abs(found.parts[2:-1]).min() > 1e-4, "each layer adds something"
        for record in trace.attention:
            if record.site.stack == trace.main.name:
                shares = found.heads[record.site.address]
                by_key = found.keys[record.site.address].sum(axis=-1)
                np.testing.assert_allclose(by_key, shares, atol=EXACT)
    has_neurons = family not in EXPERTS
    assert found.neurons.shape == (len(trace.residuals), model.n_neurons if has_neurons else 0)


def test_a_norm_behind_a_matrix_is_given_its_bias() -> None:
    inner = build("gemma3", attention_bias=True)
    model = adopt(inner)
    ids = given("gemma3")["input_ids"][0].tolist()
    trace = capture_adopted(
        model, torch.tensor([ids]), [Stream("decoder", "text", ("",) * 7, ids=np.array(ids))]
    )
    assert inner.model.layers[0].self_attn.o_proj.bias is not None
    assert attribute(trace, model, 6, 5).error < EXACT


@pytest.mark.parametrize("family", FAMILIES)
def test_the_last_norm_is_known_by_what_it_does(family: str) -> None:
    model, _ = captured(family)
    kind = "rms" if family in RMS else "layer"
    assert model.facts.norm == (kind if family in DECODERS else None)
    head = model.inner.get_output_embeddings()
    is_tied = head is not None and torch.equal(head.weight, model.token_table)
    assert model.facts.tied_embeddings == (None if head is None else is_tied)


def test_parts_are_those_of_our_own_model() -> None:
    (ours, theirs), names = twins(), list("abcdefg")
    trace = capture(ours, IDS, names)
    wanted, found = (attribute(trace, model, 6, 5, 4) for model in (ours, theirs))
    assert found.names == wanted.names
    np.testing.assert_allclose(found.parts, wanted.parts, atol=EXACT)
    np.testing.assert_allclose(found.neurons, wanted.neurons, atol=EXACT)
    for address, shares in wanted.heads.items():
        np.testing.assert_allclose(found.heads[address], shares, atol=EXACT)
        np.testing.assert_allclose(found.keys[address], wanted.keys[address], atol=EXACT)
    site = trace.attention[1].site
    pushed: list[Callable[[Any], np.ndarray]] = [
        lambda model: words_of_head(trace, model, site, 2, 6),
        lambda model: words_of_neuron(trace, model, 0, 5, 6),
    ]
    for of in pushed:
        np.testing.assert_allclose(of(theirs), of(ours), atol=EXACT)


@pytest.mark.parametrize("family", ["gemma3", "phi", "mixtral"])
def test_a_head_s_share_is_what_it_writes_read_by_the_last_norm(family: str) -> None:
    """The stream without what the head wrote, its scale held: the logit is that much less."""
    model, trace = captured(family)
    record, position = trace.attention[-1], 6
    found = attribute(trace, model, position, 5)
    update = model.anatomy.of("decoder")[-1].updates[0]
    norm, unembed = model.ending
    stream = torch.tensor(trace.residuals[-1].resid_post[position])
    written = torch.tensor(record.z[1, position]) @ model.output_weights(record.site)[1]
    if update.own_norm is not None:  # its gain, by the whole of what it was given
        z = torch.tensor(record.z[:, position])
        whole = torch.einsum("hd,hdm->m", z, model.output_weights(record.site))
        written = written * (update.own_norm.module(whole) / whole)

    def centred(vector: torch.Tensor) -> torch.Tensor:
        return vector - vector.mean() if model.facts.norm == "layer" else vector

    gain = (norm(stream) - norm(torch.zeros_like(stream))) / centred(stream)
    share = (gain * centred(written)) @ unembed.weight[5]
    assert found.heads[record.site.address][1] == pytest.approx(float(share), abs=1e-4)


def test_arrows_are_worth_what_they_are_in_our_own_model() -> None:
    wanted, found = (Arrows(model, IDS, METRIC) for model in twins())
    for name in ("weights", "norms", "gradients", "patterns", "token_weights"):
        expected = getattr(measure(wanted), name)
        np.testing.assert_allclose(getattr(measure(found), name), expected, atol=EXACT)
    np.testing.assert_allclose(effects_of(found), effects_of(wanted), atol=EXACT)
    first, second = (np.concatenate([x for _, x in unseen(one)]) for one in (found, wanted))
    np.testing.assert_allclose(first, second, atol=EXACT)
    first, second = (list(integrated(one))[-1] for one in (found, wanted))
    assert isinstance(first, Integrated) and isinstance(second, Integrated)
    np.testing.assert_allclose(first.attributions, second.attributions, atol=EXACT)


@pytest.mark.parametrize("family", ["gpt2", "mistral", "gemma3", "gpt_oss", "phi"])
def test_with_what_is_held_a_removal_is_the_same(
    family: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    question = Arrows(adopt(build(family)), given(family)["input_ids"][0].tolist(), METRIC)
    held = effects_of(question)
    monkeypatch.setattr(explanation, "_held_before", lambda question, n: None)
    np.testing.assert_allclose(effects_of(question), held, atol=1e-4)
    assert np.abs(held).max() > 1e-2


@pytest.mark.parametrize("family", ["bert", "gpt2"])
def test_the_nearest_rows_are_those_of_its_own_table(family: str) -> None:
    model = adopt(build(family))
    weight = model.inner.get_input_embeddings().weight
    np.testing.assert_array_equal(token_table(model), weight.numpy())
    wanted = torch.cosine_similarity(weight[4], weight, dim=-1).argsort(descending=True)
    found = nearest(token_table(model), np.ones(len(weight), bool), 4, 9, "cosine")
    assert found.ids.tolist() == wanted[:9].tolist()
