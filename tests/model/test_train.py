"""Protects training: it learns, it can be stopped anywhere, and the recipe means what it says."""

import dataclasses
import json
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor

from model import train as command_module
from model.config import DecoderConfig
from model.data.text import TokenWindows, encode_texts
from model.data.tokenizer import END_OF_TEXT
from model.sources import checkpoint
from model.train import (
    METRICS_FILE,
    OPTIMIZERS,
    STATE_FILE,
    Metrics,
    Recipe,
    Run,
    Stage,
    hold_out,
    lr_share,
    split_parameters,
    train,
)
from tests.model.builders import SENTENCE, tiny_model, tiny_tokenizer
from tests.model.conftest import Command

CPU = torch.device("cpu")
RECIPES = sorted((Path(__file__).parent.parent.parent / "assets" / "recipes").glob("*.toml"))
TEXTS = [f"{SENTENCE} " * 20]
MODEL = {"d_model": 30, "n_layers": 2, "n_heads": 3, "d_ff": 13, "max_seq_len": 11}
TOML = """
name = "toy"
tokenizer = "characters"
vocab_size = 0
batch_tokens = 35
precision = "float32"
warmup_steps = 3
log_every = 2
[model]
d_model = 30
n_layers = 2
n_heads = 3
max_seq_len = 11
[[stages]]
steps = 5
seq_len = 7
"""


def toy_recipe(**changes: object) -> Recipe:
    """Eight steps in two stages, saved every three, logged every two."""
    fields = {
        "name": "toy",
        "tokenizer": "characters",
        "vocab_size": 0,
        "model": MODEL,
        "stages": (Stage(steps=3, seq_len=7), Stage(steps=5, seq_len=11)),
        "batch_tokens": 35,
        "precision": "float32",
        "warmup_steps": 3,
        "log_every": 2,
        "save_every": 3,
        "evaluate_every": 4,
    }
    return Recipe(**fields | changes)


def trained(out: Path, recipe: Recipe | None = None, **options: object) -> list[Metrics]:
    """Train to the end, or as far as the options allow."""
    return list(train(recipe or toy_recipe(), TEXTS, {}, out, device=CPU, **options))


def crash_behind(step: int, out: Path, recipe: Recipe) -> None:
    """Train until a step was logged, then stop without a goodbye."""
    metrics: Iterator[Metrics] = train(recipe, TEXTS, {}, out, device=CPU)
    for line in metrics:
        if line.step >= step:
            break
    metrics.close()


def state(out: Path) -> dict[str, Tensor]:
    """Weights and optimizer moments as saved."""
    return load_file(out / STATE_FILE)


def log_lines(out: Path) -> list[dict[str, Any]]:
    """The training log without what the clock says."""
    lines = [json.loads(line) for line in (out / METRICS_FILE).read_text().splitlines()]
    return [{k: v for k, v in line.items() if k != "tokens_per_second"} for line in lines]


def assert_same_run(actual: Path, expected: Path) -> None:
    """Bit for bit the same weights, moments and finished checkpoint."""
    states = state(actual), state(expected)
    assert states[0].keys() == states[1].keys()
    for name, tensor in states[1].items():
        assert torch.equal(states[0][name], tensor), name
    for name in ("model.safetensors", "config.json", "tokenizer.json"):
        assert (actual / name).read_bytes() == (expected / name).read_bytes()


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("step", [4, 6])
def test_resuming_after_a_crash_is_bit_for_bit(optimizer: str, step: int, tmp_path: Path) -> None:
    """Saved at step 3, where a stage ends, and at 6, inside one."""
    recipe = toy_recipe(optimizer=optimizer)
    trained(tmp_path / "straight", recipe)
    crash_behind(step, tmp_path / "resumed", recipe)
    assert not (tmp_path / "resumed" / "model.safetensors").exists()
    torch.manual_seed(step)  # the global state may be anything
    trained(tmp_path / "resumed", recipe, resume=True)
    assert_same_run(tmp_path / "resumed", tmp_path / "straight")


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_stopping_for_lack_of_time_is_bit_for_bit(optimizer: str, tmp_path: Path) -> None:
    """With no minutes at all each start does one step."""
    recipe = toy_recipe(optimizer=optimizer, log_every=1)
    trained(tmp_path / "straight", recipe)
    trained(tmp_path / "resumed", recipe, max_minutes=0)
    while len(log_lines(tmp_path / "resumed")) < 5:
        trained(tmp_path / "resumed", recipe, max_minutes=0, resume=True)
    trained(tmp_path / "resumed", recipe, resume=True)
    assert_same_run(tmp_path / "resumed", tmp_path / "straight")
    assert log_lines(tmp_path / "resumed") == log_lines(tmp_path / "straight")


