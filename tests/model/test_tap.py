"""Protects the tap: edits and gradients are an independent forward's, in one call each."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch

from model import attention
from model.capture import capture
from model.tap import NO_TAP, Edit, Editor, Gradients, Recorder, attach
from model.trace import Trace
from tests.model.builders import (
    GROUPED,
    all_arrays,
    set_head,
    set_weight,
    tiny_ids,
    tiny_model,
)

IDS = [3, 1, 4, 1, 5, 9, 2]
TOKENS = list("abcdefg")
LAYER_0, LAYER_1 = "decoder.blocks.0.attn", "decoder.blocks.1.attn"


def test_addresses_are_paths_and_absent_values_are_shown_to_nobody() -> None:
    recorder = Recorder()
    tiny_model(position="rope")(tiny_ids(), tap=attach(recorder))
    attn = {f"attn.{name}" for name in ("q", "k", "v", "mask", "scores", "pattern", "z")}
    others = {"attn_norm.scaled", "ffn_norm.scaled", "ffn.activation"}
    resid = {"resid_pre", "attn_out", "resid_mid", "ffn_out", "resid_post"}
    per_layer = attn | others | resid
    expected = {f"decoder.blocks.{layer}.{name}" for layer in range(2) for name in per_layer}
    expected |= {"decoder.final_norm.scaled", "decoder.embed", "logits"}
    assert recorder.values.keys() == expected


def test_edits_act_in_their_order_and_a_recorder_after_them_keeps_what_they_gave() -> None:
    before, after = Recorder({"z"}), Recorder({"z"})
    twice = Editor(Edit(f"{LAYER_0}.z", lambda z: z + 1), Edit(f"{LAYER_0}.z", lambda z: 2 * z))
    tiny_model()(tiny_ids(), tap=attach(before, twice, after))
    address = f"{LAYER_0}.z"
    assert torch.equal(after.values[address], 2 * (before.values[address] + 1))


def test_an_edit_that_changes_the_shape_is_refused() -> None:
    halved = Edit(f"{LAYER_0}.z", lambda z: z[:, :1])
    with pytest.raises(ValueError, match=r"attn.z gives shape \(1, 1, 7, 10\); the value has"):
        capture(tiny_model(), IDS, TOKENS, attachments=[Editor(halved)])


def test_gradients_and_edits_combine_and_leave_the_weights_alone() -> None:
    model = tiny_model()
    gradients = Gradients({"z"})
    logits = model(tiny_ids(), tap=attach(Editor(set_head(LAYER_0, 1)), gradients))
    first = gradients.of(logits[0, -1, 0])
    second = gradients.of(logits[0, -1, 1])
    assert not torch.equal(first[f"{LAYER_1}.z"], second[f"{LAYER_1}.z"])
    assert (gradients.values[f"{LAYER_0}.z"][:, 1] == 0).all()
    assert all(weight.grad is None and not weight.requires_grad for weight in model.parameters())


@pytest.mark.parametrize(
    ("names", "is_explicit"), [({"resid_post", "z"}, False), ({"pattern"}, True)]
)
def test_only_scores_and_pattern_need_the_explicit_path(
    names: set[str], is_explicit: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(attention, "fused_attention" if is_explicit else "scaled_dot_product")
    recorder = Recorder(names)
    tiny_model()(tiny_ids(), tap=attach(recorder))
    assert {address.rpartition(".")[2] for address in recorder.values} == names


def test_an_edited_weight_takes_the_explicit_path_in_its_layer_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    layers, fused = [], attention.fused_attention
    monkeypatch.setattr(
        attention, "fused_attention", lambda *a, **k: layers.append(1) or fused(*a, **k)
    )
    tiny_model(n_layers=3)(tiny_ids(), tap=attach(Editor(set_weight(LAYER_1, 0, 3, 2))))
    assert len(layers) == 2
    edited = capture(tiny_model(), IDS, TOKENS, attachments=[Editor(set_weight(LAYER_1, 0, 3, 2))])
    assert [record.stages[-1] for record in edited.attention[:2]] == ["weights", "edited"]


def test_no_tap_gives_back_what_it_is_given() -> None:
    value = object()
    assert attach() is NO_TAP
    assert NO_TAP.scope("a").scope("b") is NO_TAP
    assert NO_TAP("z", value) is value  # type: ignore[type-var]
    assert not NO_TAP.wants("scores")


def test_threads_with_different_edits_on_one_model_are_what_each_is_alone() -> None:
    """25 of 25, bit for bit."""
    model = tiny_model(**GROUPED, n_layers=3)
    start_line = threading.Barrier(4)

    def run(number: int, together: bool) -> Trace:
        layer, head = divmod(number, 3)
        editor = Editor(
            set_head(f"decoder.blocks.{layer}.attn", head), set_weight(LAYER_1, head, 5, 2)
        )
        if together:
            start_line.wait()
        return capture(model, IDS, TOKENS, attachments=[editor])

    alone = [all_arrays(run(number, together=False)) for number in range(4)]
    assert not np.array_equal(alone[0]["output"], alone[1]["output"])
    with ThreadPoolExecutor(4) as threads:
        for _ in range(25):
            traces = threads.map(lambda number: run(number, together=True), range(4))
            for trace, expected in zip(traces, alone, strict=True):
                for name, array in all_arrays(trace).items():
                    np.testing.assert_array_equal(array, expected[name], err_msg=name)
