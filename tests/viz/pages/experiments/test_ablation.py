"""Protects the page Ablation: beside the run stands that with parts off, and costs are exact."""

import json

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

from model.analysis.ablation import n_prunable, targets_of
from model.capture import capture
from model.sources import checkpoint
from model.tap import Editor, set_at
from model.trace import Trace
from tests.model.builders import set_head, softmax
from tests.viz.apps import (
    TOM,
    button,
    captions,
    chart,
    charts,
    checks_shown,
    facts,
    faultless,
    finished,
    inspected,
    lines,
    open_page,
    query_of,
    z,
)
from tests.viz.builders import numbers, stories, stories_trace
from viz import runs
from viz.digits import digits
from viz.runs import ablating, heads

HEAD = "decoder.attn.2.4"
SITE = "decoder.blocks.2.attn"


def opened(**query: str) -> AppTest:
    """The page, which must have no error; every check passes."""
    return faultless(open_page("Ablation", **{"sentence": TOM} | query))


def edited(editor: Editor) -> Trace:
    """The shipped model on the sentence, edited."""
    trace = stories_trace(TOM)
    return capture(stories().model, trace.ids.tolist(), trace.tokens, attachments=[editor])


def losses(trace: Trace) -> np.ndarray:
    """−ln p of each token but the first."""
    probs = softmax(trace.logits[:-1].astype(np.float64))
    return -np.log(probs[np.arange(len(probs)), trace.ids[1:]])


def notes(app: AppTest) -> list[str]:
    """What is said of what is off, without what single parts cost."""
    return [x for x in lines(app, "note") if "can be spared" not in x]


def test_the_run_with_a_head_off_stands_beside_the_run_as_it_was() -> None:
    app = opened(off=HEAD, layer="L4", head="H1", token="6")
    before, after = stories_trace(TOM), edited(Editor(set_head(SITE, 4)))
    rise = losses(after) - losses(before)
    (bars,) = chart(app, "loss-change").data
    assert numbers(bars["y"]) == pytest.approx(rise, abs=1e-5)
    for key, trace in (("pattern-before", before), ("pattern-after", after)):
        shown = z(chart(app, key).data[0])
        assert np.nan_to_num(shown) == pytest.approx(trace.attention[4].pattern[1], abs=1e-6)
    assert np.abs(after.attention[4].pattern[1] - before.attention[4].pattern[1]).max() > 1e-3
    was, now = chart(app, "answers").data
    assert (was["name"], now["name"]) == ("as it was", "with parts off")
    for bars, trace in ((was, before), (now, after)):
        best = np.sort(softmax(trace.logits[6].astype(np.float64)))[::-1][:5]
        assert set(np.round(best, 5)) <= set(np.round(numbers(bars["x"]), 5))
    shown = facts(app)
    assert shown["mean loss of each next token"] == f"{digits(losses(before).mean(), 3)} nats"
    assert shown["mean loss with parts off"] == f"{digits(losses(after).mean(), 3)} nats"
    assert any("L2 H4" in line for line in notes(app))


def test_with_nothing_off_there_is_one_run_to_see() -> None:
    app = open_page("Ablation", sentence=TOM)
    assert [*facts(app)] == ["mean loss of each next token", "most likely, with its probability"]
    assert len(chart(app, "answers").data) == 1
    assert not any(
        "pattern-after" in str(key) for key in (x.proto.id for x in app.get("bidi_component"))
    )


def test_any_neuron_is_switched_by_its_number() -> None:
    app = opened(neurons_of="decoder.3", any_neuron="700", token="6")
    shown = {drawn["key"] for drawn in charts(app)}
    assert "pattern-before" in shown and "pattern-after" not in shown, "nothing is off yet"
    pressed = button(app, "L3 N700 off").click().run()
    assert query_of(pressed)["off"] == ["decoder.ffn.3.700"]
    silent = set_at("decoder.blocks.3.ffn.activation", (slice(None), slice(None), 700), 0.0)
    expected = losses(edited(Editor(silent))) - losses(stories_trace(TOM))
    shown = numbers(chart(pressed, "loss-change").data[0]["y"])
    np.testing.assert_allclose(shown, expected, atol=2e-5)
    assert np.abs(expected).max() > 1e-4
    again = button(pressed, "L3 N700 on").click().run()
    assert "off" not in query_of(again)


def test_another_sentence_stands_in() -> None:
    other = "Sam had a big dog. Sam gave Tom the big dog."
    app = opened(off=HEAD, stands_in="other", second=other)
    z_there = torch.tensor(stories_trace(other).attention[2].z[4])
    after = edited(Editor(set_head(SITE, 4, to=z_there)))
    (bars,) = chart(app, "loss-change").data
    assert numbers(bars["y"]) == pytest.approx(losses(after) - losses(stories_trace(TOM)), abs=1e-5)


def test_the_mean_that_stands_in_is_said_to_be_of_these_tokens() -> None:
    app = opened(off=HEAD, stands_in="mean")
    mean = torch.tensor(stories_trace(TOM).attention[2].z[4].mean(axis=0))
    after = edited(Editor(set_head(SITE, 4, to=mean)))
    (bars,) = chart(app, "loss-change").data
    assert numbers(bars["y"]) == pytest.approx(losses(after) - losses(stories_trace(TOM)), abs=1e-5)
    n = len(stories_trace(TOM).tokens)
    said = f"The mean of a part is over all {n} tokens; that of an edge over its row."
    assert said in captions(app)


