"""Protects the commands' answers: what their JSON says is what single functions and runs give."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from model import reference
from model.analysis.ablation import EVERYTHING, KEPT, edits_of, everything_off, part_of, sizes_of
from model.analysis.branching import values_of
from model.commands import ablate, attribute, generate, trace, why
from model.data.tokenizer import MASK
from model.decoding.beam import beam_search
from model.decoding.filters import Sampling
from model.decoding.sampling import generate as steps
from model.decoding.translation import target_text, translated
from model.sources import checkpoint
from model.sources.checkpoint import Checkpoint
from model.verify.independent import check_independently, edited
from model.verify.records import check_records
from tests.model.builders import SENTENCE, softmax, tiny_checkpoint
from tests.model.commands.test_refusals import OURS
from tests.model.conftest import Command

Fields = dict[str, Any]  # what is printed before the JSON is `printed`
# Command, model, its words, and what some fields of its JSON are.
Answer = tuple[ModuleType, str, tuple[object, ...], Callable[[Checkpoint], Fields]]
PROMPT = "the cat"
BLANKED, BLANK = "Tom had a red ball.", 3


def written(loaded: Checkpoint, ids: list[int]) -> Fields:
    """What is said of new tokens after PROMPT."""
    text = loaded.tokenizer.decode([i for i in ids if i not in loaded.end_ids])
    return {"continuation": text, "new_tokens": len(ids), "printed": PROMPT + text}


def drawn(loaded: Checkpoint) -> Fields:
    """A text by itself, drawn with a seed."""
    ids, ends = loaded.tokenizer.encode(PROMPT), loaded.end_ids
    sampling = Sampling(temperature=0.5, top_k=7, top_p=0.9, seed=3)
    found = steps(loaded.model, ids, sampling, max_new_tokens=5, end_ids=ends)
    asked = {"checkpoint": "mine", "prompt": PROMPT, "seed": 3}
    return written(loaded, [step.token_id for step in found]) | asked


def searched(loaded: Checkpoint) -> Fields:
    """The winner of a search."""
    ids, given = loaded.tokenizer.encode(PROMPT), {"max_new_tokens": 6, "length_penalty": 0.5}
    *_, last = beam_search(loaded.model, ids, beam_width=4, end_ids=loaded.end_ids, **given)
    return written(loaded, list(last.winner.ids)) | {"stopped": last.stopped}


def translation(loaded: Checkpoint, width: int) -> Fields:
    """A target of PROMPT."""
    ids = translated(loaded.model, loaded.tokenizer, PROMPT, beam_width=width)
    return {"printed": target_text(loaded.tokenizer, ids), "new_tokens": len(ids)}


def most_likely(loaded: Checkpoint) -> Fields:
    """The token that is asked for by itself, at the end."""
    logits = loaded.trace(SENTENCE).trace.logits[-1]
    (token,) = loaded.tokenizer.token_strings([int(logits.argmax())])
    return {"token": token, "logit": float(logits.max()), "against": None}


def with_blank(loaded: Checkpoint) -> tuple[np.ndarray, np.ndarray]:
    """Ids of BLANKED, and the independent run's logits where one of them is hidden."""
    true = np.array(loaded.tokenizer.encode(BLANKED))
    hidden = true.copy()
    hidden[BLANK] = loaded.tokenizer.id_of(MASK)
    return true, dict(reference.arrays(loaded.files, hidden))["output"]


def of_blank(loaded: Checkpoint) -> Fields:
    """The most likely token in a blank."""
    return {"position": BLANK, "logit": with_blank(loaded)[1][BLANK].max()}


def loss_with_blank(loaded: Checkpoint) -> Fields:
    """−ln p of every token, one of which is hidden."""
    true, output = with_blank(loaded)
    return {"loss": -np.log(softmax(output)[np.arange(len(true)), true]).mean()}


def losses(loaded: Checkpoint, *off: str, other: str | None = None) -> np.ndarray:
    """−ln p of each token of the sentence but the first, by the independent run.

    other: the text whose values stand in for what is off.
    """
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


def without(*off: str, other: str | None = None) -> Answer:
    """What it costs that parts are off."""

    def cost(loaded: Checkpoint) -> Fields:
        before, after = losses(loaded), losses(loaded, *off, other=other)
        return {"loss": before.mean(), "loss_off": after.mean(), "changes": after - before}

    way = ("--way", "other", "--other", other) if other else ()
    return ablate, "decoder", ("--text", SENTENCE, "--off", *off, *way), cost


