"""Protects what is switched off: every kind of edit is an independent forward with that changed."""

from collections.abc import Mapping

import numpy as np
import pytest
import torch

from model import reference
from model.analysis.ablation import (
    CLASS,
    KEPT,
    Part,
    Targets,
    Values,
    costs,
    edits_of,
    every_head,
    every_sublayer,
    everything_off,
    n_prunable,
    part_of,
    pruned,
    single_costs,
    sizes_of,
)
from model.analysis.ablation import Step as PruningStep
from model.analysis.branching import logits_at, values_of
from model.analysis.interventions import run_rows
from model.analysis.means import averaged, mean_over, ordinary
from model.capture import capture, capture_image, capture_translation
from model.tap import Editor, Recorder, attach
from model.trace import Stream, Trace
from model.verify.independent import check_independently, edited
from tests.model.builders import (
    GROUPED,
    files_of,
    tiny_encoder,
    tiny_model,
    tiny_picture,
    tiny_translator,
    tiny_vision,
)

IDS, OTHERS = [3, 1, 4, 1, 5, 9, 2], [2, 7, 1, 8, 2, 8, 1]
SOURCE, TARGET = ([3, 1, 4, 1, 5], [2, 7, 1, 6]), ([9, 9, 2, 3, 0], [2, 1, 1, 8])
RMS = {"position": "rope", "norm": "rms", "feedforward": "swiglu"}
SPECIAL = {3, 2}  # the first and the last of some
MODELS = {
    "decoder": (tiny_model(), IDS, OTHERS),
    "grouped": (tiny_model(**GROUPED, **RMS), IDS, OTHERS),
    "post-norm": (tiny_model(norm_placement="post", position="alibi"), IDS, OTHERS),
    "encoder": (tiny_encoder(), IDS, OTHERS),
    "encoder_decoder": (tiny_translator(norm_placement="post"), SOURCE, TARGET),
    "vision": (tiny_vision(), tiny_picture(), tiny_picture(1)),
}
PARTS = {
    "decoder": [
        "decoder.attn.0.1",
        "decoder.attn.1",
        "decoder.ffn.0",
        "decoder.ffn.1.7",
        "decoder.attn.0.2.4",
        "decoder.attn.1.0.5.3",
    ],
    "encoder_decoder": [
        "encoder.attn.1.2",
        "encoder.ffn.2.4",
        "decoder.cross_attn.1.0",
        "decoder.cross_attn.0",
        "decoder.cross_attn.1.1.2.4",
        "decoder.ffn.1.3",
        "decoder.attn.0.1.3.2",
        "decoder.attn.1.1.2",
    ],
}
OF_ENCODERS = [text.replace("decoder", "encoder") for text in PARTS["decoder"]]
OF_ENCODERS[4:] = ["encoder.attn.0.2.4", "encoder.attn.1.0.0.6"]


def parts_of(name: str) -> list[str]:
    if name in ("encoder", "vision"):
        return OF_ENCODERS
    return PARTS.get(name, PARTS["decoder"])


def trace_of(name: str, attachments: list[Editor]) -> Trace:
    model, given, _ = MODELS[name]
    if name == "vision":
        return capture_image(model, given, attachments=attachments)
    if name == "encoder_decoder":
        source, target = ((ids, list(map(str, ids))) for ids in given)
        return capture_translation(model, source, target, attachments)
    return capture(model, given, list("abcdefg"), attachments=attachments)


def sizes(name: str) -> dict[str, tuple[int, ...]]:
    model, *_ = MODELS[name]
    lengths = {"decoder": 7, "encoder": 7}
    if name == "encoder_decoder":
        lengths = {"encoder": 5, "decoder": 4}
    return sizes_of(model, {"encoder": 10} if name == "vision" else lengths)


WRITES = {"attn": "attn_out", "cross_attn": "cross_out", "ffn": "ffn_out"}


def put_there(
    text: str, way: str, own: Values, other: Values, counted: Mapping[str, list[int]]
) -> tuple[str, tuple, object]:
    """Where a part stands in the forward pass, and what shall stand there, by its spelling."""
    stack, module, layer, *numbers = text.split(".")
    inner, block = tuple(map(int, numbers)), f"{stack}.blocks.{layer}"
    if not inner:
        place, index = f"{block}.{WRITES[module]}", ()
    elif module == "ffn":
        place, index = f"{block}.ffn.activation", (slice(None), *inner)
    else:
        place, index = f"{block}.{module}.{'pattern' if len(inner) == 3 else 'z'}", inner
    if way == "zero":
        return place, index, 0.0
    if way == "other":
        return place, index, other[place][0][index]
    value = own[place][0]
    if len(inner) == 3:
        row = value[inner[:2]]
        mask = own.get(place.replace("pattern", "mask"), torch.ones(1))
        n_keys = int(mask.expand(own[place].shape)[0][inner[:2]].sum())
        return place, index, row.sum() / max(1, n_keys)
    rows = value[index] if module == "ffn" else value[inner[:1]]
    return place, index, rows[counted[stack]].mean(dim=0)


