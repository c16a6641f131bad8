"""Protects the page Heads: its points, its words and its counts are those of the measures."""

import html
import json
import re
from pathlib import Path
from urllib.parse import parse_qsl

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from model.analysis.circuits import copying_scores
from model.analysis.measures import MEASURES
from model.analysis.why.reasons import DEEP, reasons
from model.analysis.why.rule import Rules, counted
from model.sources import checkpoint
from model.survey.samples import Asked, random_repeats
from model.survey.stored import STORED, read_survey
from model.survey.work import Job, survey
from model.trace import Site
from tests.model.adopted.families import saved
from tests.model.builders import SENTENCE, edit_json, tiny_checkpoint
from tests.viz.apps import (
    TOM,
    VARIANTS,
    button,
    captions,
    chart,
    chosen,
    control,
    finished,
    inspected,
    lines,
    open_page,
    tables_shown,
)
from tests.viz.builders import csv_rows, numbers, stories, stories_trace
from viz.digits import digits
from viz.frame import inspector
from viz.guard import HOSTS_VARIABLE
from viz.labels import visible
from viz.pages.look_inside.heads import PATH
from viz.runs.heads import LARGEST

PAGE = "Heads"


def stored() -> dict:
    """The survey of stories, as its file has it."""
    folder = stories().folder
    return json.loads((folder / STORED).read_text(encoding="utf-8"))