def test_same_recipe_same_weights_other_seed_others(tmp_path: Path) -> None:
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        trained(tmp_path / name, toy_recipe(seed=seed))
    assert_same_run(tmp_path / "a", tmp_path / "b")
    assert not torch.equal(*(state(tmp_path / x)["model.embed.weight"] for x in "ac"))


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_loss_falls_from_chance_to_almost_nothing(optimizer: str, tmp_path: Path) -> None:
    """A text in which each of seven letters is always followed by the same one."""
    recipe = toy_recipe(
        optimizer=optimizer,
        model=MODEL | {"d_ff": 60},
        stages=(Stage(steps=100, seq_len=11),),
        batch_tokens=110,
        matrix_lr=0.02,
        other_lr=0.02,
    )
    metrics = list(train(recipe, ["abcdefg" * 30], {}, tmp_path, device=CPU))
    assert metrics[0].loss == pytest.approx(math.log(9), rel=0.1)  # with end and unknown
    assert metrics[-1].loss < 0.5


def test_loss_is_the_mean_over_all_positions() -> None:
    run = Run(toy_recipe(), tiny_tokenizer(), CPU)
    windows = TokenWindows(encode_texts(tiny_tokenizer(), TEXTS), 7, 5, 0).batch(0)
    log_probs = run.model(windows[:, :-1]).log_softmax(dim=-1)
    expected = -log_probs.gather(2, windows[:, 1:, None]).mean()
    torch.testing.assert_close(run.step(windows), expected.detach())


def test_metrics_are_yielded_and_written(tmp_path: Path) -> None:
    held_out = {"a text": SENTENCE}
    metrics = list(train(toy_recipe(), TEXTS, held_out, tmp_path, device=CPU))
    assert [line.step for line in metrics] == [2, 4, 6, 8]
    assert [line.held_out is not None for line in metrics] == [False, True, False, True]
    assert metrics[1].held_out["a text"].tokens == len(SENTENCE)
    lines = [json.loads(line) for line in (tmp_path / METRICS_FILE).read_text().splitlines()]
    assert lines == [json.loads(json.dumps(dataclasses.asdict(line))) for line in metrics]


def test_tokens_are_those_really_seen(tmp_path: Path) -> None:
    """35 tokens hold three windows of 11, which are 33."""
    assert [line.tokens for line in trained(tmp_path)] == [70, 138, 204, 270]


def test_finished_checkpoint_can_be_loaded(tmp_path: Path) -> None:
    trained(tmp_path)
    loaded = checkpoint.load(tmp_path, device="cpu")
    assert loaded.tokenizer.decode(loaded.tokenizer.encode(SENTENCE)) == SENTENCE
    for name, weight in loaded.model.state_dict().items():
        if name != "unembed.weight":
            expected = state(tmp_path)[f"model.{name}"].half().float()
            assert torch.equal(weight, expected), name


def test_stages_set_the_length_of_the_windows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shapes, real_step = [], Run.step

    def watched(run: Run, windows: Tensor) -> Tensor:
        shapes.append(tuple(windows.shape))
        return real_step(run, windows)

    monkeypatch.setattr(Run, "step", watched)
    trained(tmp_path)
    assert shapes == 3 * [(5, 8)] + 5 * [(3, 12)]