def proved(loaded: Checkpoint) -> Fields:
    """What a trace was checked against, and the file it lies in, which gets no other suffix."""
    run = loaded.trace(PROMPT).trace
    checks = (*check_records(run), *check_independently(run, loaded.files), *loaded.recorded)
    errors = {check.name: check.error for check in checks}
    told = {"tokens": 7, "checks": errors, "worst_error": max(errors.values())}
    return told | {"checks_passed": True, "bytes": Path(OUT).stat().st_size}


def looked(loaded: Checkpoint) -> Fields:
    """A weight, and its score less the mean of those of all keys that may be seen."""
    ids = loaded.tokenizer.encode(BLANKED)
    run = dict(reference.arrays(loaded.files, ids))
    query = len(ids) - 1
    row = run["decoder.blocks.1.attn.scores"][6, query]
    weight = run["decoder.blocks.1.attn.pattern"][6, query, 2]
    return {"head": 6, "score": row[2] - row[: query + 1].mean(), "weight": weight}


THE_CAT, OUT = ("--prompt", PROMPT), "no suffix"
BLANK_OF = ("--text", BLANKED, "--blank", BLANK)
ANSWERS: list[Answer] = [
    (
        generate, "decoder",
        (*THE_CAT, "--max-new-tokens", 5, "--temperature", 0.5, "--top-k", 7, "--top-p", 0.9,
         "--seed", 3),
        drawn,
    ),
    (
        generate, "decoder",
        (*THE_CAT, "--max-new-tokens", 6, "--beam-width", 4, "--length-penalty", 0.5),
        searched,
    ),
    (
        generate, "translator", (*THE_CAT, "--max-new-tokens", 22, "--greedy"),
        partial(translation, width=1),
    ),
    (
        generate, "translator",
        (*THE_CAT, "--max-new-tokens", 22, "--beam-width", 3, "--length-penalty", 1),
        partial(translation, width=3),
    ),
    (generate, "translator", (*THE_CAT, "--seed", 3), lambda loaded: {"seed": 3}),
    (trace, "decoder", ("--text", PROMPT, "--out", OUT), proved),
    (attribute, "decoder", ("--text", SENTENCE), most_likely),
    (attribute, "blank", BLANK_OF, of_blank),
    (
        why, "stories",
        ("--text", BLANKED, "--layer", 1, "--head", 6, "--query", 5, "--key", 2),
        looked,
    ),
    (ablate, "blank", BLANK_OF, loss_with_blank),
    without("decoder.attn.1.2"),
    without("decoder.ffn.0", "decoder.attn.0.1.5.2"),
    without(EVERYTHING),
    without("decoder.attn.0.1", other=SENTENCE[::-1]),
]  # fmt: skip


@pytest.mark.parametrize("answer", ANSWERS, ids=lambda row: f"{row[0].__name__[15:]}, {row[1]}")
def test_an_answer_is_what_single_runs_give(
    answer: Answer, tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    module, model, words, expected = answer
    monkeypatch.chdir(tmp_path)
    place = Path("mine" if model in OURS else model)
    if model in OURS:
        OURS[model](place)
    result = command(module, "--checkpoint", place, *words)
    found = {**result.answer, "printed": "\n".join(result.out[:-1])}
    for name, value in expected(checkpoint.load(place, "cpu")).items():
        is_exact = value is None or isinstance(value, str)
        near = value if is_exact else pytest.approx(value, rel=1e-5, abs=1e-5)
        assert found[name] == near, name


def test_heads_are_ranked_and_pruned(tmp_path: Path, command: Command) -> None:
    folder = tiny_checkpoint(tmp_path / "mine")
    words = ("--text", SENTENCE, "--rank", "--prune")
    answer = command(ablate, "--checkpoint", folder, *words).answer
    loaded = checkpoint.load(folder, "cpu")
    assert list(answer["costs"].values()) == sorted(answer["costs"].values(), reverse=True)
    whole = losses(loaded).mean()
    for part, cost in answer["costs"].items():
        assert cost == pytest.approx(losses(loaded, part).mean() - whole, abs=1e-5)
    first = answer["pruned"][0]
    assert first["part"] == list(answer["costs"])[-1]
    assert len(answer["pruned"]) == len(answer["costs"]) == 6
    after = [step["loss"] for step in answer["pruned"]]
    n = next((i for i, loss in enumerate(after) if loss > 1.05 * whole), len(after))
    assert answer["can_go"] == n


def test_sliding_goes_on_after_a_full_context(tmp_path: Path, command: Command) -> None:
    asked = ("--checkpoint", tiny_checkpoint(tmp_path / "mine"), *THE_CAT, "--slide")
    options = ("--temperature", 3, "--max-new-tokens", 40)
    answers = [command(generate, *asked, *options, "--seed", seed).answer for seed in range(9)]
    assert "context full" not in {answer["stopped"] for answer in answers}
    assert max(answer["new_tokens"] for answer in answers) > 23 - len(PROMPT)