def test_the_mean_of_a_survey_stands_in() -> None:
    app = opened(off=HEAD, stands_in="survey")
    survey = json.loads((stories().folder / "survey.json").read_text(encoding="utf-8"))
    mean = torch.tensor(survey["groups"]["decoder.attn"]["mean_z"][2][4])
    after = edited(Editor(set_head(SITE, 4, to=mean)))
    (bars,) = chart(app, "loss-change").data
    assert numbers(bars["y"]) == pytest.approx(losses(after) - losses(stories_trace(TOM)), abs=1e-5)


def test_a_survey_has_the_means_of_heads_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    app = open_page("Ablation", sentence=TOM, off="decoder.ffn.1", stands_in="survey")
    (line,) = lines(app, "error")
    assert line.startswith("a survey has the means of heads, and decoder.ffn.1 is none")
    monkeypatch.setattr(heads, "survey", lambda handle: None)
    app = open_page("Ablation", model="positions-none")
    (ways,) = (box.options for box in app.selectbox if box.label == "Set to")
    assert "mean over held-out text" not in ways, "no survey is stored with it"


def test_with_everything_off_nothing_is_left() -> None:
    app = opened(off="everything")
    (line,) = notes(app)
    assert line == (
        "Everything is off. Nothing is left of the model: the unembedding has no bias, so all "
        "answers are equally probable."
    )
    _, now = chart(app, "answers").data
    assert numbers(now["x"]) == pytest.approx(1 / stories().config.vocab_size, rel=1e-6)
    assert facts(app)["mean loss with parts off"] == f"{digits(np.log(4096), 3)} nats"
    app = opened(model="digits", off="everything")
    assert "the bias of the unembedding alone makes the answer" in notes(app)[0]
    bias = checkpoint.load("digits", "cpu").model.unembed.bias.numpy().astype(np.float64)
    _, now = chart(app, "answers").data
    assert numbers(now["x"]).max() == pytest.approx(softmax(bias[None]).max(), abs=1e-6)


def test_buttons_switch_everything_off_and_on() -> None:
    app = opened()
    assert notes(app) == []
    assert any("Nothing is off" in line for line in captions(app))
    button(app, "Everything off").click().run()
    assert query_of(app)["off"] == ["everything"]
    button(app, "All on").click().run()
    assert "off" not in query_of(app)


def test_costs_are_those_of_the_ranking() -> None:
    handle = runs.handle_of("stories", "cpu")
    run = runs.run(handle, TOM)
    heads = ablating.heads(handle, run)
    whole = float(losses(run.trace).mean())
    filling = ablating.ranking(handle, run, heads, targets_of(run.trace), whole).filling
    app = opened()
    cells, dots = chart(app, "head-costs").data
    assert z(cells).ravel() == pytest.approx(filling.estimate, abs=1e-5)
    assert len(dots["x"]) == 48, "each is an estimate"
    filling.advance(1e9)
    (cells,) = chart(finished(app), "head-costs").data
    assert z(cells).ravel() == pytest.approx(filling.exact, abs=1e-5)
    (says,) = lines(app, "note")
    costs = filling.exact.reshape(6, 8)
    n_spared = sum(cost / whole < 0.05 for cost in filling.exact)
    assert says.startswith(f"{n_spared} of 48 heads can be spared one at a time: the mean loss of")
    ends = [np.unravel_index(i, costs.shape) for i in (costs.argmax(), costs.argmin())]
    for head, (i, j) in zip(("rises most", "falls most"), ends, strict=True):
        cost = float(costs[i, j])
        said = f"{'+' if cost > 0 else ''}{digits(cost, 3)} nats"
        assert f"{head} without L{i} H{j} ({said})" in says
    next(x for x in app.button if x.label.startswith("Cost of the heads of L")).click().run()
    assert len(chart(app, "position-costs").data) == 2
    assert len(chart(finished(app), "position-costs").data) == 1


def test_heads_are_pruned_step_by_step(monkeypatch: pytest.MonkeyPatch) -> None:
    handle = runs.handle_of("positions-rope", "cpu")
    run = runs.run(handle, "Tom had a red ball.")
    pruning = ablating.pruning(handle, run, targets_of(run.trace))
    shares = [pruning.progress]
    while pruning.is_running:
        pruning.advance(0.01)
        shares.append(pruning.progress)
    assert len(pruning.steps) == pruning.n == len(ablating.heads(handle, run))
    assert shares == sorted(shares) and (shares[0], shares[-1]) == (0.0, 1.0)
    assert n_prunable(losses(run.trace).mean(), pruning.steps) < pruning.n
    app = finished(opened(model="positions-rope"))
    button(app, "Remove heads").click().run()
    assert button(app, "Stop")


def test_a_head_between_two_streams_is_switched_off() -> None:
    app = opened(model="translate", off="decoder.cross_attn.1.2")
    assert notes(app) == ["Off, set to zero: L1 cross H2."]
    (bars,) = chart(app, "loss-change").data
    assert np.abs(numbers(bars["y"])).max() > 1e-4
    tables = checks_shown(inspected(app, "check"))
    assert len(tables) == 2, "the run as it is, and with the part off"
    assert {row["verdict"] for table in tables for row in table} == {"passed"}


def test_a_part_that_is_not_there_is_one_line() -> None:
    app = open_page("Ablation", sentence=TOM, off="decoder.attn.9.1")
    assert ["9 is none of 0 to 5" in line for line in notes(app)] == [True]
    assert lines(app, "error") == []
