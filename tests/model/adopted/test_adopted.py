"""Protects models of transformers: what passes our tap is what they compute, and edits reach it."""

from dataclasses import replace
from functools import cache
from itertools import chain
from typing import Any, cast

import numpy as np
import pytest
import torch
import transformers as hf
from torch import Tensor

from model.adopted import model as adopted
from model.adopted.adopt import adopt
from model.adopted.attention import attend
from model.adopted.model import AdoptedModel, capture_adopted
from model.analysis.ablation import sizes_of
from model.analysis.interventions import run_rows
from model.analysis.lens import logit_lens
from model.analysis.metrics import Metric
from model.analysis.patching import Pair, begin
from model.decoding.beam import beam_search
from model.decoding.cache_run import run_through_cache
from model.decoding.filters import GREEDY
from model.decoding.predict import cache_for
from model.decoding.sampling import generate
from model.tap import Edit, Editor, Recorder, attach, set_at
from model.trace import Stream, Trace
from model.verify.check import relative_error
from model.verify.records import check_records
from model.worked_out import WorkedOut
from tests.model.adopted.families import (
    DECODERS,
    ENCODER_DECODERS,
    FAMILIES,
    HYBRIDS,
    LENGTHS,
    UNEVEN,
    VISION,
    build,
    given,
)
from tests.model.builders import randomise, set_head, set_position, set_weight, tiny_model
from tests.model.peers import gpt2_weights

# Of float32 against transformers' own eager attention. What processors add up in another order
# differs more where numbers are larger: where a family's are, it is of their scale.
EXACT = 1e-5
SAME = 1e-7  # of what is equal but for rounding, in float64
# Layers of a decoder without RoPE.
UNTURNED = {"gpt2": 3, "opt": 3, "smollm3": 2, "granite_hybrid": 3}
MIXED = {"gemma2", "gemma3", "gpt_oss", "modernbert"}  # layers with a window and layers without
READ_OUT = {*DECODERS, "bert", "bart", "marian"}  # whose logits a part and a matrix make


@cache
def captured(family: str) -> tuple[AdoptedModel, Trace]:
    """A model of a family, and what it does on its input; of one test as of the next."""
    return afresh(family)


def afresh(family: str, seed: int = 7) -> tuple[AdoptedModel, Trace]:
    """The same, made again."""
    model, inputs = adopt(build(family, seed)), tuple(given(family).values())
    lengths = [model.anatomy.of(stack)[0].call.gave.shape[1] for stack in model.anatomy.stacks]
    if family not in VISION:
        lengths = [row.shape[1] for row in inputs]
    kind = "patches" if family in VISION else "text"
    rows = [None if family in VISION else row[0].numpy() for row in inputs]
    streams = [
        Stream(stack, kind, tuple(map(str, range(n))), ids=ids)
        for stack, n, ids in zip(model.anatomy.stacks, lengths, rows, strict=True)
    ]
    return model, capture_adopted(model, inputs if len(inputs) > 1 else inputs[0], streams)


def in_float64(family: str) -> Any:  # noqa: ANN401
    """The same weights, in numbers that leave no rounding to speak of; experts one by one."""
    return build(family, experts_implementation="eager").double()


@cache
def expected(family: str, seed: int = 7) -> tuple[Any, list[Tensor]]:
    """What transformers' own eager attention gives: the output, and patterns in our order."""
    with torch.no_grad():
        out = build(family, seed)(
            **given(family), output_attentions=True, output_hidden_states=True
        )
    if family not in ENCODER_DECODERS:
        return out, list(out.attentions)
    crossed = zip(out.decoder_attentions, out.cross_attentions, strict=True)
    return out, [*out.encoder_attentions, *chain.from_iterable(crossed)]


@pytest.mark.parametrize("family", FAMILIES)
def test_what_passes_the_tap_is_what_transformers_computes(family: str) -> None:
    model, trace = captured(family)
    out, patterns = expected(family)
    for record, pattern in zip(trace.attention, patterns, strict=True):
        np.testing.assert_allclose(record.pattern, pattern[0].numpy(), atol=EXACT)
    assert trace.output is not None
    np.testing.assert_allclose(trace.output, np.atleast_2d(out.logits[0]), atol=EXACT)
    hidden = out.decoder_hidden_states if family in ENCODER_DECODERS else out.hidden_states
    for residual, stream in zip(trace.residuals, hidden, strict=False):
        np.testing.assert_allclose(residual.resid_pre, stream[0].numpy(), atol=EXACT)
    assert len(trace.residuals) == len(model.anatomy.of(model.name)) == trace.facts.n_layers
    assert all(check.passed for check in check_records(trace))


