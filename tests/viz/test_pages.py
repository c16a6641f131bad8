"""Protects the pages: they show what the model did, whatever a person types or a URL says."""

import html
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Button

from model.analysis.lens import logit_lens
from model.capture import capture
from model.data.tokenizer import train_characters
from model.decoding.beam import beam_search
from model.decoding.filters import DEFAULT_ORDER, Sampling
from model.decoding.sampling import generate
from model.sources import checkpoint
from model.trace import Trace
from tests.model.builders import (
    GROUPED,
    SENTENCE,
    edit_json,
    softmax,
    tiny_checkpoint,
    tiny_model,
)
from tests.viz.apps import chart, control, lines, open_page, query_of, strip, z
from tests.viz.builders import (
    ODD_SENTENCES,
    PAGES,
    csv_rows,
    given,
    latex_numbers,
    live_data,
    live_json,
    numbers,
    stories,
    stories_trace,
    unpacked,
)
from viz import runs, sampling, theme, ui
from viz.figures.attention import strongest_pair
from viz.figures.cache import bytes_text
from viz.figures.labels import token_labels, visible, word_groups, word_labels
from viz.live import component
from viz.live import shelf as offered
from viz.pages import attention, lens

EXAMPLE = ui.examples()[0]
HOSTILE = "<b>\"quoted\"</b> $x$ \\ 'it' 😀"
TOM = "Tom had a red ball. Tom gave Sam the red ball."
VARIANTS = {
    "rope": {"position": "rope", **GROUPED},
    "alibi": {"position": "alibi"},
    "learned": {"position": "learned", "norm": "rms", "feedforward": "swiglu"},
    "none": {"position": "none", "norm_placement": "post"},
    "window": {"mask": "sliding_window", "window": 3},
    "prefix": {"mask": "prefix", "prefix_len": 4},
    "one-head": {"n_layers": 1, "n_heads": 1},
}


def assert_model_is_sent(app: AppTest, trace: Trace) -> None:
    """What the browser gets for a sentence: every head at a glance, labels, a key to the rest."""
    data = live_data(app)
    assert_sentence_is_sent(data, trace)
    patterns = np.stack([record.pattern for record in trace.attention])
    n_layers, n_heads, n_tokens, _ = patterns.shape
    assert (data["n_layers"], data["n_heads"]) == (n_layers, n_heads)
    assert_tiles_are_sent(unpacked(data["tiles"]), patterns, trace.attention[0].mask)
    focus = patterns[:, :, min(1, n_tokens - 1) :].max(axis=-1).mean(axis=-1)
    assert np.array(data["focus"]) == pytest.approx(focus, abs=6e-5)
    for layer, head in np.ndindex(n_layers, n_heads):
        query, key, weight = data["strongest"][layer][head]
        assert (query, key) == strongest_pair(patterns[layer, head])
        assert weight == pytest.approx(patterns[layer, head, query, key], abs=1e-6)
    assert len(live_json(app)) <= 1_000_000


def assert_sentence_is_sent(data: dict, trace: Trace) -> None:
    """Labels as text and escaped for axes, words, and the key under which the trace is found."""
    assert data["queryLabels"] == data["keyLabels"] == token_labels(trace.tokens)
    assert data["words"] == word_groups(trace.tokens)
    assert data["wordLabels"] == word_labels(trace.tokens, data["words"])
    axes = {"rowAxis": "queryLabels", "columnAxis": "keyLabels", "wordAxis": "wordLabels"}
    for axis, labels in axes.items():
        short = [label if len(label) <= 16 else label[:15] + "…" for label in data[labels]]
        assert list(map(html.unescape, data[axis])) == short
        assert not set("<>$%") & set("".join(data[axis]))
    found = offered.get(data["key"])
    assert found is not None
    assert found.ids.tolist() == trace.ids.tolist()
    for mine, theirs in zip(trace.attention, found.attention, strict=True):
        np.testing.assert_allclose(theirs.pattern, mine.pattern, atol=1e-6)


