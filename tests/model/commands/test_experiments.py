"""Protects the commands attribute and ablate: their JSON is what single runs give."""

import json
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from model import reference
from model.analysis.ablation import (
    EVERYTHING,
    KEPT,
    Values,
    edits_of,
    everything_off,
    part_of,
    sizes_of,
)
from model.analysis.branching import values_of
from model.commands import ablate, attribute
from model.data.tokenizer import MASK
from model.sources import checkpoint
from model.verify.independent import edited
from tests.model.builders import (
    SENTENCE,
    softmax,
    tiny_checkpoint,
)
from tests.model.conftest import Command


def loss_of(folder: Path, *off: str, other: Values | None = None) -> np.ndarray:
    """−ln p of each token of the sentence but the first, by the independent run."""
    loaded = checkpoint.load(folder, "cpu")
    ids = loaded.tokenizer.encode(SENTENCE)
    if off == (EVERYTHING,):
        edits = everything_off(loaded.model)
    else:
        sizes = sizes_of(loaded.model, {"decoder": len(ids)})
        parts = [part_of(text, sizes) for text in off]
        edits = edits_of(parts, "zero" if other is None else "other", {}, other)
    files = edited(loaded.files, edits, loaded.model.device)
    probs = softmax(dict(reference.arrays(files, ids))["output"][:-1])
    return -np.log(probs[np.arange(len(probs)), ids[1:]])


def test_by_itself_it_asks_for_the_most_likely_token_at_the_end(
    tmp_path: Path, command: Command
) -> None:
    folder = tiny_checkpoint(tmp_path / "mine")
    answer = json.loads(command(attribute, "--checkpoint", folder, "--text", SENTENCE).out[-1])
    loaded = checkpoint.load(folder, "cpu")
    logits = loaded.trace(SENTENCE).trace.logits[-1]
    assert answer["token"] == loaded.tokenizer.token_strings([int(logits.argmax())])[0]
    assert answer["logit"] == pytest.approx(float(logits.max()))
    assert answer["against"] is None


@pytest.mark.parametrize(
    "off", [["decoder.attn.1.2"], ["decoder.ffn.0", "decoder.attn.0.1.5.2"], [EVERYTHING]]
)
def test_what_is_off_costs_what_the_independent_run_says(
    off: list[str], tmp_path: Path, command: Command
) -> None:
    folder = tiny_checkpoint(tmp_path / "mine")
    result = command(ablate, "--checkpoint", folder, "--text", SENTENCE, "--off", *off)
    assert (result.code, result.err) == (0, [])
    answer = json.loads(result.out[-1])
    before, after = loss_of(folder), loss_of(folder, *off)
    assert answer["loss"] == pytest.approx(before.mean(), rel=1e-5)
    assert answer["loss_off"] == pytest.approx(after.mean(), rel=1e-5)
    assert answer["changes"] == pytest.approx((after - before).tolist(), abs=1e-4)


def test_heads_are_ranked_and_pruned(tmp_path: Path, command: Command) -> None:
    folder = tiny_checkpoint(tmp_path / "mine")
    words = ("--text", SENTENCE, "--rank", "--prune")
    answer = json.loads(command(ablate, "--checkpoint", folder, *words).out[-1])
    assert list(answer["costs"].values()) == sorted(answer["costs"].values(), reverse=True)
    whole = loss_of(folder).mean()
    for part, cost in answer["costs"].items():
        assert cost == pytest.approx(loss_of(folder, part).mean() - whole, abs=1e-5)
    first = answer["pruned"][0]
    assert first["part"] == list(answer["costs"])[-1]
    assert len(answer["pruned"]) == len(answer["costs"]) == 6
    losses = [step["loss"] for step in answer["pruned"]]
    n = next((i for i, loss in enumerate(losses) if loss > 1.05 * whole), len(losses))
    assert answer["can_go"] == n


def test_another_text_stands_in(tmp_path: Path, command: Command) -> None:
    folder = tiny_checkpoint(tmp_path / "mine")
    other, part = SENTENCE[::-1], "decoder.attn.0.1"
    words = ("--text", SENTENCE, "--off", part, "--way", "other", "--other", other)
    answer = json.loads(command(ablate, "--checkpoint", folder, *words).out[-1])
    loaded = checkpoint.load(folder, "cpu")
    there = values_of(loaded.model, loaded.tokenizer.encode(other), KEPT)
    expected = loss_of(folder, part, other=there).mean()
    assert answer["loss_off"] == pytest.approx(expected, rel=1e-5)


def test_a_blank_of_an_encoder_is_hidden_and_asked_for(command: Command) -> None:
    text, place = "Tom had a red ball.", 3
    words = ("--checkpoint", "blank", "--text", text, "--blank", place)
    loaded = checkpoint.load("blank", "cpu")
    true = np.array(loaded.tokenizer.encode(text))
    hidden = true.copy()
    hidden[place] = loaded.tokenizer.id_of(MASK)
    output = dict(reference.arrays(loaded.files, hidden))["output"]
    answer = json.loads(command(attribute, *words).out[-1])
    assert (answer["position"], answer["error"] <= 1e-4) == (place, True)
    assert answer["logit"] == pytest.approx(output[place].max(), abs=1e-4)
    answer = json.loads(command(ablate, *words).out[-1])
    losses = -np.log(softmax(output)[np.arange(len(true)), true])
    assert answer["loss"] == pytest.approx(losses.mean(), abs=1e-5)
    assert command(ablate, "--checkpoint", "stories", *words[2:]).code == 2


@pytest.mark.parametrize(
    ("module", "words", "said"),
    [
        (ablate, ("--way", "survey"), "no survey is stored with mine; python -m model survey"),
        (ablate, ("--way", "other"), "--way other needs --other TEXT"),
        (ablate, ("--way", "other", "--other", "cat"), "has 21 tokens, the second 3; they part"),
        (attribute, ("--token", "cat"), "'cat' is not one token of mine; give one, or its id as a"),
    ],
)
def test_mistakes_are_one_line(
    module: ModuleType, words: tuple[object, ...], said: str, tmp_path: Path, command: Command
) -> None:
    folder = tiny_checkpoint(tmp_path / "mine")
    result = command(module, "--checkpoint", folder, "--text", SENTENCE, *words)
    (line,) = result.err
    assert result.code == 2 and said in line
