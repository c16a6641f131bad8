"""Protects what is kept of a run for those who watch it: attention as it forms, and gradients."""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from model.data.text import Corpus
from model.sources import checkpoint
from model.training import trainer as trainer_module
from model.training import watching
from model.training.objectives import LanguageModelling
from model.training.plan import Stage
from model.training.recipe import Recipe
from model.training.run import train
from model.training.runs import Frames, read_frames
from model.training.trainer import Observer, Trainer
from model.training.watching import MOST_FRAMES, AttentionFrames, FrameSteps
from tests.model.builders import SENTENCE
from tests.model.training.builders import (
    CORPUS,
    CPU,
    MODEL,
    Crash,
    assert_same_run,
    toy_recipe,
    toy_trainer,
)

JUDGED = Corpus(CORPUS.texts, {"a text": SENTENCE})


def kept(out: Path, recipe: Recipe | None = None, **options: object) -> Frames:
    """The frames of a run that has something held out."""
    list(train(recipe or toy_recipe(), JUDGED, out, device=CPU, **options))
    (found,) = read_frames(out)
    return found


@pytest.mark.parametrize(
    "mask", [{}, {"mask": "sliding_window", "window": 3}, {"mask": "prefix", "prefix_len": 4}]
)
def test_frames_are_the_patterns_of_the_model_at_their_steps(mask: dict, tmp_path: Path) -> None:
    frames = kept(tmp_path, toy_recipe(snapshots=100, model=MODEL | mask))
    assert frames.steps[0] == 0
    assert {4, 8} <= set(frames.steps), "the evaluations"
    assert frames.queries == frames.keys == tuple(SENTENCE[:11]), "as long as the context"
    assert frames.patterns.shape == (len(frames.steps), 2, 3, 11, 11)
    for step, frame in zip(frames.steps[1:], frames.patterns[1:], strict=True):
        loaded = checkpoint.load(tmp_path / f"step-{step:06}", device="cpu")
        trace = loaded.trace(SENTENCE[:11]).trace
        expected = np.stack([layer.pattern for layer in trace.attention])
        np.testing.assert_allclose(frame, expected, atol=6e-4)
        assert np.array_equal(frames.mask, trace.attention[0].mask)
    assert np.abs(frames.patterns[-1] - frames.patterns[0]).max() > 2e-3


def test_each_given_text_has_its_frames(tmp_path: Path) -> None:
    texts = (SENTENCE[:5], SENTENCE[6:9])
    recipe = toy_recipe(snapshots=100, probes="\n".join(("", *texts)))
    list(train(recipe, JUDGED, tmp_path, device=CPU))
    every = read_frames(tmp_path)
    assert [frames.text for frames in every] == [*texts]
    loaded = checkpoint.load(tmp_path / "step-000008", device="cpu")
    for frames, text in zip(every, texts, strict=True):
        expected = np.stack([layer.pattern for layer in loaded.trace(text).trace.attention])
        np.testing.assert_allclose(frames.patterns[-1], expected, atol=6e-4)
        assert np.array_equal(frames.mask, np.tri(len(text)))


def test_a_probe_that_is_too_long_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="of probes has 12 tokens; at most 11 are watched"):
        list(train(toy_recipe(probes=SENTENCE[:12]), JUDGED, tmp_path, device=CPU))


def test_frames_do_not_change_what_is_learnt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Dropout draws on torch's own randomness, and is off while somebody looks."""
    recipe = toy_recipe(model=MODEL | {"dropout": 0.3})
    kept(tmp_path / "with", recipe)
    monkeypatch.setattr(AttentionFrames, "at_start", Observer.at_start)
    list(train(recipe, JUDGED, tmp_path / "without", device=CPU))
    assert not (tmp_path / "without" / "attention.f16").exists()
    assert_same_run(tmp_path / "with", tmp_path / "without")


def test_frames_of_steps_that_come_again_are_cut(tmp_path: Path) -> None:
    recipe = toy_recipe(save_every=6, evaluate_every=2, stages=(Stage(steps=20, seq_len=7),))
    straight = kept(tmp_path / "straight", recipe)
    with pytest.raises(RuntimeError, match="a crash"):
        kept(tmp_path / "resumed", recipe, observers=[Crash(step=9)])
    (before,) = read_frames(tmp_path / "resumed")
    with (tmp_path / "resumed" / "attention.f16").open("ab") as file:
        file.write(b"half a frame")
    after = kept(tmp_path / "resumed", recipe, resume=True)
    assert after.steps == straight.steps
    assert np.array_equal(after.patterns, straight.patterns)
    assert np.array_equal(before.patterns, straight.patterns[: len(before.steps)]), "still readable"