def test_a_failure_while_saving_leaves_the_old_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Run(toy_recipe(), tiny_tokenizer(), CPU)
    run.save(tmp_path)
    before = (tmp_path / STATE_FILE).read_bytes()

    def fail(tensors: dict[str, Tensor], path: Path, metadata: dict[str, str]) -> None:
        Path(path).write_bytes(b"half a file")
        raise OSError("disk full")

    monkeypatch.setattr(command_module, "save_file", fail)
    with pytest.raises(OSError, match="disk full"):
        run.save(tmp_path)
    assert (tmp_path / STATE_FILE).read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == [STATE_FILE]


def test_learning_rate_by_hand() -> None:
    """Up over 4 steps, then half a cosine over 8 down to a tenth."""
    stages = (Stage(steps=7, seq_len=7), Stage(steps=5, seq_len=11))
    recipe = toy_recipe(stages=stages, warmup_steps=4, final_lr_share=0.1)
    shares = [lr_share(recipe, step) for step in (0, 1, 2, 3, 4, 6, 8, 12, 99)]
    quarter = 0.1 + 0.9 * (1 + math.sqrt(0.5)) / 2
    assert shares == pytest.approx([0.25, 0.5, 0.75, 1, 1, quarter, 0.55, 0.1, 0.1])
    assert lr_share(dataclasses.replace(recipe, warmup_steps=0), 0) == 1


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_each_group_follows_the_schedule_from_its_own_peak(optimizer: str) -> None:
    recipe = toy_recipe(optimizer=optimizer, matrix_lr=0.3, other_lr=0.1)
    run = Run(recipe, tiny_tokenizer(), CPU)
    windows = TokenWindows(encode_texts(tiny_tokenizer(), TEXTS), 7, 5, 0).batch(0)
    for step in range(8):
        rates = [group["lr"] for opt in run.optimizers for group in opt.param_groups]
        share = lr_share(recipe, step)
        assert rates == pytest.approx([0.3 * share, 0.1 * share])
        run.step(windows)


def test_hidden_matrices_are_the_projections_of_the_blocks() -> None:
    model = tiny_model(position="learned", feedforward="swiglu", tied_embeddings=False)
    matrices, others = split_parameters(model)
    names = {id(weight): name for name, weight in model.named_parameters()}
    projections = ("q_proj", "k_proj", "v_proj", "out_proj", "up", "down", "gate")
    found = {names[id(weight)] for weight in matrices}
    places = [f"attn.{p}" if p.endswith("proj") else f"ffn.{p}" for p in projections]
    assert found == {
        f"decoder.blocks.{layer}.{place}.weight" for layer in range(2) for place in places
    }
    rest = {names[id(weight)] for weight in others}
    assert {"embed.weight", "unembed.weight", "position.table.weight", "final_norm.gain"} <= rest
    assert len(found) + len(rest) == len(names)


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_weight_decay_shrinks_hidden_matrices_only(optimizer: str) -> None:
    model = tiny_model().requires_grad_(True)
    before = {name: weight.detach().clone() for name, weight in model.named_parameters()}
    recipe = toy_recipe(optimizer=optimizer, matrix_lr=0.5, other_lr=0.5, weight_decay=0.1)
    for weight in model.parameters():
        weight.grad = torch.zeros_like(weight)
    for opt in OPTIMIZERS[optimizer](*split_parameters(model), recipe):
        opt.step()
    for name, weight in model.named_parameters():
        is_hidden = name.startswith("blocks.") and weight.ndim == 2
        expected = before[name] * (1 - 0.5 * 0.1 if is_hidden else 1)
        torch.testing.assert_close(weight.detach(), expected, atol=1e-6, rtol=0)


def test_gradients_are_clipped() -> None:
    run = Run(toy_recipe(optimizer="adamw", max_grad_norm=1e-3), tiny_tokenizer(), CPU)
    lengths = []

    def watch(*arguments: object) -> None:
        lengths.append(grad_norm(run))

    run.optimizers[0].register_step_pre_hook(watch)
    run.step(TokenWindows(encode_texts(tiny_tokenizer(), TEXTS), 7, 5, 0).batch(0))
    assert lengths == [pytest.approx(1e-3, rel=1e-3)]


def grad_norm(run: Run) -> float:
    """Length of the gradient over all weights."""
    return math.sqrt(sum(w.grad.square().sum().item() for w in run.model.parameters()))


