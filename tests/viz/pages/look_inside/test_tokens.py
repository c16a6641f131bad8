"""Protects the Tokens page: the tokenizer's own merges, its numbers, and a word on many pieces."""

import html
import json
import re
from pathlib import Path

import pytest
import streamlit as st

from model.analysis.merges import merge_forest
from model.sources import checkpoint
from tests.model.builders import SENTENCE, tiny_checkpoint
from tests.viz.apps import HOSTILE, TOM, chart, checks_shown, control, facts, lines, open_page
from tests.viz.builders import csv_rows, latex_numbers, stories
from viz import runs, theme
from viz.frame import words
from viz.frame.view import View
from viz.labels import token_labels
from viz.pages.look_inside import tokens
from viz.runs import tokens as token_runs
from viz.runs.kept import KEPT, Asked

ARABIC = "مرحبا بالعالم"


def without_addresses(body: str) -> str:
    """HTML whose numbers are plain text."""
    return re.sub(r'<span class="hl-number"[^>]*>(.*?)</span>', r"\1", body)


def cards(app: object) -> list[tuple[str, ...]]:
    """Each token's card: label, id, bytes, merges, last merge."""
    (body,) = (x.proto.body for x in app.get("html") if 'hl-cards"' in x.proto.body)
    found = re.findall(
        r'<span class="hl-target" title=.*?</bdi></span>(?:<small>.*?</small>)+',
        without_addresses(body),
    )
    return [
        tuple(html.unescape(x) for x in re.findall(r"<(?:bdi|small).*?>(.*?)</", card))
        for card in found
    ]


def note(app: object) -> str | None:
    return next((line for line in lines(app, "note") if "many pieces" in line), None)


def view_of(text: str, model: str = "stories") -> View:
    handle = runs.handle_of(model, runs.device_names()[0])
    asked = Asked(lambda: runs.run(handle, text))
    return View(text, handle, asked, "decoder.attn", 0, 0, theme.LIGHT)


def test_a_card_says_who_wrote_its_token(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []
    monkeypatch.setattr(words.st, "html", shown.append)
    looks = ["template special", "user"]
    words.token_cards(["<s>", "a"], {"id": ["5", "7"]}, ["token 0", "token 1"], looks)
    classes = re.findall(r'class="(hl-token.*?)"', shown[0])
    assert classes == ["hl-token hl-by-template hl-special", "hl-token hl-by-user"]
    said = ["token 0, template, special token", "token 1, user"]
    assert [x for x in re.findall(r'title="(.*?)"', shown[0]) if x] == said


def test_page_shows_how_each_token_was_made() -> None:
    app, tokenizer = open_page("Tokens", sentence=TOM), stories().tokenizer
    merges = json.loads(tokenizer.to_json())["model"]["merges"]
    ids = tokenizer.encode(TOM)
    found = cards(app)
    assert [card[0] for card in found] == token_labels(tokenizer.token_strings(ids))
    assert [int(card[1]) for card in found] == ids
    for token_id, (_, _, n_bytes, n_merges, last) in zip(ids, found, strict=True):
        symbols = tokenizer.backend.id_to_token(token_id)
        assert (int(n_bytes), int(n_merges)) == (len(symbols), len(symbols) - 1)
        assert last == "–" if len(symbols) == 1 else "".join(merges[int(last[1:]) - 1]) == symbols
    alt = chart(app, "merges").alt
    assert latex_numbers(alt)[:3] == [
        sum(int(card[3]) for card in found), len(TOM) + 1, len(ids),
    ]  # fmt: skip


def test_page_counts_the_text() -> None:
    found = facts(open_page("Tokens", sentence="A café, a cat.\nTwo"))
    n_tokens = len(stories().tokenizer.encode("A café, a cat.\nTwo"))
    assert found["characters"] == "18"
    assert found["bytes"] == "19"
    assert found["words"] == "5"
    assert found["tokens / context"] == f"{n_tokens} / 256"
    assert found["tokens per word"] == f"{n_tokens / 5:.2f}"
    assert found["bytes per token"] == f"{19 / n_tokens:.2f}"
    assert found["on held-out text"] == f"{475975 / 129292:.2f}–{211208 / 53417:.2f}"


def test_a_text_in_many_pieces_is_said_with_its_numbers() -> None:
    app = open_page("Tokens", sentence=ARABIC)
    n_tokens, n_bytes = len(stories().tokenizer.encode(ARABIC)), len(ARABIC.encode())
    said = note(app)
    assert said is not None
    assert f"{n_bytes / n_tokens:.2f} bytes per token, against 3.68 in valid.txt" in said
    assert f"Arabic: {n_bytes} bytes in {n_tokens} tokens" in said
    for sentence in (TOM, "x", "1984", "a b c"):
        assert note(open_page("Tokens", sentence=sentence)) is None, sentence


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("xq zx 12", "6 of 7 tokens are single bytes, each a character"),
        ("xq日 7", "7 of 7 tokens are single bytes, 3 of them parts of characters"),
        ("日本", "6 of 6 tokens are single bytes, each a part of a character"),
    ],
)
def test_single_bytes_are_those_of_the_cards(text: str, said: str) -> None:
    app = open_page("Tokens", sentence=text)
    assert f". {said}. " in str(note(app))
    assert sum(card[2] == "1" for card in cards(app)) == int(said.split()[0])