@pytest.mark.parametrize(
    ("total", "every", "most"),
    [(1, 1, 400), (8, 100, 400), (10**9, 1, 400), (999, 7, 10), (9, 1, 3)],
)
def test_the_steps_of_frames_are_bounded(total: int, every: int, most: int) -> None:
    steps = FrameSteps(total, every, most)
    n_kept = len({*steps.early, *steps.evaluations})
    assert n_kept <= most
    assert (0 in steps) == (total in steps) == (most > 3)


def test_a_large_probe_has_fewer_frames(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert MOST_FRAMES == 400
    monkeypatch.setattr(watching, "MOST_BYTES", 5 * 2 * 2 * 3 * 11 * 11)
    recipe = toy_recipe(evaluate_every=1, stages=(Stage(steps=20, seq_len=7),))
    assert len(kept(tmp_path, recipe).steps) <= 5


def test_a_line_says_all_the_time_since_the_one_before_but_pauses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An evaluation takes five seconds, a step one; a pause of a thousand ends no run of 2 min."""
    now = [0.0]

    def go(seconds: float) -> None:
        now[0] += seconds

    def pause(seconds: float) -> None:
        go(1000)
        (tmp_path / watching.CONTROL_FILE).unlink()

    class Pausing(Observer):
        def after_step(self, trainer: Trainer) -> None:
            if trainer.steps_done == 3:
                (tmp_path / watching.CONTROL_FILE).write_text(watching.PAUSE)

    loss, evaluate = LanguageModelling.loss, LanguageModelling.evaluate
    monkeypatch.setattr(LanguageModelling, "loss", lambda *x: go(1) or loss(*x))
    monkeypatch.setattr(LanguageModelling, "evaluate", lambda *x: go(5) or evaluate(*x))
    clock = SimpleNamespace(monotonic=lambda: now[0], sleep=pause)
    for module in (trainer_module, watching):
        monkeypatch.setattr(module, "time", clock)
    recipe = toy_recipe(evaluate_every=1)
    run = train(recipe, JUDGED, tmp_path, device=CPU, observers=[Pausing()], max_minutes=2)
    assert [line.seconds for line in run] == 8 * [6]
    assert now == [1048]


def test_gradient_norms_are_those_of_the_step_before_it_is_clipped() -> None:
    trainer, twin = toy_trainer(max_grad_norm=1e-3), toy_trainer(max_grad_norm=1e-3)
    norms: dict[str, float] = {}
    for step, batch in enumerate(twin.objective.batches(0), start=1):
        if step == 2:
            twin.objective.loss(twin.model, batch).backward()
            for name, weight in twin.model.named_parameters():
                part = {"b": f"layer {name[7]}", "e": "embedding", "f": "end"}[name[0]]
                norms[part] = norms.get(part, 0.0) + weight.grad.double().square().sum().item()
            break
        twin.step(batch)
    metrics = next(trainer.run())
    assert metrics.gradient_norms.keys() == {"embedding", "layer 0", "layer 1", "end"}
    expected = {part: square**0.5 for part, square in norms.items()}
    assert metrics.gradient_norms == pytest.approx(expected, rel=1e-4)


def test_gradient_norms_outlast_a_stop_between_a_step_and_its_line() -> None:
    trainer, other = toy_trainer(), toy_trainer()
    for batch, _ in zip(trainer.objective.batches(0), range(2), strict=False):
        assert not trainer.gradient_norms, "only of steps whose metrics are due"
        trainer.step(batch)
    other.restore(trainer.state())
    assert next(other.run()).gradient_norms == next(trainer.run()).gradient_norms != {}


def test_an_evaluation_says_what_the_model_writes(tmp_path: Path) -> None:
    lines = list(train(toy_recipe(), JUDGED, tmp_path, device=CPU))
    assert [bool(line.sample) for line in lines] == [False, True, False, True]
    written = [
        json.loads(x)["sample"] for x in (tmp_path / "metrics.jsonl").read_text().split("\n") if x
    ]
    assert written == [line.sample for line in lines]
