"""Protects Home: its numbers are the run's, older words fold, and a text goes on as drawn."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from model.decoding.translation import Way
from tests.viz.apps import TOM, chosen, lines, open_page, query_of
from tests.viz.builders import live_data, stories_trace
from viz import runs
from viz.frame import given
from viz.frame.view import View
from viz.kit.parts.home import MOST_ROWS, N_COLUMNS, Goal, home_part
from viz.labels import token_labels
from viz.live import store
from viz.pages import alive
from viz.runs import blanks, translating
from viz.runs.kept import Asked
from viz.theme import LIGHT

SILENT = Goal("vectors", has_answers=False)
LONG = " ".join(12 * ["The red ball was big."])


def test_what_is_told_is_the_run_s() -> None:
    data = live_data(open_page("Home", sentence=TOM, temperature="1.3", top_p="0.9"))
    trace, spec = stories_trace(TOM), data["spec"]
    assert data["settings"] == {
        "temperature": 1.3,
        "top_p": 0.9,
        "appended": None,
        "at": "",
        "cell": None,
        "layers": None,
        "sink": False,
    }
    assert spec["labels"] == token_labels(trace.tokens)
    assert [column["n_heads"] for column in spec["columns"]] == 6 * [8]
    assert (spec["goal"], spec["folded"], spec["asked"]) == ("next", [], len(trace.tokens) - 1)
    assert spec["why_no_more"] is None
    arrays = {name: store.array(about["id"]) for name, about in data["arrays"].items()}
    for layer, record in enumerate(trace.attention):
        np.testing.assert_allclose(arrays["pattern"][layer], record.pattern, atol=1e-7)
        np.testing.assert_array_equal(arrays["mask"][layer], record.mask)
    np.testing.assert_array_equal(arrays["logits"], trace.logits)
    norms = [np.linalg.norm(residual.resid_post, axis=-1) for residual in trace.residuals]
    np.testing.assert_allclose(arrays["norms"][2::2], norms, rtol=1e-5)
    vocabulary = json.loads(arrays["vocabulary"].tobytes())
    assert len(vocabulary) == spec["vocab_size"] == trace.logits.shape[-1]


def test_the_older_words_of_a_long_text_are_one_row() -> None:
    """Their weights are summed: every row still sums to one."""
    trace = stories_trace(LONG)
    part = home_part(trace, ["a"] * trace.logits.shape[-1])
    most, _ = MOST_ROWS
    n_folded = len(trace.tokens) - (most - 1)
    assert part.spec["labels"][0] == f"… {n_folded} earlier"
    assert part.spec["labels"][1:] == token_labels(trace.tokens)[n_folded:]
    pattern = part.arrays["pattern"]
    assert pattern.shape == (6, 8, most, most)
    np.testing.assert_allclose(pattern[..., 1:, :].sum(axis=-1), 1, atol=1e-5)
    full = trace.attention[3].pattern[5]
    np.testing.assert_allclose(pattern[3, 5, 1:, 1:], full[n_folded:, n_folded:], atol=1e-7)
    assert part.arrays["mask"][0, 1:, 0].all()
    for name in ("embed", "positions"):
        assert part.arrays[name].shape == (most, N_COLUMNS)
    np.testing.assert_array_equal(part.arrays["logits"][1:], trace.logits[n_folded:])


def test_a_full_context_says_so() -> None:
    data = live_data(open_page("Home", sentence=300 * "word "))
    assert data["spec"]["why_no_more"] == "Stopped at the model's context of 256 tokens."


def test_a_text_goes_on_with_the_token_that_was_drawn() -> None:
    handle, trace = runs.handle_of("stories", "cpu"), stories_trace(TOM)
    tokenizer, ids = runs.tokenizer(handle), trace.ids.tolist()
    run, given = runs.run(handle, TOM), []
    watch = runs.decoder(handle).register_forward_pre_hook(lambda _, args: given.append(args[0]))
    gone_on = runs.run(handle, f"{TOM} The")
    watch.remove()
    assert [x.tolist() for x in given] == [gone_on.trace.ids[len(run.trace.ids) :, None].tolist()]
    assert all(check.passed for check in gone_on.checks)
    for token_id in np.argsort(-trace.logits[-1])[:20].tolist():
        text = runs.with_token(handle, TOM, ids, token_id)
        assert text is not None
        assert text.startswith(TOM)
        assert tokenizer.decode([*ids, token_id]).endswith(text.removeprefix(TOM))
    with pytest.raises(ValueError, match="4096"):
        runs.with_token(handle, TOM, ids, 4096)


def test_what_a_browser_asks_for_must_fit_the_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """The right place, and a token that can stand there; the end of a text ends it."""
    put: list[object] = []
    monkeypatch.setattr(alive.state, "put", lambda *values: put.append(values))
    monkeypatch.setattr(alive.state, "take_over", lambda changes: None)
    kept: dict[object, object] = {}
    monkeypatch.setattr(
        alive.memory, "remember", lambda name, at, value: kept.update({name: value})
    )
    monkeypatch.setattr(alive.memory, "remembered", lambda name, at: None)
    handle, trace = runs.handle_of("stories", "cpu"), stories_trace(TOM)
    run = runs.run(handle, TOM)
    view = View(TOM, handle, Asked(lambda: run), "decoder.attn", 0, 0, LIGHT)
    asked, n = alive.Asked(Goal(), {}), len(trace.tokens)
    alive._take_over(view, asked, {"appended": [n - 1, 5]})
    assert put == [] and kept == {}, "of a text that has gone on since"
    alive._take_over(view, asked, {"appended": [n, int(trace.logits[-1].argmax())]})
    assert len(put) == 1
    assert kept == {alive.AFTER: (n, int(trace.logits[-1].argmax()))}
    alive._take_over(view, asked, {"appended": [n, runs.tokenizer(handle).end_id]})
    assert kept[alive.ENDED] is True
    assert len(put) == 1


def _arrays(data: dict[str, Any]) -> dict[str, np.ndarray]:
    found = {name: store.array(about["id"]) for name, about in data["arrays"].items()}
    return {name: array for name, array in found.items() if array is not None}


def test_a_word_of_an_encoder_s_sentence_is_hidden_and_another_where_it_is_clicked() -> None:
    app = open_page("Home", sentence="The cat sat on the warm mat.", model="blank")
    data = live_data(app)
    spec, (place,) = data["spec"], data["settings"]["blanks"]
    assert spec["goal"] == "hidden" and spec["asked"] == place
    assert spec["labels"][place] == "[MASK]"
    handle = runs.handle_of("blank", "cpu")
    stood = token_labels(blanks.tokens_of(handle, "The cat sat on the warm mat."))
    ids = blanks.ids_of(handle, "The cat sat on the warm mat.")
    assert spec["hidden"] == [[place, stood[place], ids[place]]]
    arrays = _arrays(data)
    run = blanks.run_blanked(handle, "The cat sat on the warm mat.", (place,))
    np.testing.assert_array_equal(arrays["logits"], run.trace.logits)
    assert arrays["mask"].all(), "both sides"
    other = live_data(
        open_page("Home", sentence="The cat sat on the warm mat.", model="blank", blanks="1")
    )
    assert other["spec"]["hidden"] == [[1, stood[1], ids[1]]]
    assert other["spec"]["key"] != spec["key"]


def test_a_translation_is_two_bands_with_cross_attention_between_them() -> None:
    data = live_data(open_page("Home", source="A dog runs.", model="translate"))
    spec, arrays = data["spec"], _arrays(data)
    handle = runs.handle_of("translate", "cpu")
    written = translating.written(handle, "A dog runs.", Way())
    run = runs.run_translation(handle, "A dog runs.", written.ids)
    source, target = run.trace.streams
    split = len(source)
    assert [(band["name"], band["from"], band["to"]) for band in spec["bands"]] == [
        ("encoder", 0, split),
        ("decoder", split, split + len(target)),
    ]
    assert spec["labels"][split] == "⟨start⟩" and spec["labels"][split - 1] == "⟨end⟩"
    assert tuple(spec["came"]) == written.ids
    assert spec["answers"] == [split, split + len(target)]
    for column, record in zip(spec["columns"], run.trace.attention, strict=True):
        at = spec["columns"].index(column)
        queries = slice(split, None) if record.queries == "decoder" else slice(split)
        keys = slice(split, None) if record.keys == "decoder" else slice(split)
        shown = arrays["pattern"][at]
        np.testing.assert_allclose(shown[:, queries, keys], record.pattern, atol=1e-7)
        assert shown.sum() == pytest.approx(record.pattern.sum(), rel=1e-5), "nothing elsewhere"
        is_cross = record.site.kind == "cross"
        assert (column["layer"], column["name"]) == (
            record.site.layer,
            "cross" if is_cross else "layer",
        )
        state = getattr(
            run.trace.stream(record.queries).residuals[record.site.layer],
            "resid_cross" if is_cross else "resid_mid",
        )
        expected = np.linalg.norm(state, axis=-1)
        np.testing.assert_allclose(arrays["norms"][column["at"]][queries], expected, rtol=1e-5)
        if column["mlp"] is not None:
            last = run.trace.stream(record.queries).residuals[record.site.layer]
            norms = np.linalg.norm(last.resid_post, axis=-1)
            np.testing.assert_allclose(arrays["norms"][column["at"] + 1][queries], norms, rtol=1e-5)
            np.testing.assert_allclose(
                arrays["ffn"][column["mlp"]][queries][:, 0], last.ffn_out[:, 0], atol=1e-6
            )
        href = f"attention={record.site.group}&layer={record.site.layer}&head={{head}}"
        assert column["opens"].endswith(href)


def test_a_picture_is_read_by_its_class_token() -> None:
    data = live_data(open_page("Home", model="digits"))
    spec, arrays = data["spec"], _arrays(data)
    trace = runs.run_picture(runs.handle_of("digits", "cpu"), given.picture()).trace
    assert (spec["goal"], spec["asked"], spec["side"], spec["answers"]) == ("class", 0, 7, [0, 1])
    assert spec["labels"][:3] == ["[CLS]", "patch 0,0", "patch 0,1"]
    np.testing.assert_array_equal(arrays["logits"], trace.output)
    np.testing.assert_array_equal(arrays["pixels"], trace.main.pixels)
    assert json.loads(arrays["vocabulary"].tobytes()) == [str(i) for i in range(10)]


@pytest.mark.parametrize(("place", "labels"), [(2, (0, 1)), (30, (1, 1)), (65, (1, 0))])
def test_of_a_long_sentence_the_words_around_a_hidden_one_are_shown(
    place: int, labels: tuple[int, int]
) -> None:
    """What is folded is summed on its side; every row still sums to one."""
    trace = stories_trace(LONG)
    hidden = ((place, "x", 7), ((place + 36) % len(trace.tokens), "y", 8))
    part = home_part(trace, ["a"] * trace.logits.shape[-1], Goal("hidden", place, hidden))
    spec = part.spec
    n = len(spec["labels"])
    assert n == MOST_ROWS[0]
    folds = [spec["labels"][0].startswith("… "), spec["labels"][-1].endswith(" later")]
    assert folds == [bool(label) for label in labels]
    assert spec["folded"] == [0] * labels[0] + [n - 1] * labels[1]
    assert spec["asked"] + spec["begins"] == place
    assert spec["hidden"] == [[spec["asked"], "x", 7]], "what is folded is not shown"
    assert spec["labels"][spec["asked"]] == token_labels(trace.tokens)[place]
    row = part.arrays["pattern"][..., spec["asked"], :]
    np.testing.assert_allclose(row.sum(axis=-1), 1, atol=1e-5)
    np.testing.assert_array_equal(part.arrays["logits"][spec["asked"]], trace.logits[place])


def test_of_a_model_that_says_nothing_the_last_vectors_come_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(View, "offers", frozenset({"text"}))
    app: AppTest = open_page("Home", sentence=TOM)
    assert lines(app, "error") == lines(app, "note") == []
    data, trace = live_data(app), stories_trace(TOM)
    spec, arrays = data["spec"], _arrays(data)
    assert (spec["goal"], spec["answers"], spec["d_model"]) == ("vectors", [0, 0], 256)
    assert spec["asked"] == len(trace.tokens) - 1, "it alone sees all"
    assert "logits" not in arrays and json.loads(arrays["vocabulary"].tobytes()) == []
    places = 2 * np.linspace(0, 64, N_COLUMNS).round().astype(int)
    np.testing.assert_array_equal(arrays["last"], trace.residuals[-1].resid_post[:, places])
    np.testing.assert_array_equal(arrays["embed"], trace.embed[:, places])


def test_an_embedding_that_is_not_known_alone_is_what_enters_the_first_layer() -> None:
    trace = stories_trace(TOM)
    streams = (replace(trace.main, embed=None),)
    part = home_part(replace(trace, streams=streams, output=None), [], SILENT)
    places = 2 * np.linspace(0, 64, N_COLUMNS).round().astype(int)
    expected = trace.residuals[0].resid_pre[:, places]
    np.testing.assert_array_equal(part.arrays["embed"], expected)
    bare = replace(streams[0], residuals=(), positions=None)
    part = home_part(replace(trace, streams=(bare,), output=None), [], SILENT)
    assert not part.spec["has_stream"]
    assert not part.arrays["last"].any()
    np.testing.assert_array_equal(part.arrays["pattern"][2], trace.attention[2].pattern)


def test_a_head_in_the_address_is_large() -> None:
    app = open_page(
        "Home", sentence=TOM, attention="decoder.attn", layer="2", head="4", large="yes", cell="7-1"
    )
    found = live_data(app)["settings"]
    assert (found["at"], found["cell"]) == ("decoder.attn.2.4", [7, 1])
    app = chosen(app, model="blank")
    found = live_data(app)["settings"]
    assert (found["at"], found["cell"], lines(app, "note")) == ("", None, []), "of another model"
    assert live_data(open_page("Home", sentence=TOM))["settings"]["at"] == ""
    app = open_page(
        "Home", sentence=TOM, attention="decoder.attn", layer="9", head="9", large="yes"
    )
    assert live_data(app)["settings"]["at"] == "decoder.attn.5.7"
    assert [line.split()[:2] for line in lines(app, "note")] == [["Layer", "9"], ["Head", "9"]]
    assert query_of(
        open_page("Home", attention="decoder.attn", layer="2", head="4", large="yes", cell="7-1")
    )["cell"] == ["7-1"]
    assert "cell" not in query_of(open_page("Home", cell="7-1")), "a cell of no head"