def test_one_pre_token_is_drawn_where_it_is_chosen() -> None:
    app = open_page("Tokens", sentence=TOM, pre_token="4")
    assert control(app, "pre_token") == 4
    written = [trace for trace in chart(app, "merges").data if trace.get("customdata")]
    assert written[0]["text"] == ["ball"]
    assert written[0]["customdata"][0][0].startswith("token 4:")
    options = app.selectbox(key="pre_token").options
    assert (options[0], options[5]) == ("all 13", "4: ␣ball")


def test_a_long_text_is_drawn_from_its_start_and_says_so() -> None:
    app = open_page("Tokens", sentence=30 * "The red ball was big. ", model="positions-rope")
    (line,) = (line for line in lines(app, "note") if "are drawn" in line)
    drawn, total = latex_numbers(line)[:2]
    assert drawn <= 72 < total == 1 + 30 * len("The red ball was big. ")
    app = open_page("Tokens", sentence=5000 * "q")
    (line,) = (line for line in lines(app, "note") if "are drawn" in line)
    assert len(cards(app)) == 256


def test_the_formula_has_the_numbers_of_a_merge() -> None:
    app = open_page("Tokens", sentence="cat", pre_token="0")
    tokenizer = stories().tokenizer
    ((root,),) = merge_forest(tokenizer, tokenizer.merges(), "cat")
    left, right = root.parts
    numbers = latex_numbers(app.latex[-1].value)
    assert numbers == [left.id, right.id, root.rank + 1, 3839, left.id, right.id, root.id]
    assert len(open_page("Tokens", sentence="?").latex) == 1, "no merge, no numbers"


def test_badge_counts_the_checks_of_the_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [item.passed for item in tokens.checks(view_of(TOM))] == [True, True, True]
    right = token_runs.forest
    monkeypatch.setattr(token_runs, "forest", lambda handle, text, n: right(handle, "The cat.", n))
    KEPT.clear()
    failed = [item.passed for item in tokens.checks(view_of(TOM))]
    KEPT.clear()
    assert failed == [False, False, True]


def test_tables_have_every_token_and_every_merge() -> None:
    made = tokens._tables(tokens._reading(view_of(HOSTILE)))
    token_rows, merge_rows = csv_rows(made["Tokens"]()), csv_rows(made["Merges"]())
    ids = stories().tokenizer.encode(HOSTILE)
    column = token_rows[0].index("id")
    assert [int(row[column]) for row in token_rows[1:]] == ids
    spelled = "".join(row[token_rows[0].index("bytes")] for row in token_rows[1:])
    assert bytes.fromhex(spelled).decode() == HOSTILE
    n_merges = sum(int(row[token_rows[0].index("merges")]) for row in token_rows[1:])
    assert len(merge_rows) - 1 == n_merges
    order = [(int(row[0]), int(row[1])) for row in merge_rows[1:]]
    assert order == sorted(order), "as they were made"


def test_a_tokenizer_without_merges_says_so(shelf: Path) -> None:
    letters = checkpoint.load(tiny_checkpoint(shelf / "letters")).tokenizer
    app = open_page("Tokens", sentence=SENTENCE[:20])
    assert lines(app, "error") == []
    assert any("(WordLevel) does not make" in line for line in lines(app, "note"))
    assert not app.get("plotly_chart")
    assert [int(card[1]) for card in cards(app)] == letters.encode(SENTENCE[:20])
    assert {row["verdict"] for row in checks_shown(app)[0]} == {"passed"}


def test_a_broken_log_of_training_is_one_line_and_no_more(shelf: Path) -> None:
    tiny_checkpoint(shelf / "tiny")
    app = open_page("Tokens", sentence=SENTENCE)
    assert "on held-out text" not in facts(app)
    (shelf / "tiny" / "metrics.jsonl").write_text("[1]\n")
    st.cache_data.clear()
    app = open_page("Tokens", sentence=SENTENCE)
    assert sum("not a log of training" in line for line in lines(app, "note")) == 1
    assert len(cards(app)) == len(checkpoint.load("tiny").tokenizer.encode(SENTENCE))