def test_bfloat16_learns_the_same(tmp_path: Path) -> None:
    for precision in ("float32", "bfloat16"):
        trained(tmp_path / precision, toy_recipe(precision=precision))
    losses = [log_lines(tmp_path / p)[-1]["loss"] for p in ("float32", "bfloat16")]
    assert losses[0] == pytest.approx(losses[1], rel=0.02)
    assert {x.dtype for x in state(tmp_path / "bfloat16").values()} == {torch.float32}


def test_log_is_cut_back_to_the_saved_step(tmp_path: Path) -> None:
    crash_behind(8, tmp_path / "a", toy_recipe(save_every=6, stages=(Stage(steps=20, seq_len=7),)))
    assert [line["step"] for line in log_lines(tmp_path / "a")] == [2, 4, 6, 8]
    stages = (Stage(steps=20, seq_len=7),)
    trained(tmp_path / "a", toy_recipe(save_every=6, stages=stages), resume=True)
    steps = [line["step"] for line in log_lines(tmp_path / "a")]
    assert steps == list(range(2, 21, 2))


@pytest.mark.parametrize(
    "changes",
    [
        {"model": MODEL | {"d_model": 36}},
        {"model": MODEL | {"n_layers": 3}},
        {"model": MODEL | {"n_layers": 1}},
        {"optimizer": "adamw"},
    ],
    ids=["wider", "deeper", "shallower", "optimizer"],
)
def test_resuming_with_another_recipe_is_refused(changes: dict[str, Any], tmp_path: Path) -> None:
    trained(tmp_path, max_minutes=0)
    with pytest.raises(ValueError, match=r"resume|recipe"):
        trained(tmp_path, toy_recipe(**changes), resume=True)


def test_resuming_from_nothing_or_a_broken_state_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="is missing; start without --resume"):
        trained(tmp_path / "nothing", resume=True)
    trained(tmp_path, max_minutes=0)
    path = tmp_path / STATE_FILE
    path.write_bytes(path.read_bytes()[:-7])
    with pytest.raises(ValueError, match=f"{STATE_FILE} cannot be read"):
        trained(tmp_path, resume=True)


def test_forgetting_to_resume_destroys_nothing(tmp_path: Path) -> None:
    """A new tokenizer under old weights would load, and speak nonsense."""
    trained(tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(ValueError, match="resume"):
        trained(tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('name = "toy"', "name = ", "recipe.toml is no TOML"),
        ('name = "toy"', "", "recipe.toml: .*name.*; see assets/recipes"),
        ('name = "toy"', 'name = "toy"\ncolour = 1', "recipe.toml: .*colour.*; see assets/recipes"),
        ("seq_len = 7", "seq_len = 7\ncolour = 1", "recipe.toml: .*colour.*; see assets/recipes"),
        ("[[stages]]\nsteps = 5\nseq_len = 7", "", "recipe.toml lacks 'stages'; see"),
        ("steps = 5\n", "", "recipe.toml: .*steps.*; see assets/recipes"),
        ('"characters"', '"words"', "tokenizer 'words'; choose bpe, characters"),
        ('"float32"', '"int4"', "precision 'int4'; choose float32, bfloat16"),
        ('"float32"', '"float32"\noptimizer = "sgd"', "optimizer 'sgd'; choose muon, adamw"),
        ("steps = 5", "steps = 0", "a stage of 0 steps"),
        ("seq_len = 7", "seq_len = 70", "seq_len 70 and batch_tokens 35; a batch holds"),
        ("seq_len = 7", "seq_len = 12", "a stage has seq_len 12 but max_seq_len is 11; lower"),
        ("d_model = 30", "d_model = 31", "d_model 31 is not a multiple of n_heads 3"),
        ("d_model = 30", "colour = 1", "config has unknown key colour"),
        ("steps = 5", 'steps = "5"', "steps"),
        ("log_every = 2", "log_every = 0", "log_every"),
        ("batch_tokens = 35", "batch_tokens = 35.5", "batch_tokens"),
        ("warmup_steps = 3", "warmup_steps = 3\nseed = -1", "seed"),
        ("warmup_steps = 3", 'warmup_steps = 3\nmatrix_lr = "x"', "matrix_lr"),
        ("[model]", "[[model]]", "model"),
    ],
)
def test_broken_recipe_gets_one_line(
    old: str, new: str, message: str, tmp_path: Path, command: Command
) -> None:
    recipe, corpus = tmp_path / "recipe.toml", tmp_path / "corpus.txt"
    assert TOML.count(old) == 1
    recipe.write_text(TOML.replace(old, new))
    corpus.write_text(TEXTS[0])
    result = command(command_module, recipe, "--corpus", corpus, "--out", tmp_path / "out")
    assert (result.code, result.out, len(result.err)) == (2, [], 1)
    assert re.match(f"error: .*{message}", result.err[0])


