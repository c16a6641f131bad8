"""Protects the Lab: what it says of a training before, while and after it runs."""

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from filelock import FileLock
from streamlit.testing.v1 import AppTest

from model.analysis.circle import circle
from model.analysis.forming import frame_induction
from model.data.tokenizer import TOKENIZERS
from model.recurrence import stored
from model.recurrence.task import TASKS
from model.sources import checkpoint, places
from model.training import runs as trainings
from model.training.objectives import OBJECTIVES
from model.training.presets import presets
from model.training.recipe import RECIPE_FILE, Recipe
from model.training.run import LOCK_FILE, train
from model.training.trainer import build_model
from model.training.watching import FRAMES_INDEX
from tests.viz.apps import (
    button,
    chart,
    chosen,
    facts,
    lines,
    offered_of,
    open_page,
    picked,
    pickers_of,
    query_of,
    tables_shown,
)
from tests.viz.builders import live_data, numbers
from viz import runs
from viz.digits import digits, duration
from viz.frame import ASSETS
from viz.runs.forming import induction_scores

TRAININGS = places.SHIPPED.parent / "trainings"
CHANGES = ("steps=20", "d_model=16", "d_ff=32", "batch_tokens=210", "evaluate_every=10")


@pytest.fixture(autouse=True)
def top(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of all trainings."""
    monkeypatch.setenv("HEADLIGHT_HOME", str(tmp_path))
    return tmp_path / "runs"


def recipe(name: str = "copy", *changes: str) -> Recipe:
    """A shipped task, so small that it is trained at once."""
    return Recipe.load(presets()[name], (*CHANGES, *changes))


def trained(out: Path, *changes: str, steps: int | None = None) -> Path:
    """A folder of a training, which stopped after so many steps."""
    made = recipe("copy", *changes)
    lines = train(made, OBJECTIVES[made.objective].read([], []), out, device=torch.device("cpu"))
    for line in lines:
        if line.step == steps:
            break
    lines.close()
    return out


def log(folder: Path) -> list[dict]:
    """The lines of a training's log."""
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]


def drawn(app: AppTest, key: str) -> dict[str, list[tuple[int, float]]]:
    """The lines of a chart over steps, by name."""
    return {
        x["name"]: list(zip(map(int, numbers(x["x"])), numbers(x["y"]).tolist(), strict=True))
        for x in chart(app, key).data
    }


def test_before_anything_runs_its_size_and_its_learning_rates_are_said() -> None:
    app = open_page("Lab", lab_task="copy", lab_fields="\n".join(CHANGES))
    assert lines(app, "error") == []
    made, data = recipe(), OBJECTIVES["copy"].read([], [])
    tokenizer = TOKENIZERS[made.tokenizer](data.texts, made.vocab_size, ())
    n_weights = sum(x.numel() for x in build_model(made, tokenizer.vocab_size).parameters())
    assert facts(app)["parameters"] == f"{n_weights:,}"
    assert facts(app)["tokens in all"] == f"{20 * 210:,}"
    assert facts(app)["of steps, on one core"] == "about 1 s"
    rates = drawn(app, "lab-schedule")["hidden matrices"]
    assert rates == [
        (step, pytest.approx(made.matrix_lr * made.lr_share(step - 1), rel=1e-6))
        for step in range(1, 21)
    ]


def test_of_what_is_too_large_to_be_timed_that_is_said() -> None:
    app = open_page("Lab", lab_task="copy", lab_fields="d_model=2048\nn_layers=8")
    assert facts(app)["of steps, on one core"] == "–"
    assert "It is too large for a step of it to be timed while you wait." in lines(app, "aside")


def test_a_field_that_is_set_stands_in_the_address_until_it_is_as_usual_again() -> None:
    app = open_page("Lab", lab_task="copy")
    usual = app.number_input(key="lab_fields-n_layers").value
    app.number_input(key="lab_fields-n_layers").set_value(3).run()
    assert query_of(app)["lab_fields"] == ["n_layers=3"]
    app.selectbox(key="lab_fields-schedule").select("noam").run()
    assert query_of(app)["lab_fields"] == ['n_layers=3\nschedule="noam"']
    app.number_input(key="lab_fields-n_layers").set_value(usual).run()
    assert query_of(app)["lab_fields"] == ['schedule="noam"']