@pytest.mark.parametrize("family", FAMILIES)
def test_parts_that_were_found_make_the_stream(family: str) -> None:
    _, trace = captured(family)
    is_post = trace.facts.norm_placement == "post"
    for stream in trace.streams:
        if stream.embed is not None and stream.positions is not None:
            total = stream.embed + stream.positions
            np.testing.assert_allclose(total, stream.residuals[0].resid_pre, atol=EXACT)
        for x in stream.residuals:
            before_ffn = x.resid_mid if x.resid_cross is None else x.resid_cross
            sums = [(x.resid_pre + x.attn_out, x.resid_mid), (before_ffn + x.ffn_out, x.resid_post)]
            if x.cross_out is not None:
                sums.append((x.resid_mid + x.cross_out, before_ffn))
            for total, after in sums:
                apart = np.abs(total - after).max()
                assert apart > 0.1 if is_post else apart < EXACT  # post: a norm stands between


@pytest.mark.parametrize("family", FAMILIES)
def test_what_is_said_of_a_model_is_what_was_seen(family: str) -> None:
    model, trace = captured(family)
    facts, record = trace.facts, trace.groups[-1].records[0]
    assert (facts.n_heads, facts.n_kv_heads) == (len(record.q), len(record.k))
    assert facts.d_head == record.q.shape[-1]
    if family in DECODERS:
        window = "sliding_window" if family == "mistral" else "causal"
        assert facts.mask == (None if family in MIXED else window)
        assert (facts.architecture, facts.predicts) == ("decoder", "next token")
        n_unturned = sum(not one.is_turned for _, one in model.anatomy.attended)
        assert n_unturned == UNTURNED.get(family, 0)
        assert facts.position == (None if n_unturned else "rope")
    if family in ("roberta", "gpt2", "opt"):
        assert facts.max_seq_len == 48  # of a table of 50 rows, 48 and 50
    assert (model.readout is not None) == (family in READ_OUT)


@pytest.mark.parametrize("family", [*HYBRIDS, *LENGTHS, *UNEVEN])
def test_text_is_that_of_transformers_whatever_layers_keep(family: str) -> None:
    inner, ids = build(family), given(family, 5)["input_ids"]
    inner.generation_config.eos_token_id = None
    asked = {"do_sample": False, "max_new_tokens": 8}
    greedy, best = (inner.generate(ids, num_beams=n, **asked)[0, 5:].tolist() for n in (1, 3))
    model, prompt = adopt(inner), ids[0].tolist()
    written = generate(model, prompt, GREEDY, max_new_tokens=8)
    assert [step.token_id for step in written] == greedy
    *_, last = beam_search(model, prompt, beam_width=3, max_new_tokens=8)
    assert last.winner is not None and list(last.winner.ids) == best


@pytest.mark.parametrize("family", UNEVEN)
def test_the_bytes_of_a_cache_are_the_sum_over_layers(family: str) -> None:
    model, trace = captured(family)
    assert len({x.shape[-1] for record in trace.attention for x in (record.k, record.v)}) == 2
    cached = run_through_cache(model, trace.ids.tolist(), 3)
    assert cached.bytes_held[7] == sum(x.k.nbytes + x.v.nbytes for x in trace.attention)
    assert cached.is_kept


@pytest.mark.parametrize("family", [*DECODERS, *UNEVEN])
def test_our_cache_serves_them(family: str) -> None:
    model, ids = adopt(in_float64(family)), given(family, 9)["input_ids"]
    assert not model.config.n_together
    cache = cache_for(model)
    with torch.inference_mode():
        whole = model(ids)
        parts = [model(part, cache=cache) for part in ids.split([3, 1, 5], dim=1)]
    np.testing.assert_allclose(torch.cat(parts, dim=1), whole, atol=SAME, rtol=0)
    trace = capture_adopted(model, ids, [Stream("decoder", "text", tuple(map(str, range(9))))])
    assert max(run_through_cache(model, ids[0].tolist(), 3).errors(trace, 9)) < SAME


@pytest.mark.parametrize("family", DECODERS)
def test_the_last_row_of_the_lens_is_what_the_model_says(family: str) -> None:
    model, trace = captured(family)
    assert logit_lens(trace, model, 3).error < EXACT


@pytest.mark.parametrize("family", ["gpt2", "bert", "t5", "vit"])
def test_two_runs_at_once_and_plain_runs_see_nothing_of_each_other(family: str) -> None:
    model = adopt(build(family))
    before = model.inner(**given(family)).logits
    site = model.anatomy.attended[0][0]
    inputs = tuple(given(family).values())
    with torch.inference_mode():
        row = inputs if len(inputs) > 1 else inputs[0]
        edited = model(row, tap=attach(Editor(set_head(site.address, 0))))
    assert not torch.equal(edited, before)
    assert torch.equal(model.inner(**given(family)).logits, before)


