"""Protects the steps: the gradient, the log, and that what is random goes on as it would have."""

import math
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from model.architectures.decoder import DecoderTransformer
from model.data.text import Corpus
from model.training.evaluation import Evaluation
from model.training.objectives import LanguageModelling
from model.training.plan import Stage
from model.training.run import train
from model.training.trainer import Observer, Trainer, build_model
from tests.model.training.builders import (
    CORPUS,
    CPU,
    MODEL,
    assert_same_run,
    log_lines,
    state,
    toy_recipe,
    toy_trainer,
    toy_windows,
    trained,
)


class Noisy(LanguageModelling):
    """Next tokens with dropout on the logits, as a model with dropout draws on torch's own."""

    def loss(self, model: DecoderTransformer, batch: Tensor) -> Tensor:
        """Cross-entropy of logits of which half are dropped."""
        logits = F.dropout(model(batch[:, :-1]), 0.5, training=model.training)
        return F.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten())


def test_loss_falls_from_chance_to_almost_nothing(tmp_path: Path) -> None:
    """A text in which each of seven letters is always followed by the same one."""
    recipe = toy_recipe(
        model=MODEL | {"d_ff": 60},
        stages=(Stage(steps=100, seq_len=11),),
        batch_tokens=110,
        matrix_lr=0.02,
        other_lr=0.02,
    )
    metrics = list(train(recipe, Corpus(["abcdefg" * 30]), tmp_path, device=CPU))
    assert metrics[0].loss == pytest.approx(math.log(9), rel=0.1)  # with end and unknown
    assert metrics[-1].loss < 0.5


def test_a_step_returns_the_loss_it_started_from() -> None:
    trainer, windows = toy_trainer(), toy_windows()
    expected = trainer.objective.loss(trainer.model, windows).detach()
    torch.testing.assert_close(trainer.step(windows), expected)
    assert trainer.objective.loss(trainer.model, windows) < expected
    assert trainer.steps_done == 1


def test_each_line_has_the_mean_loss_since_the_one_before() -> None:
    trainer, twin = toy_trainer(), toy_trainer()
    losses = [twin.step(batch).item() for batch in twin.objective.batches(0)]
    means = [sum(losses[i : i + 2]) / 2 for i in range(0, 8, 2)]
    lines = list(trainer.run())
    assert [line.loss for line in lines] == pytest.approx(means, rel=1e-6)
    shares = [trainer.recipe.lr_share(step) for step in (1, 3, 5, 7)]
    assert [line.learning_rate for line in lines] == pytest.approx([6e-3 * x for x in shares])
    assert all(line.tokens_per_second > 0 for line in lines)


def test_a_model_too_large_is_counted_and_refused_before_anything_is_allocated() -> None:
    recipe = toy_recipe(model=MODEL | {"d_model": 300_000, "d_ff": 1_000_000})
    with pytest.raises(ValueError, match=r"[\d,]+ parameters; at most 2,000,000,000 are trained"):
        build_model(recipe, 10)


def test_gradients_are_clipped() -> None:
    trainer = toy_trainer(optimizer="adamw", max_grad_norm=1e-3)
    lengths = []

    def watch(*arguments: object) -> None:
        lengths.append(grad_norm(trainer))

    trainer.optimizers[0].register_step_pre_hook(watch)
    trainer.step(toy_windows())
    assert lengths == [pytest.approx(1e-3, rel=1e-3)]


def test_clipping_to_0_is_off(tmp_path: Path) -> None:
    metrics = [trained(tmp_path / x, toy_recipe(max_grad_norm=float(x))) for x in ("0", "1e9")]
    assert metrics[0][-1].loss < metrics[0][0].loss
    states = [state(tmp_path / x) for x in ("0", "1e9")]
    assert all(torch.equal(x, states[1][name]) for name, x in states[0].items())


def grad_norm(trainer: Trainer) -> float:
    """Length of the gradient over all weights."""
    return math.sqrt(sum(w.grad.square().sum().item() for w in trainer.model.parameters()))


def test_bfloat16_learns_the_same(tmp_path: Path) -> None:
    for precision in ("float32", "bfloat16"):
        trained(tmp_path / precision, toy_recipe(precision=precision))
    losses = [log_lines(tmp_path / p)[-1]["loss"] for p in ("float32", "bfloat16")]
    assert losses[0] == pytest.approx(losses[1], rel=0.02)
    assert {x.dtype for x in state(tmp_path / "bfloat16").values()} == {torch.float32}


def test_same_recipe_same_weights_other_seed_others(tmp_path: Path) -> None:
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        trained(tmp_path / name, toy_recipe(seed=seed))
    assert_same_run(tmp_path / "a", tmp_path / "b")
    assert not torch.equal(*(state(tmp_path / x)["model.embed.weight"] for x in "ac"))


def test_the_model_learns_in_train_mode_and_is_judged_in_eval_mode() -> None:
    modes = []

    class Watched(LanguageModelling):
        def loss(self, model: DecoderTransformer, batch: Tensor) -> Tensor:
            modes.append(("loss", model.training))
            return super().loss(model, batch)

        def evaluate(self, model: DecoderTransformer) -> dict[str, Evaluation]:
            modes.append(("evaluate", model.training))
            return {}

    trainer = toy_trainer()
    trainer.model.eval()
    tokenizer = trainer.objective.tokenizer
    objective = Watched(tokenizer, CORPUS, trainer.recipe.plan)
    list(Trainer(trainer.recipe, trainer.model, objective, CPU).run())
    four = 4 * [("loss", True)] + [("evaluate", False)]
    assert modes == four + four


def test_dropout_differs_from_step_to_step_and_from_seed_to_seed() -> None:
    def losses(seed: int) -> list[float]:
        trainer = toy_trainer(seed=seed, matrix_lr=0.0, other_lr=0.0, optimizer="adamw")
        noisy = Noisy(trainer.objective.tokenizer, CORPUS, trainer.recipe.plan)
        trainer = Trainer(trainer.recipe, toy_trainer().model, noisy, CPU)
        return [trainer.step(toy_windows()).item() for _ in range(4)]

    assert len(set(losses(0))) == 4
    assert not set(losses(0)) & set(losses(1))
    assert losses(0) == losses(0)


def test_training_leaves_the_randomness_of_others_alone() -> None:
    trainer = toy_trainer()
    torch.manual_seed(7)
    expected = torch.rand(3)
    torch.manual_seed(7)
    trainer.step(toy_windows())
    assert torch.equal(torch.rand(3), expected)


def test_a_failed_step_is_not_an_end() -> None:
    """The weights may be changed by half: they must not replace those that were saved."""
    ended = []

    class Watcher(Observer):
        def at_end(self, trainer: Trainer) -> None:
            ended.append(trainer.steps_done)

    trainer = toy_trainer()
    trainer.optimizers[-1].register_step_pre_hook(lambda *arguments: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        list(trainer.run([Watcher()]))
    assert ended == []