@pytest.mark.parametrize(
    "fields",
    [
        "n_heads=5",
        "steps=",
        "nonsense",
        "d_model=99999999",
        "x=1",
        "d_model=[1]",
        'position="x"',
        "seed=9223372036854775807\nn_heads=5",
        "dropout=nan",
        f"steps={10**30}",
        'architecture="encoder"',
        "model={}",
    ],
)
def test_a_field_that_cannot_be_is_one_line_and_the_form_stays(fields: str) -> None:
    app = open_page("Lab", lab_task="copy", lab_fields=fields)
    assert len(lines(app, "error")) == 1
    assert not any(x.label == "Start training" for x in app.button)
    for key in ("steps", "n_layers", "n_heads", "d_model", "seed"):
        assert app.number_input(key=f"lab_fields-{key}").value is not None
    assert len(app.selectbox(key="lab_fields-schedule").options) > 1


def test_a_field_that_cannot_be_stands_there_to_be_corrected() -> None:
    app = open_page("Lab", lab_task="copy", lab_fields='steps=0\nn_layers=3\nn_heads="x"')
    assert lines(app, "error")[0].endswith("; change a field to go on")
    assert app.number_input(key="lab_fields-steps").value == 0
    app.number_input(key="lab_fields-steps").set_value(20).run()
    assert lines(app, "error") == []
    assert button(app, "Start training")
    assert query_of(app)["lab_fields"] == ["n_layers=3\nsteps=20"]


def test_a_start_makes_the_training_that_was_set_up(
    monkeypatch: pytest.MonkeyPatch, top: Path
) -> None:
    begun: list[tuple[Recipe, str | None]] = []

    def start(made: Recipe, *, text: str | None = None) -> Path:
        begun.append((made, text))
        return trained(top / made.name)

    monkeypatch.setattr(trainings, "start", start)
    app = open_page("Lab", lab_task="copy", lab_fields="\n".join(CHANGES))
    button(app, "Start training").click().run()
    assert begun == [(recipe(), None)]
    assert "copy: finished" in lines(app, "plain")[0]
    app = open_page("Lab", lab="new", lab_task="text")
    app.text_area(key="lab-pasted").set_value("A fox ran. " * 300).run()
    button(app, "Start training").click().run()
    assert begun[-1][1] == "A fox ran. " * 300
    assert begun[-1][0].objective == "language_modelling"


def test_a_text_is_kept_while_another_task_is_looked_at() -> None:
    app = open_page("Lab", lab="new", lab_task="text")
    app.text_area(key="lab-pasted").set_value("A fox ran. " * 300).run()
    chosen(chosen(app, lab_task="copy"), lab_task="text")
    assert app.text_area(key="lab-pasted").value == "A fox ran. " * 300


def test_a_training_is_drawn_as_its_log_and_its_frames_are(top: Path) -> None:
    folder = trained(top / "one")
    kept, (frames,) = log(folder), trainings.read_frames(folder)
    app = open_page("Lab")
    assert lines(app, "error") == []
    assert drawn(app, "lab-curve") == {
        "train": [(x["step"], x["loss"]) for x in kept],
        "held out": [(x["step"], x["held_out"]["held out"]["loss"]) for x in kept if x["held_out"]],
    }
    scored = [x for x in kept if x["held_out"]]
    assert drawn(app, "lab-accuracy") == {
        "trained on": [(x["step"], x["trained_on"]["accuracy"]) for x in scored],
        "held out, teacher forcing": [
            (x["step"], x["held_out"]["held out"]["accuracy"]) for x in scored
        ],
        "held out, free running": [(x["step"], x["alone"]["accuracy"]) for x in scored],
    }
    live = live_data(app)
    assert (live["patterns"] == frames.patterns).all()
    assert live["settings"] == {"step": 20, "against": -1, "head": ""}
    written = tables_shown(app)[-1]["it writes"]
    assert list(written.values()) == list(dict.fromkeys(x["sample"] for x in scored))


def test_step_head_and_what_is_taken_away_come_from_the_address(top: Path) -> None:
    trained(top / "one")
    app = open_page("Lab", lab_step="10", lab_against="1", lab_head="1.1")
    assert live_data(app)["settings"] == {"step": 10, "against": 1, "head": "1.1"}
    app = open_page("Lab", lab_step="4000", lab_against="x")
    assert live_data(app)["settings"] == {"step": 20, "against": -1, "head": ""}
    assert len([line for line in lines(app, "note") if "does not exist here" in line]) == 2


