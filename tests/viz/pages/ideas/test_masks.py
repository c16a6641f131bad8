"""Protects the Masks page: what it draws is what the model does under that very mask."""

import html
import re
from pathlib import Path

import numpy as np
import pytest

from model.analysis.masking import layers_to_reach
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
    given,
    latex_numbers,
    numbers,
    scheme_model,
    stories,
    stories_trace,
    trace_of,
)
from tests.viz.pages.ideas.masks_view import KINDS, cells, note_with, open_view, under
from viz.digits import digits, share
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
    said = captions(inspected(app, "check"))
    assert any("Verified: 15 of 15" in line for line in said)
    app = open_view("reach", **{"mask": name} | query)
    reach = layers_to_reach(mask)
    shown = z(chart(app, "reach").data[0])
    assert np.array_equal(shown, np.where(reach < 0, np.nan, reach), equal_nan=True)
    n_own = len(stories_trace(TOM).ids)
    known = reach[n_own - 1][reach[n_own - 1] >= 0]
    counts = numbers(chart(app, "known").data[0]["y"])
    assert counts.tolist() == [(known <= layer).sum() for layer in range(len(counts))]
    said = f"the last token can be influenced by {(known <= 6).sum()} of {n_own} tokens"
    assert said in lesson(app)


def test_cost_grows_as_each_kind_does() -> None:
    app = open_view("cost", mask="sliding_window", window="4")
    curves = {curve["name"]: numbers(curve["y"]) for curve in chart(app, "cost").data}
    lengths = numbers(chart(app, "cost").data[0]["x"])
    assert curves["all pairs, n²"].tolist() == (lengths**2).tolist()
    assert curves["causal"].tolist() == (lengths * (lengths + 1) / 2).tolist()
    assert curves["sliding window"].tolist() == (4 * lengths - 6).tolist()
    strong = [c["name"] for c in chart(app, "cost").data if c["line"]["width"] > 2]
    assert strong == ["sliding window"]
    latex = next(x.value for x in app.latex if "attended pairs" in x.value)
    n = len(stories_trace(TOM).ids)
    assert latex_numbers(latex.partition("=")[2])[:2] == [4 * n - 6, n]
    assert latex_numbers(latex)[-1] == pytest.approx((4 * n - 6) / n**2, abs=6e-5)


def test_formula_is_of_the_mask_that_is_drawn() -> None:
    for sides, n_formulas in (("causal", 2), ("both", 1)):
        app = open_view("kinds", mask="sliding_window", sides=sides)
        formulas = [x.value for x in app.latex if "M_{ij}" in x.value]
        assert len(formulas) == n_formulas
        assert ("and" in formulas[-1]) == (sides == "causal")


def test_without_its_mask() -> None:
    app = open_view("loss", model="positions-rope")
    loaded = scheme_model("rope")
    trace = trace_of(loaded, TOM)
    ids, n = trace.ids.tolist(), len(trace.ids)
    everything = np.ones((n, n), dtype=bool)
    opened = under(loaded, ids, everything)
    expected = [-np.log(given(x)) for x in (trace, opened)]
    shown = [numbers(bar["y"]) for bar in chart(app, "losses").data]
    for bars, losses in zip(shown, expected, strict=True):
        assert bars == pytest.approx(losses, abs=1e-4)
    said = lesson(app)
    means = [float(x) for x in re.findall(r"\d+\.\d{4}", said)]
    stated = [x.mean() for x in expected]
    assert means == pytest.approx([*stated, abs(stated[1] - stated[0])], abs=1e-4)
    assert ("lower" in said) == (means[1] < means[0])
    latex = [x.value for x in app.latex if r"\text{nats}" in x.value]
    assert [latex_numbers(x)[2] for x in latex] == pytest.approx(means[:2], abs=1e-4)
    shares = np.array(
        [[np.triu(x, 1).sum() / n for x in record.pattern] for record in opened.attention]
    )
    assert z(chart(app, "future").data[0]) == pytest.approx(shares, abs=1e-5)
    assert f"{100 * shares.mean():.1f} % of all attention" in said
    assert "with its mask 0 %" in said
    app = open_view("leak", model="positions-rope")
    closed, leaking = (numbers(bar["y"]) for bar in chart(app, "past").data)
    assert closed.max() < 1e-6
    guess = next(i for i in np.argsort(-trace.logits[-2]) if i != ids[-1])
    swapped = under(loaded, [*ids[:-1], int(guess)], everything)
    change = np.abs(softmax(swapped.logits) - softmax(opened.logits)).max(axis=-1)[:-1]
    assert leaking == pytest.approx(change, abs=1e-5)
    assert leaking.max() > 1e-3


