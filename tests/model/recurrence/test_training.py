"""Protects how the translators are trained and what is shipped of them: the scores are its own."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from model.architectures.table import config_of
from model.recurrence import stored
from model.recurrence.task import LONGEST, NAMES, TASKS, TRAINED
from model.sources.checkpoint import CheckpointSource, load, load_model
from model.training.evaluation import METRICS_FILE
from model.training.objectives import letters
from model.training.objectives.letters import Letters, scores
from model.training.plan import Plan, Stage
from model.training.recipe import Recipe
from model.training.run import train
from tests.model.builders import tiny_tokenizer
from tests.model.training.builders import CPU, Crash, assert_same_run, log_lines

LARGEST = 500_000  # bytes of a shipped weights file
TINY = ["n_embedding=8", "n_encoder=8", "n_decoder=8", "n_attention=8", "max_seq_len=40",
        "steps=30", "batch_tokens=272", "log_every=10", "evaluate_every=30",
        "save_every=10", "warmup_steps=5", "matrix_lr=1e-2", "other_lr=1e-2"]  # fmt: skip
TOKENIZER = load_model(stored.SHIPPED / "fixed", "cpu")[1]
ALPHABET = Letters.read([], [])


def tiny_recipe(*changes: str) -> Recipe:
    """The recipe of the one with attention, much smaller."""
    recipe = replace(stored.recipe_of("additive"), tokenizer_of=str(stored.SHIPPED / "fixed"))
    return recipe.with_changes([*TINY, *changes])


@pytest.fixture(autouse=True)
def few_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few rows are scored."""
    monkeypatch.setattr(letters, "N_SCORED", 3)


def test_a_batch_depends_on_its_step_and_the_seed() -> None:
    plan = Plan((Stage(steps=300, seq_len=TRAINED + 1),), 6 * (TRAINED + 1), seed=0)
    batches = list(Letters(TOKENIZER, ALPHABET, plan).batches(0))
    (again, *_) = Letters(TOKENIZER, ALPHABET, plan).batches(3)
    sources, targets = batches[3].inputs["source_ids"], batches[3].inputs["target_ids"]
    assert sources.equal(again.inputs["source_ids"])
    assert sources[:, 0].tolist() == [TASKS["reverse"]] * 3 + [TASKS["copy"]] * 3
    assert targets[:, 1:].equal(again.targets[:, :-1])
    assert sources[3:, 1:].equal(again.targets[3:]), "of a copy, its end too"
    assert sources[:3, 1:-1].flip(1).equal(again.targets[:3, :-1])
    assert {batch.targets.shape[1] - 1 for batch in batches} == set(range(1, TRAINED + 1))
    other = Letters(TOKENIZER, ALPHABET, replace(plan, seed=1))
    assert [x.targets.shape for x in other.batches(290)] != [x.targets.shape for x in batches[290:]]


def test_a_training_learns_scores_each_length_and_resumes_bit_for_bit(tmp_path: Path) -> None:
    whole, halved, recipe = tmp_path / "whole", tmp_path / "halved", tiny_recipe()
    lines = list(train(recipe, ALPHABET, whole, device=CPU))
    assert lines[-1].loss < 3.3  # −ln of an even guess of 30 is 3.40
    assert lines[-1].gradient_norms.keys() == {
        "embedding", "forwards", "backwards", "attention", "decoder", "end",
    }  # fmt: skip
    with pytest.raises(RuntimeError, match="a crash"):
        list(train(recipe, ALPHABET, halved, device=CPU, observers=[Crash(17)]))
    list(train(recipe, ALPHABET, halved, device=CPU, resume=True))
    assert_same_run(halved, whole)
    model, _ = load_model(whole, "cpu")
    for task, noted in log_lines(whole)[-1]["held_out"].items():
        found, again = stored.read_scores(whole, task), scores(model, task, TRAINED)
        assert found.loss == pytest.approx(again.loss, rel=1e-4)  # of weights in float16
        assert (found.n_rows, len(found.n_exact), len(found.n_right)) == (3, LONGEST, LONGEST)
        assert noted["targets"] == 3 * sum(range(2, TRAINED + 2))
    assert "no heads" in CheckpointSource().described(str(whole))
    with pytest.raises(ValueError, match=r"architecture 'recurrent', which has no heads"):
        load(whole)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("n_encoder=0", "n_encoder is 0; it must be at least 1"),
        ("n_attention=-1", "n_attention is -1; it must be at least 0"),
        ("d_model=8", "config has d_model, a field of the architecture 'decoder'"),
        ("seq_len=41", "seq_len 41 but max_seq_len is 40"),
        ("seq_len=1", "seq_len 1 and batch_tokens 272; a row needs 2 or more"),
        ("batch_tokens=17", "and a batch a row of each task"),
        ("optimizer=muon", "has none; set optimizer"),
        ("objective=translation", "trains the architecture 'encoder_decoder', but"),
    ],
)
def test_what_cannot_be_trained_is_one_line(change: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=re.escape(said)) as raised:
        list(train(tiny_recipe(change), ALPHABET, tmp_path / "own", device=CPU))
    assert "\n" not in str(raised.value)


def test_another_vocabulary_and_a_log_without_scores_are_one_line(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match='set tokenizer_of = "assets/recurrence/fixed"'):
        Letters(tiny_tokenizer(), ALPHABET, tiny_recipe().plan)
    with pytest.raises(ValueError, match="does not end with scores of copy; train to the end"):
        stored.read_scores(tmp_path, "copy")
    line = {"step": 1, "loss": 1.0, "learning_rate": 1, "tokens": 1, "tokens_per_second": None}
    line |= {"held_out": {"copy": {"loss": 1.0}}}
    (tmp_path / METRICS_FILE).write_text(json.dumps(line) + "\n")
    with pytest.raises(ValueError, match="lacks accuracy, n_exact, n_right, n_rows, targets"):
        stored.read_scores(tmp_path, "copy")


@pytest.mark.parametrize("name", stored.NAMES)
def test_what_is_shipped(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """About as many numbers each, small files, the sizes of the recipe, scores of those weights."""
    folder, model, recipe = stored.SHIPPED / name, stored.shipped(name), stored.recipe_of(name)
    assert (folder / "model.safetensors").stat().st_size < LARGEST
    assert abs(sum(x.numel() for x in model.parameters()) / 149_000 - 1) < 0.01
    assert config_of({**recipe.model, "vocab_size": len(NAMES)}) == model.config
    assert (recipe.name, recipe.stages[0].seq_len) == (name, TRAINED + 1)
    assert log_lines(folder)[-1]["step"] == recipe.total_steps
    assert load_model(folder, "cpu")[1].to_json() == TOKENIZER.to_json()
    for task in TASKS:
        kept = stored.read_scores(folder, task)
        assert len(kept.n_exact) == len(kept.n_right) == LONGEST
        monkeypatch.setattr(letters, "N_SCORED", kept.n_rows)
        for n in (5, 19):
            again = letters.count(model, letters.scored(task, n))
            differ = (again[0] - kept.n_exact[n - 1], again[1] - kept.n_right[n - 1])
            assert abs(differ[0]) <= 2, (task, n)  # of logits that are all but equal
            assert abs(differ[1]) <= 4, (task, n)


def test_the_transformer_and_attention_learned_the_task() -> None:
    for name in ("transformer", "additive"):
        for task in TASKS:
            kept = stored.read_scores(stored.SHIPPED / name, task)
            assert min(kept.n_exact[:TRAINED]) / kept.n_rows > 0.99, (name, task)