@pytest.mark.parametrize("way", ["zero", "mean", "other"])
@pytest.mark.parametrize("name", MODELS)
def test_each_edit_is_an_independent_forward_with_that_changed(name: str, way: str) -> None:
    model, given, other = MODELS[name]
    own, others = (values_of(model, text, KEPT) for text in (given, other))
    plain = trace_of(name, [])
    counted = {
        stream.name: [i for i in range(len(stream)) if not is_special(stream, i)]
        for stream in plain.streams
    }
    means = averaged(own, ordinary(plain, SPECIAL))
    for texts in [*([text] for text in parts_of(name)), parts_of(name)[:3]]:
        parts = [part_of(text, sizes(name)) for text in texts]
        assert [part.text for part in parts] == texts
        edits = edits_of(parts, way, means, others)
        recorder = Recorder()
        logits_at(model, given, 0, attach(Editor(*edits), recorder))
        for text in texts:
            place, index, value = put_there(text, way, own, others, counted)
            there = recorder.values[place][0][index]
            torch.testing.assert_close(there, torch.as_tensor(value).expand_as(there))
        trace = trace_of(name, [Editor(*edits)])
        files = edited(files_of(model), edits, model.device)
        assert all(check.passed for check in check_independently(trace, files)), texts
        if way == "zero":  # a mean may be what stands there already
            assert not all(check.passed for check in check_independently(plain, files)), texts
        assert largest_change(plain, trace) > 1e-7, texts


def is_special(stream: Stream, at: int) -> bool:
    """Whether a token is left out of a mean; patches are not."""
    return stream.ids is not None and stream.ids[at] in SPECIAL


def test_of_special_tokens_alone_the_mean_is_over_them() -> None:
    plain = trace_of("decoder", [])
    places = ordinary(plain, {*IDS})
    assert places["decoder"].tolist() == [*range(7)]
    assert mean_over(plain, places) == "all 7 tokens"
    assert mean_over(plain, ordinary(plain, SPECIAL)) == "5 of 7 tokens, without special ones"


def largest_change(plain: Trace, trace: Trace) -> float:
    """How far any array of a run is off that of another."""
    others = dict(trace.arrays())
    numbers = ((x, others[name]) for name, x in plain.arrays() if x.dtype == np.float32)
    return max(float(np.abs(x - y).max()) for x, y in numbers)


@pytest.mark.parametrize("name", MODELS)
def test_with_everything_off_the_bias_of_the_unembedding_is_left(name: str) -> None:
    model = MODELS[name][0]
    trace = trace_of(name, [Editor(*everything_off(model))])
    bias = model.unembed.bias
    expected = np.zeros(trace.output.shape[-1]) if bias is None else bias.numpy()
    np.testing.assert_allclose(trace.output, np.broadcast_to(expected, trace.output.shape))
    files = edited(files_of(model), everything_off(model), model.device)
    assert all(check.passed for check in check_independently(trace, files))


def targets_of(name: str) -> Targets:
    if name == "vision":
        return Targets(np.array([0]), np.array([3]), CLASS)
    ids = MODELS[name][1]
    last = ids[-1] if name == "encoder_decoder" else ids
    return Targets(np.arange(len(last) - 1), np.array(last[1:]), "next token")


@pytest.mark.parametrize("name", MODELS)
def test_the_ranking_is_what_single_runs_cost(name: str) -> None:
    model, given, _ = MODELS[name]
    targets = targets_of(name)
    parts = [*every_head(sizes(name)), *every_sublayer(sizes(name))]
    rows = [edits_of([part], "zero") for part in parts]
    found = np.concatenate(list(costs(model, given, rows, targets, at_once=5)))
    assert len(found) == len(parts)
    filling = single_costs(model, given, parts, targets, whole=1.5)
    assert np.abs(filling.estimate).min() > 0
    filling.advance(1e9)
    np.testing.assert_allclose(filling.exact + 1.5, found, rtol=1e-5)
    for part, edits, loss in zip(parts, rows, found, strict=True):
        files = edited(files_of(model), edits, model.device)
        run = dict(reference.arrays(files, trace_of(name, []).given))
        logits = run["output"][targets.positions]
        exponentials = np.exp(logits - logits.max(axis=-1, keepdims=True))
        probs = exponentials / exponentials.sum(axis=-1, keepdims=True)
        expected = -np.log(probs[np.arange(len(logits)), targets.ids]).mean()
        assert loss == pytest.approx(expected, rel=1e-5), part.text
    assert len(set(np.round(found, 5))) > len(found) // 2, "they differ"


def test_pruning_takes_the_cheapest_head_each_time() -> None:
    model, given, _ = MODELS["decoder"]
    heads, targets = every_head(sizes("decoder")), targets_of("decoder")
    steps = [step for step in pruned(model, given, heads, targets, at_once=2) if step is not None]
    assert sorted(step.part for step in steps) == sorted(heads)
    off: list[Part] = []
    for step in steps:
        left = [head for head in heads if head not in off]
        alone = []
        for head in left:
            logits = run_rows(model, given, [edits_of([*off, head], "zero")])
            alone.append(float(targets.losses(logits).mean()))
        assert step.loss == pytest.approx(min(alone), rel=1e-6)
        assert alone[left.index(step.part)] == pytest.approx(min(alone), rel=1e-6)
        off.append(step.part)


def test_heads_that_can_go_are_those_before_the_loss_first_rises_too_far() -> None:
    part = Part("decoder", "attn", 0, 0)
    steps = [PruningStep(part, loss) for loss in (1.9, 2.05, 2.2, 2.0)]
    assert n_prunable(2.0, steps) == 2
    assert n_prunable(2.0, steps, rise=0.2) == 4
    assert n_prunable(1.0, steps) == 0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("heads", "'heads' is not a part; give such as"),
        ("decoder.attn", "is not a part"),
        ("encoder.attn.0.1", r"has no encoder\.attn; it has decoder\.attn, decoder\.ffn"),
        ("decoder.attn.2.0", "2 is none of 0 to 1"),
        ("decoder.attn.1.0.7", "7 is none of 0 to 6"),
        ("decoder.ffn.1.13", "13 is none of 0 to 12"),
        ("decoder.ffn.1.3.4", "takes at most 2 numbers"),
    ],
)
def test_what_is_not_a_part_is_refused_with_the_numbers(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        part_of(text, sizes("decoder"))
