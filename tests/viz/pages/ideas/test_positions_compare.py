"""Protects the comparison of schemes, and all tabs where checkpoints are missing or broken."""

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from model.sources.places import SHIPPED
from model.training.evaluation import read_scores
from tests.model.builders import tiny_checkpoint
from tests.viz.apps import (
    TOM,
    chart,
    control,
    lesson,
    lines,
    open_page,
    tables_shown,
)
from tests.viz.builders import numbers
from viz.pages.ideas.positions import ALL, SCENES

SHIPPED_FAMILY = SHIPPED  # before a test puts its own shelf there


def compared(scene: str, **query: str) -> AppTest:
    """What is seen of all models together."""
    query = {"sentence": TOM} | query
    return open_page("Positional encoding", scheme="compare", scene=scene, **query)


def properties(**query: str) -> dict[str, dict[str, str]]:
    """What each scheme is, by column."""
    return tables_shown(compared("properties", **query))[0]


PAST = "past the trained length"
KINDS = {
    "Sinusoidal": "absolute", "Learned": "absolute",
    "RoPE": "relative", "ALiBi": "relative", "None": "none",
}  # fmt: skip


def copied(shelf: Path, *schemes: str) -> None:
    """Some of the shipped models, to be changed."""
    for scheme in schemes:
        shutil.copytree(SHIPPED_FAMILY / f"positions-{scheme}", shelf / f"positions-{scheme}")


def without_numbers(cells: dict[str, str]) -> dict[str, str]:
    """The words of each cell before what they were measured by."""
    return {name: words.partition(" (")[0] for name, words in cells.items()}


def test_the_lesson_counts_the_figures_beside_each_other() -> None:
    """A step for each tab, in their order: next is the next tab."""
    app = compared("")
    tabs = app.segmented_control(key="scene").options
    assert (tabs[0], tabs[-1]) == ("Does order matter?", "On your sentence")
    names = list(SCENES[ALL])
    for number, scene in enumerate(names, 1):
        app = compared(scene)
        (card,) = [x.proto.body for x in app.get("html") if '"hl-tour"' in x.proto.body]
        assert f"Positional encoding · {number} of {len(tabs)}" in card
        assert f"<h2>{tabs[number - 1]}</h2>" in card
        assert all(f"scene={after}" in card for after in names[number : number + 1])


def test_compare_reads_the_stored_scores() -> None:
    app = compared("losses")
    curves = {curve["name"]: curve for curve in chart(app, "losses").data}
    assert list(curves) == ["Sinusoidal", "Learned", "RoPE", "ALiBi", "None"]
    assert [len(numbers(curve["y"])) for curve in curves.values()] == [32, 8, 32, 32, 32]
    assert numbers(curves["RoPE"]["x"])[:2].tolist() == [8, 24]
    table = tables_shown(app)[0]
    bits = {scheme: float(cell) for scheme, cell in table["128 tokens"].items()}
    assert bits["RoPE"] <= bits["Sinusoidal"] <= bits["None"]
    assert bits["ALiBi"] <= bits["Sinusoidal"]
    assert table["512 tokens"]["Learned"] == "no row"
    verdicts = table[PAST]
    assert re.fullmatch(r"\d.\d\d → \d.\d\d: extrapolates", verdicts["ALiBi"])
    assert all("does not extrapolate" in verdicts[name] for name in ("Sinusoidal", "RoPE"))
    assert verdicts["Learned"] == "none: ends at 128"


def test_properties_are_measured() -> None:
    table = properties()
    assert without_numbers(table["positions are"]) == KINDS
    added = [int(x.split(" of ")[0].replace(",", "")) for x in table["parameters added"].values()]
    assert added == [0, 128 * 128, 0, 0, 0]
    changes = np.array([*table["shifted, a probability changes by"].values()], float)
    assert (changes[:2] > 1e-2).all()
    assert (changes[2:] < 1e-4).all()


def test_a_sentence_that_fills_the_table_leaves_it_alone_no_room_to_move() -> None:
    text = " ".join(["The old bear walked up the hill and saw the moon."] * 13)
    table = properties(sentence=text)
    assert without_numbers(table["positions are"]) == KINDS | {"Learned": "not measured"}
    assert table["shifted, a probability changes by"]["Learned"] == "no room to shift"


def test_without_the_family_other_models_have_their_tab(shelf: Path) -> None:
    tiny_checkpoint(shelf / "mine", position="alibi")
    app = open_page("Positional encoding")
    assert control(app, "scheme") == "alibi"
    app.segmented_control(key="scheme").set_value("compare").run()
    assert any(line.startswith("No checkpoints positions-* found") for line in lines(app, "note"))
    assert not app.exception