def test_a_pass_within_a_pass_of_a_model_that_was_opened_twice_takes_nothing_from_it() -> None:
    inner, ids = build("gpt2"), given("gpt2")["input_ids"]
    first, second = adopt(inner), adopt(inner)
    whole, broken = Recorder(), Recorder()
    within = Edit("decoder.blocks.0.attn.z", lambda z: z if second(ids).numel() else -z)
    with torch.inference_mode():
        first(ids, tap=attach(whole))
        first(ids, tap=attach(Editor(within), broken))
    assert whole.values.keys() == broken.values.keys()
    for address, value in whole.values.items():
        torch.testing.assert_close(broken.values[address], value, rtol=0, atol=0, msg=address)


def twins() -> tuple[Any, AdoptedModel]:
    """A decoder of ours, and GPT-2 of transformers with the same weights."""
    ours = tiny_model(position="learned", feedforward="gelu_tanh")
    sizes = ours.config
    config = hf.GPT2Config(
        vocab_size=sizes.vocab_size, n_embd=sizes.d_model, n_layer=sizes.n_layers,
        n_head=sizes.n_heads, n_inner=sizes.d_ff, n_positions=sizes.max_seq_len,
        bos_token_id=0, eos_token_id=0,
    )  # fmt: skip
    theirs = randomise(hf.GPT2LMHeadModel(config), seed=1)
    ours.load_state_dict(gpt2_weights(theirs.state_dict(), list(ours.state_dict())))
    return ours, adopt(theirs)


def test_edits_do_the_same_as_in_our_own_model() -> None:
    ours, theirs = twins()
    ids = list(range(3, 10))
    own, adopted_sizes = (sizes_of(model, {"decoder": len(ids)}) for model in (ours, theirs))
    assert own["decoder.attn"] == adopted_sizes["decoder.attn"]
    at = "decoder.blocks.1"
    value = torch.linspace(-1, 1, ours.config.d_model)
    rows = [
        [],
        [set_head("decoder.blocks.0.attn", 2)],
        [set_weight(f"{at}.attn", 1, 5, 2)],
        [set_position(f"{at}.resid_pre", 4, value)],
        [set_position(f"{at}.attn_out", 4, value), set_head(f"{at}.attn", 0)],
        [set_position("decoder.blocks.0.resid_mid", 3, value)],
        [set_position(f"{at}.ffn_out", 6, 0.0)],
        [set_position("decoder.blocks.0.resid_post", 2, value)],
        [set_position("decoder.embed", 1, value)],
    ]
    found, wanted = run_rows(theirs, ids, rows), run_rows(ours, ids, rows)
    np.testing.assert_allclose(found, wanted, atol=EXACT)
    apart = [float((row - wanted[0]).abs().max()) for row in wanted[1:]]
    assert min(apart) > 0.01  # each edit does something


def test_as_many_tokens_run_as_the_memory_holds() -> None:
    model = adopt(build("llama", max_position_embeddings=10**6))
    assert model.facts.max_seq_len == 10**6
    n = model.config.max_seq_len  # of 3 layers of 4 heads
    assert 12 * n**2 <= 160_000_000 < 12 * (n + 1) ** 2
    with pytest.raises(
        ValueError, match=r"its context is 1,000,000, and a run has at most 160,000"
    ):
        model.check_length(n + 1)


@pytest.mark.parametrize("family", FAMILIES)
def test_what_a_long_run_does_not_keep_is_worked_out(
    family: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, whole = captured(family)
    monkeypatch.setattr(adopted, "KEPT_CELLS", 0)
    _, trace = afresh(family)
    _, patterns = expected(family)
    for record, kept, pattern in zip(trace.attention, whole.attention, patterns, strict=True):
        assert isinstance(record.pattern, WorkedOut) and isinstance(record.scores, WorkedOut)
        np.testing.assert_allclose(np.asarray(record.pattern), pattern[0].numpy(), atol=EXACT)
        assert relative_error(np.asarray(record.scores), kept.scores) < EXACT
    assert trace.output is not None and whole.output is not None
    assert relative_error(trace.output, whole.output) < EXACT
    (check,) = check_records(trace)
    assert check.passed and "worked out" in check.name


def test_a_pattern_that_is_not_what_ran_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adopted, "KEPT_CELLS", 0)
    trace = afresh("gpt2")[1]
    record = trace.attention[1]
    others = {"q": record.q + 0.01, "k": record.k[::-1], "scale": 1.1 * record.scale}
    for name, value in others.items():
        given = replace(cast("WorkedOut", record.pattern).given, **{name: value})
        lie = replace(record, pattern=WorkedOut(given, "pattern"))
        (check,) = check_records(replace(trace, attention=(lie,)))
        assert not check.passed, name