@pytest.mark.parametrize(
    ("side", "scheme"), [("left", "stories"), ("left", "positions-rope"), ("right", "stories")]
)
def test_padding_of_two_sentences(side: str, scheme: str) -> None:
    second = "The dog ran."
    app = open_view("padding", side=side, second=second, layer="1", head="1", model=scheme)
    loaded = stories() if scheme == "stories" else scheme_model("rope")
    own = loaded.tokenizer.encode(second)
    n, n_own = len(stories_trace(TOM).ids), len(own)
    filler = [loaded.tokenizer.end_id] * (n - n_own)
    ids = [*filler, *own] if side == "left" else [*own, *filler]
    is_filler = np.array(
        [i >= n_own for i in range(n)] if side == "right" else [i < n - n_own for i in range(n)]
    )
    seen = np.tri(n, dtype=bool)
    traces = {"hidden": under(loaded, ids, seen & ~is_filler), "seen": under(loaded, ids, seen)}
    for key, trace in traces.items():
        record = trace.attention[1]
        shown = z(chart(app, f"padded-{key}").data[0])
        assert shown[record.mask] == pytest.approx(record.pattern[1][record.mask], abs=1e-5)
    weights = np.stack([record.pattern for record in traces["seen"].attention])
    shares = weights[:, :, ~is_filler][..., is_filler].sum(axis=(-1, -2)) / n_own
    assert z(chart(app, "pad-shares").data[0]) == pytest.approx(shares, abs=1e-5)
    assert (shares.max() > 0.01) == (side == "left")
    said = f" with a padding mask, {share(shares.mean())} without"
    said = said if side == "left" else ", with a padding mask or without one"
    assert f"0% of their attention{said}." in lesson(app)
    alone = trace_of(loaded, second).logits
    for key, place in (("hidden", 0), ("seen", 1)):
        error = np.abs(traces[key].logits[~is_filler] - alone).max() / np.abs(alone).max()
        note = lesson(app)
        written = [float(x) for x in re.findall(r"(\d\.\de[+-]\d+)", note)]
        assert written[place] == pytest.approx(error, rel=0.06, abs=2e-6)
    moved = side == "left" and scheme == "stories"
    assert ("stands at other positions" in note) == moved
    assert ("causal mask alone keeps" in note) == (side == "right")
    latex = next(x.value for x in app.latex if r"\mathrm{length}" in x.value)
    assert (r"j \ge T - " in latex) == (side == "left")
    assert ("empty and come out as zeros (largest weight 0)" in note) == (side == "left")


@pytest.mark.parametrize(
    ("padded", "words"),
    [
        ("", "Type a second sentence"),
        (TOM, "no padding is needed"),
    ],
)
def test_second_sentences_that_pad_nothing(padded: str, words: str) -> None:
    app = open_view("padding", second=padded, model="positions-learned")
    assert words in lesson(app) + " ".join(lines(app, "note"))
    assert lines(app, "error") == []


def test_order_of_mask_and_softmax() -> None:
    app = open_view("order", layer="L1", head="H2")
    record = stories_trace(TOM).attention[1]
    mask, scores = record.mask, record.scores[2].astype(np.float64)
    after = z(chart(app, "scores-after").data[0])
    assert after[mask] == pytest.approx(scores[mask], abs=1e-5)
    assert np.isnan(after[~mask]).all()
    right, zero_score, too_late = (numbers(curve["y"]) for curve in chart(app, "leak").data)
    assert right == pytest.approx(np.ones(len(mask)), abs=1e-6)
    expected = np.where(mask, softmax(np.where(mask, scores, 0)), 0).sum(axis=-1)
    assert zero_score == pytest.approx(expected, abs=1e-5)
    assert too_late == pytest.approx(np.where(mask, softmax(scores), 0).sum(axis=-1), abs=1e-5)
    query = int(np.argmin(too_late + zero_score))
    assert f"{too_late[query]:.4f} with zero after" in lesson(app)
    assert "NaN in every cell, this model’s attention sums to 0." in lesson(app)


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


def test_one_layer_is_one_layer(shelf: Path) -> None:
    tiny_checkpoint(shelf / "tiny", n_layers=1)
    said = lesson(open_page("Masks", scene="reach", sentence=SENTENCE))
    assert "after 1 layer, all this model has" in said
    assert "takes at most 1 layer;" in said


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


def test_no_room_for_padding_is_said() -> None:
    text = " ".join(["The old bear walked up the hill and saw the moon."] * 13)
    app = open_view("kinds", mask="padding", sentence=text, model="positions-learned")
    assert any("no room for pad tokens" in line for line in lines(app, "note"))


@pytest.mark.parametrize(("prefix", "n_seen"), [(4, 3), (1, 0)])
def test_targets_that_a_mask_shows_are_counted(prefix: int, n_seen: int, shelf: object) -> None:
    tiny_checkpoint(shelf / "tiny", mask="prefix", prefix_len=prefix)
    app = open_page("Masks", scene="shift", sentence=SENTENCE)
    said = lesson(app)
    assert (f"mask {n_seen} of " in said) == (n_seen > 0)
    assert ("keeps the target out of sight" in said) == (n_seen == 0)