GOOD = {
    "loss": 1, "perplexity": 1, "bits_per_byte": 1, "tokens": 1, "bytes": 1, "window": 4,
    "tokens_per_second": 1, "by_position": [1, 2], "checkpoint": "positions-alibi",
}  # fmt: skip


BROKEN = [
    "{", '[{"window": 3}]', '["x"]', "null", "[1]",
    *(json.dumps([GOOD | {name: value}]) for name, value in (
        ("by_position", []), ("by_position", [1, 2, 3]), ("by_position", "x"),
        ("by_position", [float("nan"), 1]), ("bits_per_byte", "x"), ("window", 0), ("loss", None),
        ("by_position", {}), ("checkpoint", "stories"), ("window", -5), ("loss", -1),
        ("window", []),
    )),
]  # fmt: skip


@pytest.mark.parametrize("broken", BROKEN)
def test_broken_scores_are_refused_in_one_line(broken: str, tmp_path: Path) -> None:
    folder = tmp_path / "positions-alibi"
    folder.mkdir()
    (folder / "held_out.json").write_text(broken)
    ends = "(copy it again|store lines that --by-position has printed)"
    with pytest.raises(ValueError, match=rf"^[^\n]*held_out\.json[^\n]*{ends}$"):
        read_scores(folder)


def test_broken_scores_are_said_and_none_are_none(shelf: Path) -> None:
    copied(shelf, "alibi")
    stored = shelf / "positions-alibi" / "held_out.json"
    stored.write_text("{")
    (line,) = lines(compared("losses"), "error")
    assert "held_out.json" in line
    stored.write_text("[]")
    assert any("No held-out" in x for x in lines(compared("losses"), "note"))


def test_scores_stored_while_the_app_runs_are_seen(shelf: Path) -> None:
    copied(shelf, "alibi")
    stored = shelf / "positions-alibi" / "held_out.json"
    text = stored.read_text()
    stored.unlink()
    assert any("No held-out" in x for x in lines(compared("losses"), "note"))
    stored.write_text(text)
    assert chart(compared("losses"), "losses").data
    stored.write_text(text.replace("[\n", "[\n" + text.splitlines()[1] + "\n"))
    (line,) = lines(compared("losses"), "error")
    assert "a window is there twice" in line


def test_a_missing_model_is_named_and_a_foreign_one_not_taken(shelf: Path) -> None:
    copied(shelf, "alibi", "none", "rope")
    tiny_checkpoint(shelf / "positions-learned", position="rope", n_layers=2)
    app = compared("patterns")
    note = next(line for line in lines(app, "note") if line.startswith("Not found"))
    assert "positions-sinusoidal, positions-learned" in note
    assert len(chart(app, "patterns").data) == 2 * 3 + 1, "and the colour bar"
    assert "of 3 models" in lesson(app)


def test_what_differs_is_said_from_the_configs(shelf: Path) -> None:
    copied(shelf, "rope", "alibi", "learned")
    said = "By their configs 3 models differ in their positions, and in context (512, Learned 128)."
    assert said in lesson(compared("patterns"))
    shutil.rmtree(shelf / "positions-learned")
    app = compared("patterns")
    assert "By their configs 2 models differ in their positions alone." in lesson(app)


def test_a_folder_made_otherwise_is_named_and_not_taken_for_one_of_128_tokens(shelf: Path) -> None:
    """Only a card says on which windows a model was trained, and only a config of which sizes."""
    copied(shelf, "rope", "alibi", "none")
    tiny_checkpoint(shelf / "positions-learned", position="learned", n_layers=1)
    card = shelf / "positions-alibi" / "card.md"
    card.write_text(card.read_text().replace("windows of 128", "windows of 64"))
    app = compared("losses")
    assert "layers (4, Learned 1)" in lesson(app)
    assert "do not compare schemes alone" in lesson(app)
    verdicts = tables_shown(app)[0][PAST]
    assert verdicts["Learned"] == "trained length not known"
    scores = read_scores(SHIPPED_FAMILY / "positions-alibi")
    longest = scores[max(scores)].by_position
    inside, beyond = np.mean(longest[2:4]), np.mean(longest[4:])  # of 16 positions each
    assert verdicts["ALiBi"].startswith(f"{inside:.2f} → {beyond:.2f}: ")
    assert "trained on windows of 128, ALiBi 64 tokens, as their cards say." in lesson(app)
    marks = chart(app, "losses").layout.get("annotations", [])
    assert not any("training ended" in mark["text"] for mark in marks)