def assert_tiles_are_sent(sent: np.ndarray, patterns: np.ndarray, mask: np.ndarray) -> None:
    """Small maps are the roots of the weights; of a long sentence the largest of each block."""
    block = -(-len(mask) // 48)
    starts = range(0, len(mask), block)
    largest, allowed = (
        np.maximum.reduceat(np.maximum.reduceat(values, starts, axis=-2), starts, axis=-1)
        for values in (patterns, mask)
    )
    n_layers, n_heads, size, _ = largest.shape
    assert sent.shape == (n_layers * n_heads, size, size)
    levels = np.round(2 + 253 * np.sqrt(largest)).reshape(sent.shape)
    assert (sent[:, ~allowed] == 1).all()
    assert np.abs(sent - levels)[:, allowed].max() <= 1


# --- what is shown is what the model did ----------------------------------------------------


def test_attention_page_sends_every_head() -> None:
    app = open_page("Attention", sentence=TOM, layer="L3", head="H5")
    trace = stories_trace(TOM)
    assert_model_is_sent(app, trace)
    data = live_data(app)
    assert (data["settings"]["layer"], data["settings"]["head"]) == (3, 5)
    assert (data["model"], data["second"]) == ("stories", None)
    assert data["themes"]["light"]["background"] == theme.LIGHT.background
    assert data["themes"]["dark"]["sequential"] == list(theme.DARK.sequential)


@pytest.mark.parametrize("cell", [None, (7, 3), (8, 8)])
def test_formula_has_the_numbers_of_the_cell(cell: tuple[int, int] | None) -> None:
    """The pinned cell, or the strongest pair when none is pinned."""
    query = {} if cell is None else {"cell": "{}-{}".format(*cell)}
    app = open_page("Attention", sentence=TOM, layer="L3", head="H5", **query)
    trace = stories_trace(TOM)
    record, pattern = trace.attention[3], trace.attention[3].pattern[5]
    at = cell or strongest_pair(pattern)
    weight = latex_numbers(app.latex[-1].value)[-1]
    assert weight == pytest.approx(pattern[at], abs=6e-5)
    product = float(record.q[5, at[0]] @ record.k[5, at[1]])
    assert product == pytest.approx(latex_numbers(app.latex[-1].value)[0], abs=6e-5)
    labels = token_labels(trace.tokens)
    (line,) = (text for text in lines(app, "pair") if " reads " in text)
    assert line.endswith(f"of L3 H5: {labels[at[0]]} reads {labels[at[1]]}")
    assert line.startswith("The pinned cell" if cell else "The strongest pair")


def test_a_pinned_masked_cell_is_said_to_be_zero() -> None:
    app = open_page("Attention", sentence=TOM, cell="2-9")
    assert any("masked" in caption.value for caption in app.caption)
    assert len(app.latex) == 2


def test_many_heads_of_a_long_sentence_are_small(shelf: Path) -> None:
    """144 heads of 128 tokens in at most a megabyte."""
    sizes = {"n_layers": 12, "n_heads": 12, "d_model": 48, "max_seq_len": 128}
    tiny_checkpoint(shelf / "large", **sizes)
    app = open_page("Attention", sentence=(7 * SENTENCE)[:128])
    assert unpacked(live_data(app)["tiles"]).shape == (144, 43, 43)
    assert len(live_json(app)) <= 1_000_000


def test_second_sentence_is_sent_when_it_is_compared_with() -> None:
    app = open_page("Attention", sentence=TOM, second=HOSTILE, against="sentence")
    data = live_data(app)
    assert_sentence_is_sent(data["second"], stories_trace(HOSTILE))
    assert_model_is_sent(app, stories_trace(TOM))
    assert lines(app, "note") == []


@pytest.mark.parametrize(
    "query", [{"second": TOM}, {"second": " \t", "against": "sentence"}, {"against": "sentence"}]
)
def test_no_second_sentence_is_none(query: dict[str, str]) -> None:
    app = open_page("Attention", **query)
    assert live_data(app)["second"] is None
    assert lines(app, "note") == lines(app, "error") == []


def test_second_sentence_beyond_the_context_says_how_many_tokens_are_cut() -> None:
    text = 300 * "word "
    app = open_page("Attention", sentence=TOM, second=text, against="sentence")
    n_tokens, context = len(stories().tokenizer.encode(text)), stories().config.max_seq_len
    (line,) = lines(app, "note")
    assert latex_numbers(line) == [n_tokens - context]
    assert len(live_data(app)["second"]["queryLabels"]) == context


def test_token_strip_shows_each_probability() -> None:
    app = open_page("Attention", sentence=TOM)
    labels, probabilities = zip(*strip(app), strict=True)
    trace = stories_trace(TOM)
    assert list(labels) == token_labels(trace.tokens)
    assert np.isnan(probabilities[0])
    assert probabilities[1:] == pytest.approx(given(trace), abs=6e-5)


def test_predict_page_sends_the_whole_vocabulary() -> None:
    query = {"temperature": "1.5", "top_k": "10", "top_p": "0.9", "min_p": "0.1", "after": "3"}
    app = open_page("Predict", sentence=TOM, **query)
    loaded, trace = stories(), stories_trace(TOM)
    data = live_data(app)
    assert (unpacked(data["logits"]) == trace.logits[3]).all()
    order = list(DEFAULT_ORDER)
    assert data["settings"] == {
        "temperature": 1.5, "top_k": 10, "top_p": 0.9, "min_p": 0.1, "order": order
    }  # fmt: skip
    best = np.argsort(-trace.logits[3], kind="stable")[: len(data["labels"])]
    assert data["labels"] == [visible(loaded.tokenizer.token_strings([i])[0]) for i in best]
    tempered = softmax(trace.logits[3].astype(np.float64) / 1.5)
    assert latex_numbers(app.latex[-1].value)[-1] == pytest.approx(tempered.max(), abs=6e-5)


def test_order_of_the_filters_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    app = open_page("Predict", sentence=TOM)
    assert live_data(app)["settings"]["top_k"] is None
    order = ["top_p", "temperature", "min_p", "top_k"]
    changes = {"order": order, "top_k": 7}
    tell(app, changes, monkeypatch, take_over=sampling.take_over_sampling)
    assert live_data(app)["settings"]["order"] == order
    visitor = open_page("Predict", **{name: v[-1] for name, v in query_of(app).items()})
    assert live_data(visitor)["settings"] == live_data(app)["settings"]
    tell(app, {"top_k": None}, monkeypatch, take_over=sampling.take_over_sampling)
    assert live_data(app)["settings"]["top_k"] is None


@pytest.mark.parametrize("part", ["keys", "values"])
@pytest.mark.parametrize("heads", ["all heads", "this head"])
def test_cache_page_shows_what_the_cache_holds(part: str, heads: str) -> None:
    query = {"part": part, "heads": heads, "prefill": "3", "held": "5", "head": "H6"}
    app = open_page("Cache", sentence=TOM, **query)
    trace, config = stories_trace(TOM), stories().config
    vectors = np.stack([getattr(record, part[0]) for record in trace.attention])
    lengths = np.linalg.norm(vectors, axis=-1)
    expected = lengths.mean(axis=1) if heads == "all heads" else lengths[:, 6]
    shown = z(chart(app, "filling").data[0])
    assert shown[:, :5] == pytest.approx(expected[:, :5], abs=1e-4)
    assert np.isnan(shown[:, 5:]).all()
    per_token = 2 * config.n_layers * config.n_kv_heads * config.d_head * 4
    held, each, full = (metric.value for metric in app.metric)
    assert (held, each) == (bytes_text(5 * per_token), bytes_text(per_token))
    assert full == bytes_text(config.max_seq_len * per_token)
    assert latex_numbers(app.latex[-1].value.replace("{,}", ""))[-1] == 5 * per_token
    (check,) = (caption.value for caption in app.caption if "Check passed" in caption.value)
    errors = re.findall(r"\d\.\de-\d\d", check)
    assert max(map(float, errors)) < 1e-5


def test_cache_page_counts_known_models() -> None:
    app = open_page("Cache", sentence=TOM, context="2048")
    table = app.dataframe[-1].value.set_index("model")
    assert table.loc["GPT-3 175B", "as published, fp16"] == "9.66 GB"
    assert table.loc["GPT-3 175B", "if in 8 bits"] == "4.83 GB"
    assert table.loc["GPT-3 175B", "if each head had its own"] == "= published"
    assert table.loc["GPT-2 small", "if 8 kv heads"] == "–", "12 heads cannot share 8"
    assert table.loc["DeepSeek-V2", "if a latent"] == "= published"
    (line,) = (caption.value for caption in app.caption if "hypothetical" in caption.value)
    assert "GPT-2 small;" in line


def test_cache_settings_left_alone_follow_the_sentence() -> None:
    app = open_page("Cache", sentence=TOM)
    for text in ("Tom", "Tom had a red", TOM, 300 * "word "):
        app.text_input(key="sentence").set_value(text).run()
        assert not app.exception
        assert lines(app, "error") == []
        assert not any("outside" in line or "not exist" in line for line in lines(app, "note"))
        assert 1 <= control(app, "prefill") <= control(app, "held") <= len(strip(app))
        assert set(query_of(app)) <= {"page", "sentence"}


@pytest.mark.parametrize("variant", ["rope", "window", "prefix"])
def test_cache_page_measures_and_keeps_it(variant: str, shelf: Path) -> None:
    tiny_checkpoint(shelf / "tiny", **VARIANTS[variant])
    app = open_page("Cache", sentence="the cat")
    _measure(app)
    without, *_, with_cache = (
        c for c in chart(app, "pace").data if c["name"] in ("without cache", "with cache")
    )
    assert without["x"] == with_cache["x"]
    assert (numbers(without["y"]) > 0).all()
    assert any("passed: both ways gave the same logits" in caption.value for caption in app.caption)
    app.text_input(key="sentence").set_value("the mat").run()
    assert chart(app, "pace").data[0]["y"] == without["y"]


def test_measurement_can_be_stopped() -> None:
    app = open_page("Cache", sentence=TOM)
    _button(app, "Measure on this machine").click().run()
    _button(app, "Stop").click().run()
    assert not app.exception
    assert _button(app, "Measure again")
    assert lines(app, "error") == []


def test_nothing_to_measure_is_one_line(shelf: Path) -> None:
    tiny_checkpoint(shelf / "tiny", mask="prefix", prefix_len=23)
    app = open_page("Cache", sentence=SENTENCE)
    _button(app, "Measure on this machine").click().run()
    (line,) = lines(app, "error")
    assert "nothing to time" in line


def _button(app: AppTest, label: str) -> Button:
    (button,) = (button for button in app.button if button.label == label)
    return button


def _measure(app: AppTest) -> None:
    _button(app, "Measure on this machine").click().run()
    for _ in range(200):
        if any(button.label == "Measure again" for button in app.button):
            return
        app.run()
        assert not app.exception
    raise AssertionError("the measurement does not end")


def test_lens_page_shows_what_every_layer_says() -> None:
    app = open_page("Lens", sentence=TOM, layer="L1", after="7")
    trace, vocabulary = stories_trace(TOM), stories().tokenizer
    lens = logit_lens(trace, stories().model)
    heat, written = chart(app, "lens").data
    assert z(heat) == pytest.approx(lens.probs[..., 0], abs=1e-6)
    assert z(heat)[-1] == pytest.approx(softmax(trace.logits).max(axis=-1), abs=1e-5)
    said = [vocabulary.token_strings([i])[0] for i in trace.logits.argmax(axis=-1)]
    labels = [token_labels([*pair])[1] for pair in zip(trace.tokens, said, strict=True)]
    assert [html.unescape(x) for x in written["text"][-len(said) :]] == [
        f"<b>{x}</b>" for x in labels
    ]
    (rank,) = chart(app, "rank").data
    assert numbers(rank["y"]) == pytest.approx(lens.rank[:, 7] + 1)
    (bars,) = chart(app, "likeliest").data
    assert numbers(bars["x"]) == pytest.approx(lens.probs[2, 7], abs=1e-6)
    *_, probability, entropy, place = latex_numbers(app.latex[-1].value)
    assert probability == pytest.approx(lens.probs[2, 7, 0], abs=6e-5)
    assert entropy == pytest.approx(lens.entropy[2, 7], abs=6e-5)
    assert place == lens.rank[2, 7] + 1
    assert labels[7] in chart(app, "rank").alt
    (line,) = (caption.value for caption in app.caption if "Check" in caption.value)
    assert (
        f"Check passed: the last row's logits are the model's own, largest difference "
        f"{lens.error:.1e}" in line
    )
    app = open_page("Lens", sentence=TOM, lens_color="entropy")
    assert z(chart(app, "lens").data[0]) == pytest.approx(lens.entropy, abs=1e-5)


def test_lens_of_a_wrong_model_says_that_the_check_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = replace(logit_lens(stories_trace(TOM), stories().model), error=0.25)
    monkeypatch.setattr(runs, "lens", lambda *run: wrong)
    (line,) = lines(open_page("Lens", sentence=TOM), "error")
    assert line.startswith("Check FAILED")
    assert "2.5e-01" in line


@pytest.mark.parametrize(
    ("query", "first", "notes"),
    [
        ({}, 108, ["108 to 131"]),
        ({"after": "50"}, 38, ["38 to 61"]),
        ({"lens_start": "24"}, 24, ["24 to 47 of 0 to 131", "131, is outside"]),
        ({"lens_start": "24 to 47", "after": "30"}, 24, ["24 to 47"]),
        (
            {"lens_start": "40"},
            36,
            ["Window 40 does not exist here; showing 36 to 59", "is outside"],
        ),
        ({"lens_start": "9999"}, 108, ["showing 108 to 131", "108 to 131 of 0 to 131"]),
    ],
    ids=str,
)
def test_lens_of_a_long_sentence_shows_a_window(
    query: dict[str, str], first: int, notes: list[str]
) -> None:
    app = open_page("Lens", sentence=" ".join(22 * ["The red ball was big."]), **query)
    assert len(strip(app)) == 132
    heat, written = chart(app, "lens").data
    assert numbers(heat["x"]).tolist() == list(range(first, first + 24))
    assert z(heat).shape == (7, 24)
    assert len(written["text"]) == 7 * 24
    said = " ".join(lines(app, "note"))
    assert all(note in said for note in notes)
    app.run()
    assert any(line.startswith("A window") for line in lines(app, "note")), "said each time"


def test_lens_tables_hold_the_whole_sentence() -> None:
    device = runs.device_names()[0]
    run = runs.run("stories", device, HOSTILE)
    view = ui.View(HOSTILE, "stories", device, run, 2, 3, theme.LIGHT)
    seen = runs.lens("stories", device, HOSTILE)
    tables = lens._tables(lens.Reading(view, seen, runs.vocabulary("stories", device), 3, 0))
    header, *rows = csv_rows(tables["Lens top tokens"]())
    assert header == [
        "after_layer",
        "position",
        "after_token",
        "place",
        "id",
        "token",
        "probability",
    ]
    assert [int(row[4]) for row in rows] == seen.ids.ravel().tolist()
    assert [float(row[6]) for row in rows] == pytest.approx(seen.probs.ravel())
    assert [row[3] for row in rows[:11]] == [*map(str, range(1, 11)), "1"]
    header, *rows = csv_rows(tables["Lens ranks"]())
    assert {len(row) for row in rows} == {len(header)}
    assert [int(row[5]) for row in rows] == (seen.rank + 1).ravel().tolist()
    assert [float(row[6]) for row in rows] == pytest.approx(seen.entropy.ravel())
    assert rows[-1][:2] == ["L5", str(len(run.trace.tokens) - 1)]


@pytest.mark.parametrize("text", ["Tom had a red", "שלום 😀 <b>$x$</b>"], ids=ascii)
def test_generated_text_is_what_the_model_samples(text: str) -> None:
    app = open_page("Generate", sentence=text, seed="7", new_tokens="9", temperature="1.2")
    while "Start" in app.button[0].label or "Go on" in app.button[0].label:
        if app.button[2].disabled and len(live_data(app)["steps"]):
            break
        app.button[1].click().run()
    data = live_data(app)
    loaded, trace = stories(), stories_trace(text)
    drawn_with, end_id = Sampling(temperature=1.2, top_p=0.95), loaded.tokenizer.end_id
    ids = trace.ids.tolist()
    steps = list(generate(loaded.model, ids, drawn_with, max_new_tokens=9, seed=7, end_id=end_id))
    assert [step["token_id"] for step in data["steps"]] == [step.token_id for step in steps]
    tokens = [*trace.tokens, *loaded.tokenizer.token_strings([s.token_id for s in steps])]
    assert data["labels"] == token_labels(tokens)
    expected = loaded.tokenizer.decode([s.token_id for s in steps if s.token_id != end_id])
    body = next(e.proto.body for e in app.get("html") if "hl-written" in e.proto.body)
    prompt, written = re.findall(r"<span>(.*?)</span><mark>(.*?)</mark>", body, re.DOTALL)[0]
    assert html.unescape(written) == expected
    assert html.unescape(prompt) == text


def test_greedy_takes_the_likeliest_and_stop_keeps_the_text() -> None:
    app = open_page("Generate", sentence=TOM, mode="greedy", new_tokens="5")
    app.button[1].click().run()
    app.button[1].click().run()
    steps = live_data(app)["steps"]
    assert [step["rank"] for step in steps] == [0, 0]
    app.button[2].click().run()
    assert live_data(app)["steps"] == steps, "nothing generated is lost"
    assert app.button[0].label == "Start again"
    assert app.button[2].disabled


@pytest.mark.parametrize("width", [1, 3])
def test_beam_tree_is_the_model_s(width: int) -> None:
    app = open_page("Generate", sentence=TOM, mode="beam", beam_width=str(width), alpha="0.7")
    trace = stories_trace(TOM)
    steps = list(
        beam_search(
            stories().model,
            trace.ids.tolist(),
            beam_width=width,
            max_new_tokens=8,
            length_penalty=0.7,
            end_id=stories().tokenizer.end_id,
        )
    )
    pruned, kept, winner = chart(app, "beam").data[3:]
    n_candidates = sum(len(step.candidates) for step in steps)
    assert len(pruned["x"]) + len(kept["x"]) + len(winner["x"]) == n_candidates
    best = steps[-1].winner
    tokens = stories().tokenizer.token_strings(list(best.ids))
    assert [html.unescape(x).rstrip("…") for x in winner["text"]] == [
        visible(token)[:12].rstrip("…") for token in tokens
    ]
    assert latex_numbers(app.latex[-1].value)[-1] == pytest.approx(best.score, abs=6e-5)
    texts = [e.proto.body for e in app.get("html") if 'class="hl-written"' in e.proto.body]
    assert len(texts) == 2
    assert (texts[0] == texts[1]) or width > 1, "width 1 is greedy"


def test_checks_are_listed_and_counted() -> None:
    app = open_page("Attention", sentence=TOM)
    table = app.dataframe[0].value
    assert set(table["verdict"]) == {"passed"}
    (badge,) = app.get("popover")
    assert f"{len(table)} checks" in badge.proto.popover.label
    worst = max(float(error) for error in table["worst error"])
    assert f"worst error {worst:.0e}" in badge.proto.popover.label


@pytest.mark.parametrize(
    ("error", "shown", "verdict"),
    [(3e-7, "3.0e-07", "passed"), (2e-3, "2.0e-03", "FAILED"), (None, "nan", "FAILED")],
    ids=["right", "wrong", "not-a-number"],
)
def test_browser_check_joins_the_others(
    error: float | None, shown: str, verdict: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the browser found for the head and sentence shown is listed; for others it is not."""
    app = open_page("Attention", sentence=TOM, layer="L1", head="H2")
    n_checks = len(app.dataframe[0].value)
    checked = {"key": live_data(app)["key"], "head": "L1 H2", "error": error}
    told: dict[str, object] = {"checked": checked}
    monkeypatch.setattr(component, "_told", lambda key: told)
    app.run()
    table = app.dataframe[0].value
    assert len(table) == n_checks + 1
    assert table["check"].iloc[-1].startswith("L1 H2")
    assert (table["worst error"].iloc[-1], table["verdict"].iloc[-1]) == (shown, verdict)
    count = f"{n_checks + 1} checks, " if verdict == "passed" else f" 1 of {n_checks + 1} checks f"
    assert count in app.get("popover")[0].proto.popover.label
    for other in ({"head": "L1 H3"}, {"key": "another"}):
        told["checked"] = checked | other
        app.run()
        assert len(app.dataframe[0].value) == n_checks


@pytest.mark.parametrize("variant", VARIANTS)
def test_pages_hold_for_every_kind_of_model(variant: str, shelf: Path) -> None:
    tiny_checkpoint(shelf / variant, **VARIANTS[variant])
    loaded = checkpoint.load(variant)
    config, ids = loaded.config, loaded.tokenizer.encode(SENTENCE)
    trace = capture(loaded.model, ids, loaded.tokenizer.token_strings(ids))
    for page in PAGES:
        app = open_page(page, sentence=SENTENCE)
        assert lines(app, "error") == []
        if page == "Attention":
            assert_model_is_sent(app, trace)
        assert set(app.dataframe[0].value["verdict"]) == {"passed"}
        formulas = " ".join(formula.value for formula in app.latex)
        if page == "Positions":
            assert (r"\mathrm{PE}" in formulas) == (config.position == "sinusoidal")
        if page == "Masks":
            mask = z(chart(app, "mask").data[0])
            seen = {"window": 3, "prefix": 4}.get(variant, 1)
            assert np.isfinite(mask).sum(axis=-1)[[0, 3, 9]].tolist() == (
                [1, 3, 3] if variant == "window" else [seen, 4, 10]
            )
            assert (r"& j \le i \\ -\infty" in formulas) == (config.mask == "causal")
        if page == "Lens":
            expected = logit_lens(trace, loaded.model)
            assert z(chart(app, "lens").data[0]) == pytest.approx(expected.probs[..., 0], abs=1e-6)
            notes = lines(app, "note")
            assert any("no final norm" in note for note in notes) == (variant == "none")
            assert any("Check passed" in caption.value for caption in app.caption)


# --- what a person types ----------------------------------------------------------------------


@pytest.mark.parametrize("name", ODD_SENTENCES)
def test_odd_sentence_is_text_on_every_page(name: str) -> None:
    text = ODD_SENTENCES[name]
    trace = stories_trace(text)
    for page in PAGES:
        app = open_page(page, sentence=text)
        assert lines(app, "error") == []
        assert [label for label, _ in strip(app)] == token_labels(trace.tokens)
        assert set(app.dataframe[0].value["verdict"]) == {"passed"}
        specs = [element.proto.spec for element in app.get("plotly_chart")]
        bodies = [element.proto.body for element in app.get("html")]
        assert not any("<script" in piece or "<b onclick" in piece for piece in [*specs, *bodies])
        if page == "Attention":
            assert_model_is_sent(app, trace)


@pytest.mark.parametrize("blank", ["", " ", " \t\u3000 "], ids=ascii)
def test_blank_sentence_gets_a_friendly_line_and_the_example(blank: str) -> None:
    app = open_page("Attention", sentence=blank)
    assert any("Type a sentence" in line for line in lines(app, "note"))
    assert lines(app, "error") == []
    trace = stories_trace(EXAMPLE.sentence)
    assert [label for label, _ in strip(app)] == token_labels(trace.tokens)


@pytest.mark.parametrize("page", PAGES)
def test_sentence_beyond_the_context_says_how_many_tokens_are_cut(page: str) -> None:
    text = 300 * "word "
    app = open_page(page, sentence=text)
    n_tokens, context = len(stories().tokenizer.encode(text)), stories().config.max_seq_len
    (line,) = (line for line in lines(app, "note") if "cut" in line)
    assert latex_numbers(line) == [n_tokens, context, context, n_tokens - context]
    assert len(strip(app)) == context


def test_no_room_to_write_on_is_one_line() -> None:
    app = open_page("Generate", sentence=300 * "word ")
    for _ in range(2):  # and pressing again is no worse
        app.button[1 if not app.button[1].disabled else 0].click().run()
        assert not app.exception
        (line,) = [*lines(app, "error"), *lines(app, "note")][-1:]
        assert "256" in line


def test_a_full_prompt_can_slide() -> None:
    app = open_page("Generate", sentence=250 * " word", full="slide", mode="greedy")
    room = stories().config.max_seq_len - len(live_data(app)["labels"])
    app.text_input(key="sentence").set_value((250 + room) * " word").run()
    app.button[1].click().run()
    assert lines(app, "error") == []
    assert len(live_data(app)["steps"]) == 1


def test_a_full_context_says_so_and_offers_to_slide() -> None:
    app = open_page("Generate", sentence=250 * " word", new_tokens="9", mode="greedy")
    room = stories().config.max_seq_len - len(live_data(app)["labels"])
    for _ in range(room):
        app.button[1].click().run()
    assert app.button[2].disabled
    assert any("256" in line and "slide" in line for line in lines(app, "note"))


def test_example_brings_its_sentence_layer_and_head() -> None:
    app = open_page("Attention")
    example = ui.examples()[1]
    app.selectbox(key="example").set_value(example.sentence).run()
    assert not app.exception
    chosen = control(app, "sentence"), control(app, "layer"), control(app, "head")
    assert chosen == (example.sentence, example.layer, example.head)
    assert_model_is_sent(app, stories_trace(example.sentence))
    settings = live_data(app)["settings"]
    assert (settings["layer"], settings["head"]) == (example.layer, example.head)


def test_every_example_shows_something() -> None:
    for example in ui.examples():
        pattern = stories_trace(example.sentence).attention[example.layer].pattern[example.head]
        query, key = strongest_pair(pattern)
        assert key not in (0, query)
        assert pattern[query, key] > 0.3, example.sentence


# --- what a URL says --------------------------------------------------------------------------

MENDED = [
    ("Attention", "model", "no-such-model", "stories"),
    ("Attention", "model", "../stories", "stories"),
    ("Attention", "layer", "99", 5),
    ("Attention", "layer", "abc", EXAMPLE.layer),
    ("Attention", "layer", "", EXAMPLE.layer),
    ("Attention", "head", "-3", 0),
    ("Attention", "head", "nan", EXAMPLE.head),
    ("Attention", "head", "<script>", EXAMPLE.head),
    ("Attention", "view", "picture", "map"),
    ("Attention", "view", "", "map"),
    ("Attention", "stage", "Softmax", "weights"),
    ("Attention", "cell", "99-2", "12-2"),
    ("Attention", "cell", "3-13", "3-12"),
    ("Attention", "cell", "03-1", "3-1"),
    ("Attention", "cell", "3", ""),
    ("Attention", "cell", "-1-2", ""),
    ("Attention", "cell", "1-2-3", ""),
    ("Attention", "cell", "<b>", ""),
    ("Attention", "token", "99", "12"),
    ("Attention", "token", "-1", ""),
    ("Attention", "token", "1.5", ""),
    ("Attention", "token", "cat", ""),
    ("Attention", "mass", "7", 1.0),
    ("Attention", "mass", "0", 0.1),
    ("Attention", "mass", "nan", 0.8),
    ("Attention", "mass", "all", 0.8),
    ("Attention", "change", "dropout", "scale"),
    ("Attention", "tau", "0", 0.1),
    ("Attention", "tau", "inf", 4.0),
    ("Attention", "tau", "hot", 2.0),
    ("Attention", "against", "myself", "head"),
    ("Attention", "other", "9-9", "5-7"),
    ("Attention", "other", "abc", ""),
    ("Attention", "how", "median", "mean"),
    ("Attention", "over", "row", "layer"),
    ("Attention", "hide_first", "maybe", "no"),
    ("Attention", "words", "True", "no"),
    ("Predict", "temperature", "-1", 0.05),
    ("Predict", "temperature", "nan", 0.8),
    ("Predict", "temperature", "inf", 3.0),
    ("Predict", "temperature", "warm", 0.8),
    ("Predict", "top_p", "7", 1.0),
    ("Predict", "top_k", "99999", 4096),
    ("Predict", "top_k", "0", 1),
    ("Generate", "seed", "-5", 0),
    ("Generate", "seed", "many", 0),
    ("Generate", "new_tokens", "0", 1),
    ("Predict", "after", "99", 12),
    ("Cache", "part", "queries", "keys"),
    ("Cache", "heads", "none", "all heads"),
    ("Cache", "prefill", "0", 1),
    ("Cache", "prefill", "99", 13),
    ("Cache", "held", "99", 13),
    ("Cache", "held", "3", 4),
    ("Cache", "context", "0", 1),
    ("Lens", "lens_color", "rainbow", "probability"),
    ("Lens", "lens_start", "7", -1),
    ("Lens", "after", "-9", -1),
    ("Nonsense", "page", "Nonsense", "Attention"),
]
LABELS = {
    "top_k": "Top-k",
    "top_p": "Top-p",
    "new_tokens": "New tokens",
    "after": "After",
    "tau": "Attention temperature",
    "against": "Compare with",
    "other": "Other head",
    "how": "Summary",
    "hide_first": "Hide the first token",
    "words": "Merge pieces",
    "part": "Show",
    "held": "Tokens held",
    "lens_color": "Colour",
    "lens_start": "Window",
}
VALID = {
    "sentence": (TOM, TOM),
    "layer": ("L4", 4),
    "head": ("H0", 0),
    "temperature": ("1.5", 1.5),
    "top_k": ("5", 5),
    "top_p": ("0.5", 0.5),
    "seed": ("7", 7),
    "new_tokens": ("12", 12),
}
# What the URL says, and what the browser component gets.
VALID_LIVE = {
    "layer": ("L4", 4),
    "head": ("H0", 0),
    "view": ("sentence", "sentence"),
    "stage": ("masked", "masked"),
    "cell": ("7-3", [7, 3]),
    "token": ("5", 5),
    "mass": ("0.5", 0.5),
    "change": ("temperature", "temperature"),
    "tau": ("0.5", 0.5),
    "against": ("sentence", "sentence"),
    "other": ("1-6", [1, 6]),
    "second": (HOSTILE, HOSTILE),
    "how": ("maximum", "maximum"),
    "over": ("all", "all"),
    "hide_first": ("yes", True),
    "words": ("yes", True),
}
DEFAULT_LIVE = {
    "layer": EXAMPLE.layer,
    "head": EXAMPLE.head,
    "view": "map",
    "stage": "weights",
    "cell": None,
    "token": None,
    "mass": 0.8,
    "change": "scale",
    "tau": 2.0,
    "against": "head",
    "other": None,
    "second": "",
    "how": "mean",
    "over": "layer",
    "hide_first": False,
    "words": False,
}


@pytest.mark.parametrize(("page", "key", "raw", "value"), MENDED, ids=lambda x: str(x) or "empty")
def test_impossible_setting_becomes_the_nearest_and_says_so(
    page: str, key: str, raw: str, value: object
) -> None:
    app = open_page(page, **{key: raw})
    assert control(app, key) == value
    (line,) = lines(app, "note")
    assert line.startswith(LABELS.get(key, key.capitalize()))
    assert raw in line
    assert not re.search(r"\de[+-]\d", line), "numbers as people write them"
    assert lines(app, "error") == []
    app.run()
    assert lines(app, "note") == [], "said once"
    assert control(app, key) == value


def test_valid_settings_come_back_from_the_url() -> None:
    app = open_page("Generate", **{key: raw for key, (raw, _) in VALID.items()})
    assert {key: control(app, key) for key in VALID} == {key: v for key, (_, v) in VALID.items()}
    assert lines(app, "note") == []
    assert app.title[0].value.endswith("Generate")


def test_first_visit_has_the_defaults_and_a_short_url() -> None:
    app = open_page("Attention")
    assert live_data(app)["settings"] == DEFAULT_LIVE
    assert query_of(app) == {}


def test_settings_of_the_microscope_come_back_from_the_url() -> None:
    query = {key: raw for key, (raw, _) in VALID_LIVE.items()}
    app = open_page("Attention", sentence=TOM, **query)
    assert live_data(app)["settings"] == {key: value for key, (_, value) in VALID_LIVE.items()}
    assert lines(app, "note") == lines(app, "error") == []
    again = open_page("Attention", **{name: value[-1] for name, value in query_of(app).items()})
    assert live_data(again)["settings"] == live_data(app)["settings"]
    assert live_data(again)["queryLabels"] == live_data(app)["queryLabels"]


def tell(
    app: AppTest,
    changes: dict[str, object],
    monkeypatch: pytest.MonkeyPatch,
    take_over: Callable[[dict[str, object]], None] = attention._take_over,
) -> None:
    """Run the page again as after the browser told of changes."""
    session = {"said": list(app.session_state["said"])}
    with monkeypatch.context() as patch:
        patch.setattr(st, "session_state", session)
        take_over(changes)
    for name, value in session.items():
        app.session_state[name] = value
    app.run()
    assert not app.exception


def test_what_is_chosen_in_the_browser_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """It comes back with the next run, and another visitor finds it in the URL."""
    app = open_page("Attention", sentence=TOM)
    chosen = {key: value for key, (_, value) in VALID_LIVE.items()}
    for changes in (chosen, DEFAULT_LIVE):
        tell(app, changes, monkeypatch)
        assert live_data(app)["settings"] == changes
        assert lines(app, "note") == []
        visitor = open_page("Attention", **{name: v[-1] for name, v in query_of(app).items()})
        assert live_data(visitor)["settings"] == changes
    assert set(query_of(app)) <= {"page", "sentence"}, "defaults leave the URL"
    tell(app, {"cell": [4, 2]}, monkeypatch)
    assert live_data(app)["settings"] == DEFAULT_LIVE | {"cell": [4, 2]}, "the rest stays"


def test_notices_outlive_a_redraw_nobody_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """The browser reports its check soon after a page opens; that must not sweep the note away."""
    app = open_page("Attention", layer="99", cell="99-2")
    said = lines(app, "note")
    assert len(said) == 2
    tell(app, {}, monkeypatch)
    assert lines(app, "note") == said
    tell(app, {}, monkeypatch)
    assert lines(app, "note") == said, "as often as it is drawn again"
    tell(app, {"view": "lines"}, monkeypatch)
    assert lines(app, "note") == []


@pytest.mark.parametrize(("key", "raw"), [("layer", "4"), ("layer", "L4"), ("head", "6")])
def test_number_and_name_both_choose(key: str, raw: str) -> None:
    app = open_page("Attention", **{key: raw})
    assert control(app, key) == int(raw.strip("L"))
    assert lines(app, "note") == []


@pytest.mark.parametrize(
    ("page", "key", "raw"),
    [
        ("Attention", "layer", "L4"),
        ("Attention", "layer", "4"),
        ("Attention", "layer", "99"),
        ("Attention", "cell", "99-2"),
        ("Attention", "token", "99"),
        ("Attention", "mass", "0.35"),
        ("Attention", "view", "compare"),
        ("Attention", "words", "yes"),
        ("Predict", "top_k", "37"),
        ("Predict", "temperature", "-1"),
        ("Predict", "after", "3"),
        ("Lens", "lens_color", "entropy"),
        ("Lens", "lens_start", "7"),
        ("Lens", "after", "99"),
    ],
)
def test_url_describes_the_view_it_opened(page: str, key: str, raw: str) -> None:
    """Opened, mended and copied, it opens the same view again, with nothing left to say."""
    app = open_page(page, **{key: raw})
    again = open_page(page, **{name: value[-1] for name, value in query_of(app).items()})
    assert control(again, key) == control(app, key)
    assert lines(again, "note") == []


@pytest.mark.parametrize("page", ["Attention", "Masks"])
def test_sampling_stays_in_the_url_on_other_pages(page: str) -> None:
    app = open_page("Generate", temperature="1.5", top_k="5", seed="7")
    app.segmented_control(key="page").set_value(page).run()
    query = query_of(app)
    assert {key: query.get(key) for key in ("temperature", "top_k", "seed")} == {
        "temperature": ["1.5"],
        "top_k": ["5"],
        "seed": ["7"],
    }


# --- another model in the same session ----------------------------------------------------------


def test_settings_follow_to_another_model(shelf: Path) -> None:
    """What the other model has not becomes the nearest; what a person left alone stays so."""
    tiny_checkpoint(shelf / "big", n_layers=4, n_heads=5, d_model=40)
    tiny_checkpoint(shelf / "small")
    app = open_page("Predict", model="big", sentence=SENTENCE, layer="L3", head="H4")
    app.selectbox(key="model").set_value("small").run()
    assert not app.exception
    assert (control(app, "layer"), control(app, "head")) == (1, 2)
    assert [line.split()[0] for line in lines(app, "note")] == ["Layer", "Head"]


def test_top_k_left_alone_keeps_all_tokens_of_another_model(shelf: Path) -> None:
    tiny_checkpoint(shelf / "small")  # 13 tokens
    tokenizer = train_characters([SENTENCE, "bdfgijklpqruvwxyz"])
    checkpoint.save(shelf / "large", tiny_model(vocab_size=tokenizer.vocab_size), tokenizer)
    app = open_page("Predict", model="small", sentence="the cat")
    app.selectbox(key="model").set_value("large").run()
    assert control(app, "top_k") == sampling.ALL
    assert lines(app, "note") == []


# --- a checkpoint that cannot be used -----------------------------------------------------------


def truncate(folder: Path) -> None:
    """Cut the weights in the middle."""
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])


def misspell(folder: Path) -> None:
    """A config with a key nobody knows."""
    edit_json(folder / "config.json", lambda fields: fields.update(n_haeds=3))


def lose_tokenizer(folder: Path) -> None:
    """A folder copied without its tokenizer."""
    (folder / "tokenizer.json").unlink()


@pytest.mark.parametrize(
    ("damage", "word"),
    [(truncate, "cut"), (misspell, "n_haeds"), (lose_tokenizer, "tokenizer.json is missing")],
)
def test_broken_checkpoint_is_one_line(
    damage: Callable[[Path], None], word: str, shelf: Path
) -> None:
    damage(tiny_checkpoint(shelf / "broken"))
    for page in PAGES:
        app = open_page(page)
        (line,) = lines(app, "error")
        assert word in line
        assert "\n" not in line
        assert not app.get("plotly_chart")
        assert [item.key for item in app.get("bidi_component")] in ([], ["preload-live"])


def test_no_checkpoint_is_one_line(shelf: Path) -> None:
    (line,) = lines(open_page("Attention"), "error")
    assert "no checkpoint" in line
    assert "README" in line


def test_another_model_can_be_chosen_beside_a_broken_one(shelf: Path) -> None:
    truncate(tiny_checkpoint(shelf / "broken"))
    tiny_checkpoint(shelf / "whole")
    app = open_page("Attention", sentence=SENTENCE)
    assert len(lines(app, "error")) == 1
    app.selectbox(key="model").set_value("whole").run()
    assert lines(app, "error") == []
    assert live_data(app)["model"] == "whole"


def test_unknown_device_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADLIGHT_DEVICE", "abacus")
    (line,) = lines(open_page("Attention"), "error")
    assert "abacus" in line


# --- exports ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["line-breaks", "control", "right-to-left", "latex"])
def test_table_has_one_row_a_token(name: str) -> None:
    trace = stories_trace(ODD_SENTENCES[name])
    values = trace.attention[0].pattern[0]
    header, *rows = csv_rows(ui.table_csv(values, trace.tokens, trace.tokens, "query \\ key"))
    assert header[0] == "query \\ key"
    assert len(rows) == len(trace.tokens)
    assert np.array([row[1:] for row in rows], float) == pytest.approx(values)
