"""Protects the commands attribute and ablate: their JSON is what single runs give."""

from pathlib import Path

import numpy as np
import pytest

from model import reference
from model.analysis.ablation import (
    EVERYTHING,
    KEPT,
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


def loss_of(folder: Path, *off: str, other: str | None = None) -> np.ndarray:
    """−ln p of each token of the sentence but the first, by the independent run.

    other: the text whose values stand in for what is off.
    """
    loaded = checkpoint.load(folder, "cpu")
    ids = loaded.tokenizer.encode(SENTENCE)
    if off == (EVERYTHING,):
        edits = everything_off(loaded.model)
    else:
        sizes = sizes_of(loaded.model, {"decoder": len(ids)})
        parts = [part_of(text, sizes) for text in off]
        there = values_of(loaded.model, loaded.tokenizer.encode(other), KEPT) if other else None
        edits = edits_of(parts, "other" if other else "zero", {}, there)
    files = edited(loaded.files, edits, loaded.model.device)
    probs = softmax(dict(reference.arrays(files, ids))["output"][:-1])
    return -np.log(probs[np.arange(len(probs)), ids[1:]])


def test_by_itself_it_asks_for_the_most_likely_token_at_the_end(
    tmp_path: Path, command: Command
) -> None:
    folder = tiny_checkpoint(tmp_path / "mine")
    answer = command(attribute, "--checkpoint", folder, "--text", SENTENCE).answer
    loaded = checkpoint.load(folder, "cpu")
    logits = loaded.trace(SENTENCE).trace.logits[-1]
    assert answer["token"] == loaded.tokenizer.token_strings([int(logits.argmax())])[0]
    assert answer["logit"] == pytest.approx(float(logits.max()))
    assert answer["against"] is None


@pytest.mark.parametrize(
    ("off", "way"),
    [
        (["decoder.attn.1.2"], ()),
        (["decoder.ffn.0", "decoder.attn.0.1.5.2"], ()),
        ([EVERYTHING], ()),
        (["decoder.attn.0.1"], ("--way", "other", "--other", SENTENCE[::-1])),
    ],
)
def test_what_is_off_costs_what_the_independent_run_says(
    off: list[str], way: tuple[str, ...], tmp_path: Path, command: Command
) -> None:
    folder = tiny_checkpoint(tmp_path / "mine")
    answer = command(ablate, "--checkpoint", folder, "--text", SENTENCE, "--off", *off, *way).answer
    before, after = loss_of(folder), loss_of(folder, *off, other=way[-1] if way else None)
    assert answer["loss"] == pytest.approx(before.mean(), rel=1e-5)
    assert answer["loss_off"] == pytest.approx(after.mean(), rel=1e-5)
    assert answer["changes"] == pytest.approx((after - before).tolist(), abs=1e-4)


def test_heads_are_ranked_and_pruned(tmp_path: Path, command: Command) -> None:
    folder = tiny_checkpoint(tmp_path / "mine")
    words = ("--text", SENTENCE, "--rank", "--prune")
    answer = command(ablate, "--checkpoint", folder, *words).answer
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


def test_a_blank_of_an_encoder_is_hidden_and_asked_for(command: Command) -> None:
    text, place = "Tom had a red ball.", 3
    words = ("--checkpoint", "blank", "--text", text, "--blank", place)
    loaded = checkpoint.load("blank", "cpu")
    true = np.array(loaded.tokenizer.encode(text))
    hidden = true.copy()
    hidden[place] = loaded.tokenizer.id_of(MASK)
    output = dict(reference.arrays(loaded.files, hidden))["output"]
    answer = command(attribute, *words).answer
    assert (answer["position"], answer["error"] <= 1e-4) == (place, True)
    assert answer["logit"] == pytest.approx(output[place].max(), abs=1e-4)
    answer = command(ablate, *words).answer
    losses = -np.log(softmax(output)[np.arange(len(true)), true])
    assert answer["loss"] == pytest.approx(losses.mean(), abs=1e-5)