def test_the_sentence_that_wakes_a_head_leads_to_its_arrow(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    files: inspector.Tables = {}
    monkeypatch.setattr(inspector, "export", lambda view, made, *rest: files.update(made))
    app = open_page(PAGE, layer="L0", head="H4")
    found = stored()["groups"]["decoder.attn"]["strongest"][0][4]
    text = " ".join(element.proto.body for element in app.get("html"))
    assert "hl-quote" in text
    address = query_in(text, "Open on this sentence")
    assert address["sentence"] == found["text"]
    assert address["cell"] == f"{found['query']}-{found['key']}"
    assert (address["page"], address["layer"], address["head"]) == ("Attention", "0", "4")
    header, *rows = csv_rows(files["Heads"]())
    row = dict(zip(header, next(row for row in rows if row[0] == "L0 H4"), strict=True))
    assert row["query"] == visible(found["query_token"]) != row["key"]
    assert row["key"] == visible(found["key_token"])


def query_in(text: str, title: str) -> dict[str, str]:
    """The address of a way on."""
    found = re.search(rf'href="\?([^"]*)"><b>{title}', text)
    assert found is not None
    return dict(parse_qsl(html.unescape(found[1])))


def test_the_table_is_sorted_by_a_measure_and_has_the_heads_that_are_wanted() -> None:
    app = open_page(PAGE, sorted_by="-entropy", heads_that="near")
    measures = stored()["groups"]["decoder.attn"]["measures"]
    entropies, near = (np.ravel(measures[name]["values"]) for name in ("entropy", "near"))
    shown = tables_shown(app)[0]
    wanted = [head for head in np.argsort(entropies) if near[head] >= 0.5]
    assert [name.strip(" ●") for name in shown["words"]] == [
        f"L{head // 8}\u00a0H{head % 8}" for head in wanted
    ]
    assert {"previous", "same", "first", "after copies", "entropy ▴", "copying"} <= set(shown)
    text = " ".join(element.proto.body for element in app.get("html"))
    assert 'data-with="sorted_by="' in text, "a third click on a column takes the order back"
    assert 'data-page="Attention" data-with="layer=' in text
    falling = tables_shown(open_page(PAGE, sorted_by="entropy"))[0]["entropy ▾"]
    wanted = [digits(value, 2) for value in np.sort(entropies)[::-1]]
    assert list(falling.values()) == wanted
    assert lines(open_page(PAGE, sorted_by="length"), "note") != []


def rules_of(name: str, group: str = "decoder.attn") -> Rules:
    """The looks of all heads of a shipped model, on eight of the sixteen texts of its survey."""
    loaded = checkpoint.load(name, "cpu")
    survey = read_survey(loaded.folder)
    assert survey is not None
    texts = dict.fromkeys(x.text for layer in survey.groups[group].strongest for x in layer)
    assert len(texts) == 16
    runs = [lambda text=text: loaded.trace(text).trace for text in list(texts)[::2]]
    rules = Rules(loaded.model, group, runs)
    rules.finish()
    return rules


def test_looks_are_counted_on_the_texts_of_the_survey(monkeypatch: pytest.MonkeyPatch) -> None:
    files: inspector.Tables = {}
    monkeypatch.setattr(inspector, "export", lambda view, made, *rest: files.update(made))
    app = finished(open_page(PAGE, model="positions-rope", layer="1", head="0"))
    rules = rules_of("positions-rope")
    own = rules.heads[1, 0]
    assert own.rules.total() > 25
    assert any("on 8 of the 16 top-activating texts" in line for line in captions(app))
    shown = tables_shown(app)
    assert shown[1]["looks"] == {
        rule: f"{n} of {own.rules.total()}" for rule, n in own.rules.most_common(3)
    }
    for (layer, head), one in rules.heads.items():
        ((kind, n),) = one.kinds.most_common(1)
        name = f"L{layer}\u00a0H{head}" + " ●" * ((layer, head) == (1, 0))
        assert shown[0]["looks by"][name] == f"{kind} {n} of {one.kinds.total()}"
    header, *rows = csv_rows(files["Heads"]())
    row = dict(zip(header, next(row for row in rows if row[0] == "L1 H0"), strict=True))
    assert (row["rule"], int(row["looks by the rule"])) == own.rules.most_common(1)[0]
    assert {x: int(row[f"looks by {x}"]) for x in own.kinds} == own.kinds


def test_looks_on_this_input_are_those_of_its_run() -> None:
    app = finished(open_page(PAGE, sentence=TOM, measured_on="sentence", layer="2", head="4"))
    found = counted(reasons(stories_trace(TOM), stories().model, Site("decoder", "self", 2)), 4)
    n = found.rules.total()
    first = {rule: f"{count} of {n}" for rule, count in found.rules.most_common(3)}
    assert tables_shown(app)[1]["looks"] == first
    assert any(line.startswith("Counted on this input. A look is") for line in captions(app))


def test_looks_of_a_deep_model_are_counted_once_somebody_asks(shelf: Path) -> None:
    tiny_checkpoint(shelf / "deep", n_layers=DEEP + 1)
    app = open_page(PAGE, sentence=SENTENCE)
    assert not [x for x in app.button if x.label == "Stop"]
    assert tables_shown(app)[0]["looks by"][f"L{DEEP}\u00a0H0"] == "–"
    assert "Counted on 0% of this input." in captions(app)
    app = finished(button(app, "Compute").click().run())
    assert any(line.startswith("Counted on this input. A look is") for line in captions(app))


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({"model": "digits"}, "rules are counted where the words of one text attend"),
        ({"measured_on": "sentence", "sentence": 70 * "word "}, "is worked out for up to 64"),
    ],
)
def test_where_looks_cannot_be_counted_a_line_says_why(query: dict[str, str], said: str) -> None:
    app = open_page(PAGE, **query)
    (line,) = (line for line in captions(app) if "look where they look" in line)
    assert said in line
    assert "looks by" not in tables_shown(app)[0]


def _text_of(app: AppTest, place: object) -> AppTest:
    app.text_input(key=PATH).set_value(str(place))
    return button(app, "Measure").click().run()


def test_a_text_of_ones_own_has_the_numbers_of_its_survey(shelf: Path, tmp_path: Path) -> None:
    folder, text = tiny_checkpoint(shelf / "tiny"), tmp_path / "mine.txt"
    text.write_text(3 * SENTENCE)
    found = survey(Job(folder, "cpu", Asked(texts=(text,)), tmp_path / STORED), 1)
    app = open_page(PAGE, measured_on="text", across="entropy", up="near")
    assert chart(app, "heads").data and "Until then other numbers" in " ".join(captions(app))
    app = finished(_text_of(app, text))
    assert any(f"{found.tokens} tokens of mine.txt" in line for line in captions(app))
    assert any("first 64 tokens of" in line and "window" in line for line in captions(app))
    points, *_ = chart(app, "heads").data
    for axis, name in (("x", "entropy"), ("y", "near")):
        assert numbers(points[axis]) == pytest.approx(
            found.measured("decoder.attn")[name].values.ravel()
        )