@pytest.mark.parametrize("name", ["scores", "pattern"])
def test_of_an_edited_long_run_the_edit_is_shown(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, ids = adopt(build("gpt2")), given("gpt2")["input_ids"]
    stream = Stream("decoder", "text", tuple(map(str, range(ids.shape[1]))))
    edit = set_at(f"decoder.blocks.1.attn.{name}", (slice(None), 2, 5, 3), 0.7)
    whole = capture_adopted(model, ids, [stream], attachments=[Editor(edit)])
    monkeypatch.setattr(adopted, "KEPT_CELLS", 0)
    trace = capture_adopted(model, ids, [stream], attachments=[Editor(edit)])
    for record, kept in zip(trace.attention, whole.attention, strict=True):
        np.testing.assert_allclose(np.asarray(record.pattern), kept.pattern, atol=EXACT)
        np.testing.assert_allclose(np.asarray(record.scores), kept.scores, atol=EXACT)
    assert getattr(trace.attention[1], name)[2, 5, 3] == np.float32(0.7)


def test_a_family_that_hands_over_no_mask_still_looks_back_alone() -> None:
    q, k, v = torch.randn(3, 1, 2, 5, 4, generator=torch.Generator().manual_seed(1))
    module = torch.nn.Module()
    z, _ = attend(module, q, k, v, None)
    expected = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    np.testing.assert_allclose(z, expected.transpose(1, 2), atol=EXACT)
    module.is_causal = False
    z, _ = attend(module, q, k, v, None)
    expected = torch.nn.functional.scaled_dot_product_attention(q, k, v)
    np.testing.assert_allclose(z, expected.transpose(1, 2), atol=EXACT)


def test_an_attention_that_cannot_be_seen_is_refused() -> None:
    config = hf.BloomConfig(vocab_size=61, hidden_size=24, n_layer=2, n_head=4)
    with pytest.raises(ValueError, match=r"BloomForCausalLM does not go through .* another family"):
        adopt(hf.BloomForCausalLM(config))


def test_patching_is_the_same_as_in_our_own_model() -> None:
    found, expected = (_patched(model) for model in reversed(twins()))
    for grid, values in expected.items():
        np.testing.assert_allclose(found[grid], values, atol=EXACT, err_msg=grid)


def _patched(model: Any) -> dict[str, np.ndarray]:  # noqa: ANN401
    """All grids of a pair of texts, exact and estimated."""
    metric = Metric("logit", position=6, answer=5, other=4)
    pair = Pair(model, list(range(3, 10)), [4, 9, 2, 6, 8, 1, 3], metric)
    patched = begin(pair)
    patched.filling.advance(1e9)
    guesses = {f"{grid} estimated": x for grid, x in patched.estimate.items()}
    return {**patched.exact, **guesses}


@pytest.mark.parametrize("family", ["mistral", "gpt_neox", "opt", "bert", "vit"])
def test_what_heads_write_is_what_the_block_adds(family: str) -> None:
    model, trace = captured(family)
    record, residual = trace.attention[1], trace.residuals[1]
    w_out = model.output_weights(record.site).numpy()
    written = np.einsum("htd,hdm->tm", record.z, w_out)
    rest = residual.attn_out - written  # the bias, the same for each token
    np.testing.assert_allclose(rest, np.broadcast_to(rest[0], rest.shape), atol=EXACT)


KEPT_APART = {
    "deepseek_v3",
    "gemma4",
    "gemma4_wide",
}  # values of a latent, and values that are normed


@pytest.mark.parametrize("family", [*FAMILIES, *UNEVEN])
def test_values_are_made_of_what_was_found(family: str) -> None:
    model, trace = captured(family)
    record, block = trace.attention[-1], model.anatomy.attended[-1][1]
    values = model.value_weights(record.site)
    assert (values is None) == (family in KEPT_APART)
    if values is None or block.values is None:
        return
    taken: list[Tensor] = []
    hook = block.values[0].register_forward_hook(lambda _, x, __: taken.append(x[0].squeeze(0)))
    with torch.inference_mode():
        model.inner(**given(family))
    hook.remove()
    made = torch.einsum("td,hvd->htv", taken[-1], values)
    heads = [record.kv_head(head) for head in range(record.n_heads)]
    rest = record.v[heads] - made.numpy()  # the bias, the same for each token
    np.testing.assert_allclose(rest, np.broadcast_to(rest[:, :1], rest.shape), atol=EXACT)
