"""Protects the Masks page: what it draws is what the model does under that very mask."""

import html
import re
from pathlib import Path

import numpy as np
import pytest

from model.capture import capture
from tests.model.builders import SENTENCE, softmax, tiny_checkpoint
from tests.viz.apps import (
    TOM,
    captions,
    chart,
    checks_shown,
    control,
    inspected,
    lesson,
    lines,
    open_page,
    z,
)
from tests.viz.builders import (
    latex_numbers,
    scheme_model,
    stories,
    stories_trace,
)
from tests.viz.pages.ideas.masks_view import KINDS, cells, note_with, open_view, under
from viz.digits import digits
from viz.labels import token_labels
from viz.pages.ideas.masks import PAGE


@pytest.mark.parametrize("name", KINDS)
def test_each_kind_is_drawn_and_the_model_runs_under_it(name: str) -> None:
    query, seen = KINDS[name]
    app = open_view("kinds", **{"mask": name, "layer": "1", "head": "2"} | query)
    loaded = stories()
    ids = stories_trace(TOM).ids.tolist()
    ids += [loaded.tokenizer.end_id] * (3 if name == "padding" else 0)
    n = len(ids)
    mask = cells(n, lambda i, j: seen(i, j, n))
    assert (np.isfinite(z(chart(app, "mask").data[0])) == mask).all()
    record = under(loaded, ids, mask).attention[1]
    shown = z(chart(app, "pattern").data[0])
    assert shown[mask] == pytest.approx(record.pattern[2][mask], abs=1e-5)
    assert np.isnan(shown[~mask]).all()
    has_both = any("M_{ij}" in x.value and "and" in x.value for x in app.latex)
    assert has_both == (name in ("sliding_window", "global_tokens", "padding"))
    said = captions(inspected(app, "check"))
    assert any("Verified: 15 of 15" in line for line in said)


@pytest.mark.parametrize("view", ["leak", "loss", "order"])
def test_one_token_is_not_compared_with_itself(view: str) -> None:
    app = open_view(view, sentence="Tom")
    assert lines(app, "error") == []
    assert note_with(app, "hides nothing" if view == "order" else "One token is too few")
    assert not re.search(r"\d\.\d|NaN|from", lesson(app))


@pytest.mark.parametrize("view", ["leak", "loss", "order"])
def test_a_mask_that_hides_nothing_is_not_compared_with_none(view: str, shelf: Path) -> None:
    tiny_checkpoint(shelf / "tiny", mask="prefix", prefix_len=21)
    app = open_page("Masks", scene=view, sentence=SENTENCE)
    assert note_with(app, "hides nothing")
    assert not re.search(r"\d\.\d|NaN|from", lesson(app))


def test_shift_by_one() -> None:
    app, loaded = open_view("shift", model="positions-alibi"), scheme_model("alibi")
    end = loaded.tokenizer.end_id
    ids = loaded.tokenizer.encode(TOM)
    given = [end, *ids]
    trace = capture(loaded.model, given, loaded.tokenizer.token_strings(given))
    probs = softmax(trace.logits)
    probs = probs[np.arange(len(ids) + 1), [*ids, end]]
    body = next(x.proto.body for x in app.get("html") if "hl-targets" in x.proto.body)
    words = re.findall(r"<bdi.*?>(.*?)</bdi>", body)
    labels = token_labels(loaded.tokenizer.token_strings(ids))
    assert words[0::2] == ["⟨start⟩", *labels]
    assert words[1::2] == [*labels, "⟨end⟩"]
    shown = re.findall(r"</span><small>(?:<data[^>]*>|<span[^>]*>)?([^<]*)<", body)
    for text, probability in zip(shown[1:], probs, strict=True):
        assert html.unescape(text) == digits(probability, 3)
    latex = next(x.value for x in app.latex if r"\text{nats}" in x.value)
    _total, count, loss, _ = latex_numbers(latex)[:4]
    assert (count, loss) == (len(ids) + 1, pytest.approx(-np.log(probs).mean(), abs=1e-4))


def test_shift_leaves_room_for_the_start() -> None:
    """A context of 256: the start and 255 tokens go in, and the 256th is the last target."""
    text = " ".join(["The old bear walked up the hill and saw the moon."] * 30)
    app = open_view("shift", sentence=text)
    assert "255 of 256 tokens fit the model's context of 256 tokens" in note_with(
        app, "start token"
    )
    body = next(x.proto.body for x in app.get("html") if "hl-targets" in x.proto.body)
    words = re.findall(r"<bdi.*?>(.*?)</bdi>", body)
    assert (len(words), "⟨end⟩" in words) == (512, False)


def test_every_view_holds_for_another_model(shelf: Path) -> None:
    tiny_checkpoint(shelf / "tiny", mask="prefix", prefix_len=4)
    for view in PAGE.scenes:
        app = open_page("Masks", scene=view, sentence=SENTENCE, inspect="check")
        assert lines(app, "error") == []
        for table in checks_shown(app):
            assert {row["verdict"] for row in table} == {"passed"}
    app = open_page("Masks", sentence=SENTENCE)
    assert control(app, "mask") == "prefix"
    assert "it is the mask that the model was trained with" in lesson(app)