def test_on_random_repeats_the_heads_of_induction_come_first() -> None:
    app = finished(open_page(PAGE, model="induction", measured_on="repeats", layer="1", head="1"))
    loaded = checkpoint.load("induction", "cpu")
    given = random_repeats(loaded)
    trace = loaded.captured((given.ids, loaded.tokenizer.token_strings(given.ids)))
    after = [  # the weight of each token of the second half on what followed its copy
        np.mean([pattern[i, i - 23] for i in range(24, 48)])
        for record in trace.attention
        for pattern in np.asarray(record.pattern, np.float64)
    ]
    previous = [  # of all tokens but the first, which has no choice
        np.mean([pattern[i, i - 1] for i in range(1, 48)])
        for record in trace.attention
        for pattern in np.asarray(record.pattern, np.float64)
    ]
    points, *_ = chart(app, "heads").data
    assert numbers(points["x"]) == pytest.approx(previous, abs=1e-6)
    assert numbers(points["y"]) == pytest.approx(after, abs=1e-6)
    shown = tables_shown(app)[0]["after copies ▾"]
    order = [f"L{head // 2}\u00a0H{head % 2}" for head in np.argsort(after)[::-1]]
    assert [name.strip(" ●") for name in shown] == order and order[0] == "L1\u00a0H0"
    assert any("48 random tokens: 24, and the same 24 again (seed 0)" in x for x in captions(app))
    assert any(line.startswith("Counted on these tokens. A look is") for line in captions(app))
    rules = counted(reasons(trace, loaded.model, Site("decoder", "self", 1)), 1).rules
    looks = {rule: f"{n} of {rules.total()}" for rule, n in rules.most_common(3)}
    assert tables_shown(app)[1]["looks"] == looks
    text = " ".join(element.proto.body for element in app.get("html"))
    assert f"Strongest on these tokens: {digits(float(max(after)), 2)} after copies" in text
    assert "2 of 4 heads attend to what followed earlier copies" in text
    for name, head in (("L1\u00a0H0", "0"), ("L1\u00a0H1", "1")):
        address = query_in(text, f"{name} on Attention")
        assert (address["page"], address["layer"], address["head"]) == ("Attention", "1", head)
        assert loaded.tokenizer.encode(address["sentence"]) == given.ids


def test_on_random_repeats_a_choice_of_ones_own_stays() -> None:
    app = chosen(open_page(PAGE, model="induction", across="entropy"), measured_on="repeats")
    assert "after copies ▾" in tables_shown(app)[0], "as long as nothing was chosen"
    app = chosen(app, sorted_by="-entropy")
    shown = {name: control(app, name) for name in ("across", "up", "colour_by")}
    assert shown == {"across": "entropy", "up": "induction", "colour_by": "copying"}
    assert "entropy ▴" in tables_shown(app)[0]
    app = chosen(app, measured_on="sentence")
    assert "entropy ▴" in tables_shown(app)[0]
    assert (control(app, "across"), control(app, "up")) == ("entropy", "copying")


def test_random_repeats_that_no_text_is_read_as_lead_to_this_input(shelf: Path) -> None:
    saved(shelf / "ends", start="<s>", end="</s>")
    query = {"sentence": "the red ball", "layer": "2", "head": "3"}
    app = open_page(PAGE, model="ends", measured_on="repeats", **query)
    text = " ".join(element.proto.body for element in app.get("html"))
    assert "Strongest on these tokens" not in text
    assert any(
        "46 random tokens: 23, and the same 23 again, after what begins every text" in line
        for line in captions(app)
    )
    assert query_in(text, "L2\u00a0H3 on Attention").items() >= query.items()