def test_of_several_texts_one_is_chosen(top: Path) -> None:
    every = trainings.read_frames(trained(top / "one", 'probes="cat>cat\\nowl>owl"'))
    assert [frames.text for frames in every] == ["cat>cat", "owl>owl"]
    app = open_page("Lab", lab_text="1")
    for number in (1, 0):
        live = live_data(chosen(app, lab_text=number))
        assert live["text"] == every[number].text
        assert (live["patterns"] == every[number].patterns).all()


def test_of_one_that_runs_the_last_frame_is_seen(
    top: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (frames,) = trainings.read_frames(trained(top / "one"))
    read = trainings.read_run
    monkeypatch.setattr(trainings, "read_run", lambda x: replace(read(x), state="running"))
    live = live_data(open_page("Lab", lab_run="one", lab_step="10"))
    assert live["steps"] == [20] and (live["patterns"] == frames.patterns[-1:]).all()


def test_what_is_left_counts_all_that_comes_between_steps(
    top: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And what is held out says of how many tokens."""
    folder = trained(top / "one", steps=10)
    kept = [line | {"seconds": 30} for line in log(folder)]
    (folder / "metrics.jsonl").write_text("".join(f"{json.dumps(x)}\n" for x in kept))
    read = trainings.read_run
    monkeypatch.setattr(trainings, "read_run", lambda x: replace(read(x), state="running"))
    line = lines(open_page("Lab"), "plain")[0]
    assert line.endswith(f" · {duration(30 * len(kept))} left"), "as long as what is done"
    assert f" on {kept[-1]['held_out']['held out']['targets']:,} tokens · " in line


def test_numbers_that_are_added_lie_where_the_kept_checkpoint_has_them(top: Path) -> None:
    """That of a training which has the name of a deleted one, too."""
    for seed in (0, 1):
        sizes = ("steps=6", "snapshots=3", "batch_tokens=400")
        made = recipe("modular_addition", *sizes, f"seed={seed}")
        data = OBJECTIVES[made.objective].read([], [])
        list(train(made, data, top / "one", device=torch.device("cpu")))
        app = open_page("Lab", lab_step="3")  # kept were 0, 1, 2 and 6
        kept = checkpoint.load(top / "one" / "step-000002", device="cpu")
        names = OBJECTIVES[made.objective].cycle
        ids = [kept.tokenizer.encode(name)[0] for name in names]
        found = circle(kept.model.embed.weight.detach().numpy()[ids])
        shown = chart(app, "lab-circle")
        points = next(x for x in shown.data if x.get("mode", "").startswith("markers"))
        places = np.stack([numbers(points["x"]), numbers(points["y"])], 1)
        assert np.allclose(places, found.points, atol=1e-5)
        assert "at step 2" in json.dumps(shown.layout)
        trainings.delete(top / "one")


@pytest.mark.parametrize(
    ("curve", "value"),
    [
        ("perplexity", lambda x: np.exp(x["loss"])),
        ("rate", lambda x: x["learning_rate"]),
        ("speed", lambda x: x["tokens_per_second"]),
        ("gradient", lambda x: x["gradient_norms"]["layer 0"]),
    ],
)
def test_every_curve_is_of_its_number(
    top: Path, curve: str, value: Callable[[dict], float]
) -> None:
    kept = log(trained(top / "one"))
    shown = drawn(open_page("Lab", lab_curve=curve), "lab-curve")
    wanted = [(x["step"], pytest.approx(value(x))) for x in kept]
    assert wanted in list(shown.values())


def test_a_long_log_is_thinned_number_by_number(top: Path) -> None:
    """Held-out losses stand in few lines; none is left out, nor is what came last."""
    folder = trained(top / "one")
    first, last = log(folder)[0] | {"held_out": None}, log(folder)[-1]
    kept = [(last if step % 50 == 0 else first) | {"step": step} for step in range(1, 2001)]
    (folder / "metrics.jsonl").write_text("".join(f"{json.dumps(x)}\n" for x in kept))
    shown = drawn(open_page("Lab"), "lab-curve")
    assert [step for step, _ in shown["held out"]] == [*range(50, 2001, 50)]
    assert [step for step, _ in shown["train"]] == [*range(1, 2000, 2), 2000]


def test_a_smoothed_loss_is_named_so_and_has_no_perplexity(top: Path) -> None:
    """Beside one that is not smoothed they would be taken for one kind."""
    kept = log(trained(top / "one", "label_smoothing=0.1"))
    app = open_page("Lab")
    assert set(drawn(app, "lab-curve")) == {"train, smoothed", "held out"}
    assert f"· smoothed loss {digits(kept[-1]['loss'], 3)} · held out" in lines(app, "plain")[0]
    n = checkpoint.load(top / "one", "cpu").config.vocab_size
    target = np.full(n, 0.1 / n) + 0.9 * (np.arange(n) == 0)
    least = -(target * np.log(target)).sum()
    said = f"one: with label smoothing of 0.1 the loss of training is at least {digits(least, 4)}"
    assert any(line.startswith(said) for line in lines(app, "aside"))
    assert set(drawn(open_page("Lab", lab_curve="perplexity"), "lab-curve")) == {"held out"}


def test_trainings_are_overlaid_by_name(top: Path) -> None:
    first, second = trained(top / "one"), trained(top / "two", "seed=1")
    app = open_page("Lab", lab_run="two", lab_beside="one")
    shown = drawn(app, "lab-curve")
    for folder in (first, second):
        assert shown[f"{folder.name}, train"] == [(x["step"], x["loss"]) for x in log(folder)]


def test_one_that_is_not_there_is_not_overlaid(top: Path) -> None:
    trained(top / "one")
    app = open_page("Lab", lab_run="one", lab_beside="<b>nope")
    assert "There is no training <b>nope to overlay." in lines(app, "note")


def test_one_that_stopped_is_opened_resumed_and_deleted(
    top: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = trained(top / "one", steps=10)
    app = open_page("Lab")
    assert "one: stopped · step 10 of 20" in lines(app, "plain")[0]
    begun: list[tuple[object, ...]] = []
    monkeypatch.setattr(trainings, "_spawn", lambda *given: begun.append(given))
    button(app, "Resume").click().run()
    assert begun == [(folder, "--resume")]
    opened = open_page("Attention", model="one", sentence="fox>fox")
    assert lines(opened, "error") == []


def test_one_that_was_killed_says_where_it_stood_and_what_is_saved(top: Path) -> None:
    folder = trained(top / "one", steps=10)
    last = log(folder)[-1]
    with (folder / "metrics.jsonl").open("a") as file:
        file.write(f"{json.dumps(last | {'step': 15, 'loss': 12.5})}\n")
    (folder / "running").touch()
    (folder / "train.log").write_text("step 15/20 · loss 12.50")
    app = open_page("Lab")
    assert lines(app, "plain")[0].startswith(
        f"one: ended by itself · step 10 of 20 · loss {digits(last['loss'], 3)} · held out"
    )
    assert lines(app, "error") == [
        "it ended by itself at step 15, last saved at 10: step 15/20 · loss 12.50"
    ]
    os.utime(folder / "metrics.jsonl", (1, 1))  # it is gone on with, and has not come to a step
    with FileLock(folder / LOCK_FILE):
        app = open_page("Lab")
    assert lines(app, "plain")[0].startswith("one: starting · step 10 of 20 · loss")
    assert lines(app, "error") == []


def test_every_page_follows_the_steps_that_were_kept(top: Path) -> None:
    folder = trained(top / "one", "snapshots=4")
    app = open_page("Attention", model="one/step-000003", sentence="fox>fox")
    assert lines(app, "error") == []
    assert offered_of(app, "variant") == ["0", "1", "3", "7", "20", "the last"]
    assert picked(app, "variant") == "one/step-000003"
    assert [x["is_dragged"] for x in pickers_of(app, "variant")] == [True]
    assert picked(app, "model") == "one"
    assert not any("step-" in name for name in offered_of(app, "model"))
    own = checkpoint.load(folder / "step-000003", device="cpu")
    shown = runs.run(runs.handle_of("one/step-000003", "cpu"), "fox>fox").trace
    again = runs.run(runs.handle_of("one", "cpu"), "fox>fox").trace
    assert np.allclose(shown.logits, logits_of(own, "fox>fox"), atol=1e-5)
    assert not np.allclose(shown.logits, again.logits, atol=1e-3)


def logits_of(own: checkpoint.Checkpoint, text: str) -> np.ndarray:
    """What a checkpoint gives for a text, (T, V)."""
    ids = torch.tensor([own.tokenizer.encode(text)])
    with torch.inference_mode():
        return own.model(ids)[0].numpy()


def test_the_step_is_marked_from_which_a_head_is_named_for_induction(
    top: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    patterns = np.zeros((4, 2, 2, 6, 6), np.float16)
    patterns[...] = np.tri(6) / np.arange(1, 7)[:, None]
    for frame, weight in enumerate((0.1, 0.5, 0.2, 0.6)):  # reached, lost, and reached for good
        for query in (3, 4, 5):  # a b c a b c: after the copy of a stands b
            patterns[frame, 1, 0, query] = 0
            patterns[frame, 1, 0, query, query - 2] = weight
    text, mask = "abcabc", np.tri(6, dtype=bool)
    frames = trainings.Frames(text, (0, 5, 9, 20), (*text,), (*text,), mask, patterns, "1")
    monkeypatch.setattr(trainings, "read_frames", lambda folder: [frames])
    trained(top / "one")
    app = open_page("Lab", lab_curve="induction")
    assert [y for _, y in drawn(app, "lab-curve")["L1 H0"]] == pytest.approx(
        [0.1, 0.5, 0.2, 0.6], abs=1e-3
    )
    assert "Dotted: L1 H0 attends after copies from step 20 on." in lines(app, "aside")
    (rule,) = chart(app, "lab-curve").layout["shapes"]
    assert (rule["x0"], rule["x1"]) == (20, 20)


def test_of_a_training_that_goes_on_its_new_steps_alone_are_measured(
    top: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, measured = trained(top / "one", 'probes="ababab"'), []

    def counted(frame: np.ndarray, *given: Any) -> np.ndarray:  # noqa: ANN401
        measured.append(frame)
        return frame_induction(frame, *given)

    monkeypatch.setattr("viz.runs.forming.frame_induction", counted)
    index = folder / FRAMES_INDEX
    head, *steps = index.read_text().splitlines(keepends=True)
    for n in (2, 3, 3, len(steps)):  # by seconds
        index.write_text("".join((head, *steps[:n])))
        scores = induction_scores(read_frames(folder))
        assert len(measured) == len(scores) == n
    assert all((x == y).all() for x, y in zip(measured, read_frames(folder).patterns, strict=True))


def test_no_scores_are_those_of_a_deleted_training_of_the_name(top: Path) -> None:
    for seed in (0, 1):
        frames = read_frames(trained(top / "one", 'probes="ababab"', f"seed={seed}"))
        expected = [frame_induction(x, frames.mask, frames.keys) for x in frames.patterns]
        assert (induction_scores(frames) == expected).all()
        del frames
        trainings.delete(top / "one")


def read_frames(folder: Path) -> trainings.Frames:
    """The frames of the one text that a training watches."""
    (frames,) = trainings.read_frames(folder)
    return frames


def test_the_list_says_of_each_what_became_of_it_and_how_far_it_has_come(
    top: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beside one that runs another is named; no core is left, so it slows the first."""
    for name, steps in (("whole", None), ("half", 10), ("killed", 10), ("live", 10)):
        trained(top / name, steps=steps)
    (top / "killed" / "running").touch()
    (top / "broken").mkdir()
    (top / "broken" / RECIPE_FILE).write_text("no recipe")
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    with FileLock(top / "live" / LOCK_FILE):
        app = open_page("Lab", lab_run="live")
        assert set(offered_of(app, "lab_run")) >= {
            "whole · finished",
            "half · stopped, step 10 of 20",
            "killed · ended by itself, step 10 of 20",
            "live · running, step 10 of 20",
            "broken · cannot be read",
        }
        assert not any("Under way" in line for line in lines(app, "aside"))
        with FileLock(top / "half" / LOCK_FILE):
            line = next(x for x in lines(open_page("Lab", lab_run="live"), "aside") if "Under" in x)
            assert line.startswith(
                "Under way: half, step 10 of 20. 2 trainings and this page share"
            )
            others = lines(open_page("Lab", lab_run="whole"), "aside")
            assert any(x.endswith("live, step 10 of 20.") for x in others)
            new = lines(open_page("Lab", lab="new", lab_task="copy"), "aside")
            assert any("3 trainings" in x and x.startswith("Under way: half, live.") for x in new)


def test_the_rail_of_every_page_says_that_one_runs(top: Path) -> None:
    trained(top / "one", steps=10)

    def said() -> list[str]:
        rails = [
            x.proto.body for x in open_page("Notation").get("html") if "hl-rail" in x.proto.body
        ]
        return [part for part in rails[0].split("<a ") if "hl-under-way" in part]

    assert said() == []
    with FileLock(top / "one" / LOCK_FILE):
        (part,) = said()
        assert 'data-page="Lab"' in part and 'title="one"' in part


def test_the_bar_stands_where_it_changes_something() -> None:
    hides = ["st-key-controls" in "".join(x.proto.body for x in open_page(name).get("html"))
             for name in ("Lab", "Notation")]  # fmt: skip
    assert hides == [True, False]


def test_one_that_ended_before_its_log_began_has_no_numbers_to_come(top: Path) -> None:
    folder = trained(top / "one", steps=10)
    (folder / "metrics.jsonl").unlink()
    for name in (FRAMES_INDEX, "attention.f16"):
        (folder / name).unlink()
    app = open_page("Lab")
    assert "It ended before the first line of its log: there are no numbers." in lines(app, "aside")
    with FileLock(folder / LOCK_FILE):
        app = open_page("Lab")
        assert "The first numbers come with step 10." in lines(app, "aside")


def test_steps_for_a_time_are_those_that_were_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    timed = "viz.pages.lab.setup.expected_seconds"
    monkeypatch.setattr(timed, lambda made, vocab_size: made.total_steps / 7.13)
    app = open_page("Lab", lab_task="copy")
    labels = [x.label for x in app.button if "steps" in x.label]
    assert labels == ["2 min: 850 steps", "10 min: 4,200 steps", "60 min: 25,000 steps"]
    button(app, "2 min: 850 steps").click().run()
    assert query_of(app)["lab_fields"] == ["steps=850"]
    assert app.number_input(key="lab_fields-steps").value == 850
    monkeypatch.setattr(timed, lambda made, vocab_size: None)
    app = open_page("Lab", lab_task="sort")
    assert not any("steps" in x.label for x in app.button)


def test_one_of_the_terminal_is_found_by_its_folder(tmp_path: Path) -> None:
    folder = trained(tmp_path / "elsewhere" / "mine")
    app = open_page("Lab", lab="watch", lab_folder=str(folder))
    assert "mine: finished" in lines(app, "plain")[0]


@pytest.mark.parametrize("place", ["/nowhere", "\x00", "~nobody/x", "a" * 5000])
def test_a_folder_that_has_none_is_one_line(place: str) -> None:
    app = open_page("Lab", lab="watch", lab_folder=place)
    assert len(lines(app, "error")) == 1
    assert chart(app, "lab-curve")  # a shipped training is shown


def test_a_visitor_from_elsewhere_changes_and_reads_nothing(
    top: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trained(top / "one", steps=10)
    mine = trained(tmp_path / "elsewhere" / "mine")
    monkeypatch.setenv("HEADLIGHT_HOSTS", "example.org")
    app = open_page("Lab", lab="watch", lab_folder=str(mine))
    assert "one: stopped" in lines(app, "plain")[0]
    assert not {"Resume", "Delete it for good"} & {x.label for x in app.button}
    assert not any("mine" in words for words in offered_of(app, "lab_run"))
    assert not any(x.label == "Start training" for x in open_page("Lab", lab="new").button)


BAD_LINES = {
    "loss": {"loss": None},
    "held out": {"held_out": {"x": {"loss": None, "accuracy": "much"}}},
    "alone": {"alone": {"loss": 1.0, "accuracy": {}}},
    "tokens": {"tokens": None, "tokens_per_second": None},
    "step": {"step": 0},
}


@pytest.mark.parametrize("bad", BAD_LINES.values(), ids=BAD_LINES.keys())
def test_a_log_without_some_numbers_is_drawn_without_them(bad: dict, top: Path) -> None:
    folder = trained(top / "one")
    kept = [*log(folder)[:-1], {**log(folder)[-1], **bad}]
    (folder / "metrics.jsonl").write_text("".join(f"{json.dumps(x)}\n" for x in kept))
    app = open_page("Lab")
    assert all("fault" not in line for line in lines(app, "error"))
    assert lines(app, "plain")[0].startswith("one: finished")


def test_a_training_of_a_recurrent_network_is_watched_and_no_heads_of_it(top: Path) -> None:
    folder = shutil.copytree(stored.SHIPPED / "fixed", top / "fixed")
    shutil.copy(stored.SHIPPED / "fixed.toml", folder / RECIPE_FILE)
    app = open_page("Lab")
    assert lines(app, "error") == []
    (last,) = drawn(app, "lab-curve")["held out"]
    scores = [stored.read_scores(folder, task).loss for task in TASKS]
    assert last == (2500, pytest.approx(sum(scores) / 2))
    app = open_page("Attention", model="fixed")
    (said,) = [*lines(app, "error"), *lines(app, "note")]
    assert "has no heads to look at" in said


def test_a_broken_training_is_one_line_beside_a_whole_one_and_can_be_deleted(top: Path) -> None:
    trained(top / "one")
    (trained(top / "two") / "metrics.jsonl").write_text("no log\n")
    app = open_page("Lab", lab_run="one", lab_beside="two")
    assert len(lines(app, "error")) == 1
    assert "one, train" in drawn(app, "lab-curve") or "train" in drawn(app, "lab-curve")
    app = open_page("Lab", lab_run="two")
    assert len(lines(app, "error")) == 1
    button(app, "Delete it for good").click().run()
    assert not (top / "two").exists()
    assert lines(app, "error") == []


def test_the_lesson_says_what_its_trainings_logged() -> None:
    said = (ASSETS / "lessons" / "11-training.toml").read_text(encoding="utf-8")
    induction, addition, shakespeare = (
        {x["step"]: x for x in log(places.SHIPPED / name)}
        for name in ("induction", "modular_addition", "shakespeare")
    )
    assert "Between steps 125 and 150 the loss falls from 1.3 to 0.5" in said
    assert [round(induction[step]["loss"], 1) for step in (125, 150)] == [1.3, 0.5]
    app = open_page("Lab", lab="watch", lab_run="induction")
    assert any("attends after copies from step 175 on" in x for x in lines(app, "aside"))
    assert "At step 100 it has them by heart, and one in a hundred of the others" in said
    assert addition[100]["trained_on"]["accuracy"] > 0.99
    assert round(addition[100]["held_out"]["held out"]["accuracy"], 2) == 0.01
    assert "between steps 400 and 800" in said
    held_out = {step: x["held_out"]["held out"]["accuracy"] for step, x in addition.items()
                if x["held_out"]}  # fmt: skip
    assert held_out[400] < 0.2
    assert held_out[800] > 0.99
    bits = drawn(
        open_page("Lab", lab="watch", lab_run="shakespeare", lab_curve="bits"), "lab-curve"
    )
    assert bits == {
        "held out": [
            (step, pytest.approx(x["held_out"]["valid.txt"]["bits_per_byte"]))
            for step, x in shakespeare.items()
            if x["held_out"]
        ]
    }
    assert "seen sixteen times" in said
    assert round(shakespeare[2000]["tokens"] / 1_003_855) == 16
    assert "surest at step 1,250" in said
    held_out = {
        x["held_out"]["valid.txt"]["loss"]: step for step, x in shakespeare.items() if x["held_out"]
    }
    assert held_out[min(held_out)] == 1250
    later = [loss for loss, step in held_out.items() if step >= 1250]
    assert later == sorted(later)
    assert "which head has found the previous token by step 688" in said
    for frames in trainings.read_frames(TRAININGS / "stories-rope"):
        earlier = np.diagonal(np.asarray(frames.patterns, float), -1, -2, -1).mean(-1)
        steps = dict(zip(frames.steps, earlier[:, 2, 7], strict=True))
        assert max(steps[step] for step in (0, 26, 64)) < 0.28
        assert min(steps[step] for step in frames.steps if step >= 688) > 0.5
    dog, *_ = trainings.read_frames(TRAININGS / "translate")
    assert "from step 223 on the weight gathers near the diagonal" in said
    near = [near_diagonal(patterns) for patterns in np.asarray(dog.patterns, float)]
    before = [weight for step, weight in zip(dog.steps, near, strict=True) if step < 223]
    assert max(before) < 1.05 * min(before)
    assert near[dog.steps.index(223)] > 1.2 * max(before)
    assert near[-1] > 2.2 * max(before)


def near_diagonal(patterns: np.ndarray) -> float:
    """The mean weight at most 1.5 tokens beside the diagonal, (L, H, Tq, Tk)."""
    n_queries, n_keys = patterns.shape[-2:]
    way = np.arange(n_queries)[:, None] * (n_keys - 1) / (n_queries - 1)
    return float((patterns * (np.abs(way - np.arange(n_keys)) <= 1.5)).sum(axis=-1).mean())