def test_a_recipe_without_any_stage_is_refused() -> None:
    with pytest.raises(ValueError, match="stage"):
        toy_recipe(stages=())


def test_command_trains_evaluates_and_says_so(tmp_path: Path, command: Command) -> None:
    recipe, corpus, out = tmp_path / "recipe.toml", tmp_path / "corpus.txt", tmp_path / "out"
    recipe.write_text(TOML)
    corpus.write_text(100 * f"{SENTENCE}\n\n")
    options = (recipe, "--corpus", corpus, corpus, "--out", out)
    result = command(command_module, *options)
    assert (result.code, result.err) == (0, [])
    answer = json.loads(result.out[-1])
    assert (answer["finished"], answer["step"]) == (True, 5)
    assert answer["held_out"].keys() == {"corpus 0", "corpus 1"}
    assert checkpoint.load(out).config.d_model == 30
    again = command(command_module, *options, "--resume")
    assert json.loads(again.out[-1])["finished"] is True


def test_a_stopped_command_is_not_finished(tmp_path: Path, command: Command) -> None:
    recipe, corpus, held_out = (tmp_path / name for name in ("r.toml", "c.txt", "h.txt"))
    recipe.write_text(TOML)
    corpus.write_text(TEXTS[0])
    held_out.write_text(SENTENCE)
    paths = (recipe, "--corpus", corpus, "--held-out", held_out, "--out", tmp_path / "out")
    answer = json.loads(command(command_module, *paths, "--max-minutes", 0).out[-1])
    assert answer["finished"] is False
    answer = json.loads(command(command_module, *paths, "--resume").out[-1])
    assert answer["finished"] is True
    assert answer["held_out"].keys() == {"h.txt"}


def test_an_out_that_is_a_file_gets_one_line(tmp_path: Path, command: Command) -> None:
    recipe, corpus = tmp_path / "recipe.toml", tmp_path / "corpus.txt"
    recipe.write_text(TOML)
    corpus.write_text(TEXTS[0])
    result = command(command_module, recipe, "--corpus", corpus, "--out", corpus)
    assert (result.code, len(result.err)) == (2, 1)


def test_held_out_text_is_the_end_of_each_text_and_not_trained_on() -> None:
    paragraphs = [f"paragraph {number}" for number in range(300)]
    texts = ["\n\n".join(paragraphs), "no paragraphs here " * 50]
    kept, held_out = hold_out(texts)
    assert list(held_out) == ["corpus 0", "corpus 1"]
    for text, front, back in zip(texts, kept, held_out.values(), strict=True):
        assert front + back == text
        assert 0 < len(back) < 0.03 * len(text)
    assert held_out["corpus 0"].startswith("paragraph 29")


def test_something_is_held_out_of_a_text_that_ends_with_a_separator() -> None:
    _, held_out = hold_out([f"{'a story ' * 50}\n\n{END_OF_TEXT}"])
    assert all(held_out.values())


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_shipped_recipes_are_whole(path: Path) -> None:
    recipe = Recipe.load(path)
    config = DecoderConfig.from_dict({**recipe.model, "vocab_size": recipe.vocab_size})
    assert recipe.name == path.stem
    assert max(stage.seq_len for stage in recipe.stages) <= config.max_seq_len


def test_recipes_are_found() -> None:
    assert "stories" in {path.stem for path in RECIPES}
