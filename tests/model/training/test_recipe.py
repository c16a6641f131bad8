"""Protects the recipe: it means what it says, and a broken one is refused with one line."""

import re
from pathlib import Path

import pytest

from model.architectures.table import config_of
from model.data.tokenizer import TOKENIZERS
from model.device import PRECISIONS
from model.training.objectives import OBJECTIVES
from model.training.optimizers import OPTIMIZERS, SCHEDULES
from model.training.plan import Stage
from model.training.recipe import Recipe
from model.training.sized import recipe_for
from model.weights import INITIALISATIONS
from tests.model.training.builders import TOML, toy_recipe

RECIPES = sorted((Path(__file__).parents[3] / "assets" / "recipes").glob("*.toml"))


def test_a_recipe_is_read_as_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "toy.toml"
    path.write_text(TOML)
    recipe = Recipe.load(path)
    assert recipe.stages == (Stage(steps=5, seq_len=7),)
    assert recipe.model == {"d_model": 30, "n_layers": 2, "n_heads": 3, "max_seq_len": 11}
    assert (recipe.name, recipe.batch_tokens, recipe.warmup_steps) == ("toy", 35, 3)
    as_before = (recipe.objective, recipe.schedule, recipe.snapshots)
    assert as_before == ("language_modelling", "cosine", 0), "what the file does not say"


@pytest.mark.parametrize(
    ("name", "table"),
    [
        ("tokenizer", TOKENIZERS),
        ("objective", OBJECTIVES),
        ("optimizer", OPTIMIZERS),
        ("schedule", SCHEDULES),
        ("precision", PRECISIONS),
        ("initialisation", INITIALISATIONS),
    ],
)
def test_a_variant_is_an_entry_of_its_table(name: str, table: dict[str, object]) -> None:
    assert [getattr(toy_recipe(**{name: entry}), name) for entry in table] == list(table)
    with pytest.raises(ValueError, match=f"recipe: {name} 'magic'; choose {', '.join(table)}"):
        toy_recipe(**{name: "magic"})


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_a_recipe_as_a_file_is_the_same_and_says_what_may_be(path: Path, tmp_path: Path) -> None:
    recipe, copy = Recipe.load(path), tmp_path / "copy.toml"
    text = recipe.to_toml()
    copy.write_text(text)
    assert Recipe.load(copy) == recipe
    for name, about in (
        ("optimizer", f"what changes the weights: {', '.join(OPTIMIZERS)}"),
        ("seed", "all that is random follows from it"),
        ("batch_tokens", "tokens in a step (from 1 to 10,000,000)"),
    ):
        assert f"# {about}\n{name} = " in text
    assert re.search(r'\nnorm = "layer"  # layer, rms\n', text)


def test_fields_are_set_otherwise_wherever_they_are() -> None:
    recipe = toy_recipe(stages=(Stage(steps=3, seq_len=7),)).with_changes(
        ["steps=500", "seed = 3", "optimizer=adamw", "model.d_ff=60", "bias=false"]
    )
    assert recipe.stages == (Stage(steps=500, seq_len=7),)
    assert (recipe.seed, recipe.optimizer, recipe.name) == (3, "adamw", "toy")
    assert (recipe.model["d_ff"], recipe.model["bias"]) == (60, False)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("steps", "'steps' sets nothing; give KEY=VALUE, such as steps=500"),
        ("=5", "'=5' sets nothing; give KEY=VALUE"),
        ("seq_len=5", "there are 2 stages; set seq_len in the recipe's file"),
        ("seed=-1", "recipe: seed is -1; it must be from 0 to"),
        ("seed=x", "recipe: seed is 'x'; it must be of type int"),
        ("model=5", "recipe: model is 5; it must be of type"),
    ],
)
def test_what_cannot_be_set_is_refused(change: str, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
        toy_recipe().with_changes([change])


@pytest.mark.parametrize("n_bytes", [1, 299_999, 300_000, 3_000_000, 30_000_000, 10**10])
def test_a_text_without_a_recipe_has_a_model_of_its_size(n_bytes: int) -> None:
    recipe, larger = recipe_for(n_bytes, "a"), recipe_for(10 * n_bytes, "a")
    config = config_of({**recipe.model, "vocab_size": recipe.vocab_size or 100})
    assert config.max_seq_len == recipe.stages[0].seq_len
    assert recipe.model["d_model"] <= larger.model["d_model"]
    assert 300 <= recipe.total_steps <= 5000
    if 300 < recipe.total_steps < 5000:  # each byte is seen eight times
        seen = recipe.total_steps * recipe.batch_tokens
        bytes_of_token = {"characters": 1.0, "bpe": 3.2 if n_bytes < 30_000_000 else 3.8}
        assert seen * bytes_of_token[recipe.tokenizer] == pytest.approx(8 * n_bytes, rel=0.01)


def test_a_recipe_without_any_stage_is_refused() -> None:
    with pytest.raises(ValueError, match="there is no stage"):
        toy_recipe(stages=())


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "seq_len = 7",
            'seq_len = "7"',
            "recipe: stages[0].seq_len is '7'; it must be of type int",
        ),
        ("[[stages]]", "[stages]", "recipe: stages is {"),
        ("log_every = 2", "log_every = true", "recipe: log_every is True; it must be of type int"),
        ("log_every = 2", "snapshots = -1", "snapshots is -1; it must be from 0 to"),
        ("log_every = 2", f"seed = {2**64}", f"seed is {2**64}; it must be from 0 to"),
        ("log_every = 2", "matrix_lr = inf", "matrix_lr is inf; it must be from 0 to 100"),
        ("log_every = 2", "weight_decay = nan", "weight_decay is nan; it must be from 0 to 100"),
        ("log_every = 2", "max_grad_norm = -1.0", "max_grad_norm is -1.0; it must be from 0 to"),
        ("log_every = 2", "max_grad_norm = nan", "max_grad_norm is nan; it must be from 0 to"),
        ("log_every = 2", "average_last = 6", "average_last is 6; it must be at most 5: no more"),
        (
            "log_every = 2",
            "average_last = 4\naverage_every = 2",
            "average_last is 4; it must be at most 3: no more of 5 steps are 2 apart",
        ),
        ("\nsteps = 5", f"\nsteps = {10**12}", f"a stage of {10**12} steps"),
        ("\nsteps = 5", "\nsteps = -1", "a stage of -1 steps with"),
    ],
)
def test_a_broken_file_is_named_with_what_is_wrong(
    old: str, new: str, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "toy.toml"
    path.write_text(TOML.replace(old, new))
    expected = rf"{re.escape(str(path))}: .*{re.escape(message)}.*; see `python -m model recipe`"
    with pytest.raises(ValueError, match=expected):
        Recipe.load(path)


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_shipped_recipes_are_whole(path: Path) -> None:
    recipe = Recipe.load(path)
    sizes = {"vocab_size": recipe.vocab_size or 2} if recipe.tokenizer != "none" else {}
    config = config_of({**recipe.model, **sizes})
    assert recipe.name == path.stem
    assert max(stage.seq_len for stage in recipe.stages) <= config.max_seq_len
