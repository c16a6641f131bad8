"""Protects what a translation sends: numbers of the trace and of the whole vocabulary."""

import base64

import numpy as np
import pytest
from safetensors.numpy import load

from model.capture import capture_translation
from model.trace import Trace
from tests.model.builders import softmax, tiny_translator
from tests.viz.builders import unpacked
from tests.viz.live.instruments import END, START, WRITTEN, translated
from viz.kit.tiles import group_tiles
from viz.live.translation.data import chosen_head


@pytest.fixture(scope="module")
def trace() -> Trace:
    """What the model behind `translated` did."""
    source, target = [3, 1, 4, 1, END], [START, *WRITTEN[:-1]]
    return capture_translation(
        tiny_translator(), (source, list(map(str, source))), (target, list(map(str, target)))
    )


def test_each_step_is_the_model_s(trace: Trace) -> None:
    steps, probs = translated()["steps"], softmax(trace.logits)
    assert [step["id"] for step in steps] == list(WRITTEN)
    assert [step["label"] for step in steps] == ["w2", "w7", "⟨end⟩"]
    for n, (step, token_id) in enumerate(zip(steps, WRITTEN, strict=True)):
        assert step["prob"] == pytest.approx(probs[n, token_id], abs=1e-6)
        assert step["rank"] == int((probs[n] > probs[n, token_id]).sum())
        falling = sorted(range(17), key=lambda i, n=n: -probs[n, i])
        assert [token["id"] for token in step["leading"]] == falling
        assert step["n_others"] == 0, "all 17 are named"
        before = [token["before"] for token in step["leading"]]
        assert before == pytest.approx(probs[n][falling], abs=1e-6)
        assert sum(before) == pytest.approx(1, abs=1e-6)
    assert [step["is_forced"] for step in steps] == [True, False, False]


def test_tokens_are_drawn_from_what_the_filters_leave(trace: Trace) -> None:
    """By the definition: temperature 0.8, then the most likely until they have 0.9 together."""
    for n, step in enumerate(translated()["steps"]):
        heated = softmax(trace.logits[n] / 0.8)
        order, mass = np.argsort(-heated), 0.0
        kept = np.zeros(17)
        for i in order:
            if mass >= 0.9:
                break
            kept[i], mass = heated[i], mass + heated[i]
        expected = kept / kept.sum()
        found = {token["id"]: token["after"] for token in step["leading"]}
        assert [found[i] for i in range(17)] == pytest.approx(expected, abs=1e-6)


def test_all_three_kinds_of_heads_are_there(trace: Trace) -> None:
    data = translated()
    names = ["encoder.attn", "decoder.attn", "decoder.cross_attn"]
    assert [group["name"] for group in data["groups"]] == names
    for sent, group in zip(data["groups"], trace.groups, strict=True):
        assert (unpacked(sent["tiles"]) == group_tiles(group)).all()
        assert sent["sites"] == [record.site.address for record in group.records]


@pytest.mark.parametrize(
    ("at", "over", "addresses"),
    [
        ("decoder.cross_attn.1.2", "head", ["head/decoder.blocks.1.cross_attn/2"]),
        ("decoder.cross_attn.1.2", "layer", ["summary/decoder.cross_attn/mean/layer/1"]),
        ("encoder.attn.2.0", "head",
         ["head/encoder.blocks.2.attn/0", "summary/decoder.cross_attn/mean/all/0"]),
        ("decoder.attn.0.1", "all",
         ["summary/decoder.attn/mean/all/0", "summary/decoder.cross_attn/mean/all/0"]),
    ],
)  # fmt: skip
def test_the_map_and_the_lines_are_sent_along(
    at: str, over: str, addresses: list[str], trace: Trace
) -> None:
    sent = translated(at=at, shown_heads=over)["arrays"]
    assert list(sent) == [f"live/arrays/a run/{address}" for address in addresses]
    name, layer, head = chosen_head(at)
    patterns = trace.group(name).patterns()
    expected = {"head": patterns[layer, head], "layer": patterns[layer].mean(axis=0)}
    expected["all"] = patterns.mean(axis=(0, 1))
    first = load(base64.b64decode(next(iter(sent.values()))))
    assert first["pattern"] == pytest.approx(expected[over], abs=1e-6)


def test_special_tokens_are_called_what_they_mean() -> None:
    streams = translated()["streams"]
    assert streams["encoder"]["labels"] == ["w3", "w1", "w4", "w1", "⟨end⟩"]
    assert streams["decoder"]["labels"] == ["⟨start⟩", "w2", "w7"]