@pytest.mark.parametrize("model", ["blank", "translate", "digits"])
def test_what_is_no_decoder_has_no_random_repeats(model: str) -> None:
    (line,) = lines(open_page(PAGE, model=model, measured_on="repeats"), "note")
    assert line == "Measured on repeats does not exist here; showing held-out text."


def test_axes_that_nobody_chose_are_the_first_that_there_are() -> None:
    app = open_page(PAGE, measured_on="sentence", sentence="Tom")
    few = control(app, "across")
    assert control(chosen(app, sentence=TOM), "across") == "distance" != few


def test_a_file_that_is_no_text_is_one_line(shelf: Path, tmp_path: Path) -> None:
    tiny_checkpoint(shelf / "tiny")
    (tmp_path / "wide.txt").write_text(SENTENCE, encoding="utf-16")
    (tmp_path / "short.txt").write_text("a")
    with (tmp_path / "large.txt").open("wb") as file:
        file.truncate(LARGEST + 1)
    app = open_page(PAGE, measured_on="text")
    for place, line in {
        "": "'' is no file with text; give the path of one",
        tmp_path: "is no file with text",
        "~nobody/x": "'~nobody/x' is no file with text",
        "x" * 5000: "is no file with text",
        "/proc/self/maps": "is no file with text",
        tmp_path / "wide.txt": "it begins with the mark of UTF-16",
        tmp_path / "short.txt": "fewer than 2 tokens",
        tmp_path / "large.txt": "has 64 MB; give a text of at most 64 MB",
    }.items():
        (said,) = lines(_text_of(app, place), "error")
        assert line in said and len(said) < 400


def test_a_server_for_others_reads_no_files_of_this_machine(
    shelf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tiny_checkpoint(shelf / "tiny")
    monkeypatch.setenv(HOSTS_VARIABLE, "school.example")
    app = open_page(PAGE, measured_on="text")
    assert not any(box.key == PATH for box in app.text_input)


def test_on_a_sentence_the_points_are_there_for_another_model(shelf: Path) -> None:
    tiny_checkpoint(shelf / "rope", **VARIANTS["rope"])
    app = open_page(
        PAGE,
        sentence=SENTENCE,
        measured_on="survey",
        across="kept",
        up="moved",
        colour_by="copying",
    )
    assert lines(app, "error") == []
    (line,) = lines(app, "note")
    assert "python -m model survey --checkpoint rope --text-file TEXT" in line
    loaded = checkpoint.load("rope", "cpu")
    points, *_ = chart(app, "heads").data
    n_heads = loaded.config.n_layers * loaded.config.n_heads
    assert len(numbers(points["x"])) == len(numbers(points["y"])) == n_heads
    scores = copying_scores(loaded.model)
    assert scores is not None
    assert numbers(points["marker"]["color"]) == pytest.approx(scores.ravel(), abs=1e-6)


def test_a_broken_survey_is_said_and_the_sentence_is_shown(shelf: Path) -> None:
    folder, text = tiny_checkpoint(shelf / "tiny"), shelf.parent / "a.txt"
    text.write_text(SENTENCE)
    survey(Job(folder, "cpu", Asked(texts=(text,)), folder / STORED), 1)
    edit_json(folder / STORED, lambda fields: fields.update(weights="0" * 64))
    app = open_page(PAGE, sentence=SENTENCE)
    (line,) = lines(app, "note")
    assert "is of the weights 000000000000" in line
    assert any(x.startswith("Measured on this sentence, 21 queries.") for x in captions(app))
    assert len(numbers(chart(app, "heads").data[0]["x"])) == 6


def test_the_formulas_are_of_the_measures_that_are_shown() -> None:
    app = open_page(PAGE, across="moved", up="kept", colour_by="prefix", inspect="formula")
    shown = " ".join(formula.value for formula in inspected(app, "formula").latex)
    shown = shown.replace(r"\allowbreak", "")
    for name in ("moved", "kept", "prefix"):
        assert MEASURES[name].latex in shown
