"""Protects the Cost page: weights to the unit, sizes that are typed, what file and torch have."""

import numpy as np
import pytest

from model.analysis import cost_timing
from tests.viz.apps import (
    TOM,
    button,
    captions,
    chart,
    charts,
    facts,
    finished,
    inspected,
    lines,
    open_page,
    query_of,
    tables_shown,
)
from tests.viz.builders import csv_rows, numbers, stories
from viz import runs
from viz.frame import inspector

GPT = {"shape": "your own"}
LLAMA = "12,768,3072,12,12,64,50257,0,llama,tied"


def test_known_models_stand_beside_the_running_one() -> None:
    app = open_page("Cost", sentence=TOM)
    weights = tables_shown(app)[0]
    n = sum(x.numel() for x in stories().model.parameters())
    assert weights["all"]["stories"] == f"{n:,}"
    assert weights["all"]["GPT-2 small"] == "124,439,808"
    assert weights["all"]["DeepSeek-V3"] == "671,026,419,200"
    bars = chart(app, "shares").data
    assert np.sum([numbers(bar["x"]) for bar in bars], axis=0) == pytest.approx(1)
    counted = tables_shown(app)[-1]
    assert counted["from the sizes"] == counted["counted"]
    assert counted["counted"]["bytes in the file, 2 each (F16)"] == f"{2 * n:,}"
    assert counted["counted"]["bytes in memory, 4 each (float32)"] == f"{4 * n:,}"
    passed = [line for line in captions(inspected(app, "check")) if "Check passed" in line]
    assert len(passed) == 2


def test_sizes_that_are_typed_are_counted() -> None:
    app = open_page("Cost", sentence=TOM, **GPT)
    assert facts(app)["weights of your own"] == "124,439,808"
    smaller = open_page("Cost", sentence=TOM, **GPT, own=LLAMA)
    assert facts(smaller)["weights of your own"] != "124,439,808"
    assert query_of(smaller)["own"] == [LLAMA]


def test_heads_that_cannot_share_are_named_in_one_line() -> None:
    app = open_page("Cost", sentence=TOM, **GPT, own="12,768,3072,12,5,64,50257,1024,gpt,tied")
    refused = "12 heads cannot share 5 KV heads evenly; take a divisor of 12."
    assert lines(app, "note") == [f"{refused} Counted with 4."]
    fitting = app.number_input(key="own_kv_heads").set_value(6).run()
    assert lines(fitting, "note") == []
    total = facts(fitting)["weights of your own"]
    again = fitting.number_input(key="own_kv_heads").set_value(7).run()
    refused = "12 heads cannot share 7 KV heads evenly; take a divisor of 12."
    assert lines(again, "note") == [f"{refused} Below are the last sizes that go together."]
    assert facts(again)["weights of your own"] == total


def test_a_block_is_twelve_and_not_six() -> None:
    block = tables_shown(open_page("Cost", sentence=TOM))[1]
    weights = dict(block["weights of one block"])
    numbers_of = next(column for name, column in block.items() if not name)
    assert list(numbers_of.values()) == [f"{12 * 256**2:,}", f"{6 * 256**2:,}", f"{12 * 256**2:,}"]
    assert "counted, 12.00 · d_model²" in weights.values()
    own = tables_shown(open_page("Cost", sentence=TOM, shape="Llama 3 8B"))[1]
    assert "a gate, d_ff = 3.50 · d_model, shared KV heads" in list(own["why"].values())[-1]


@pytest.mark.parametrize("model", ["blank", "translate", "digits"])
def test_every_architecture_is_counted(model: str) -> None:
    app = open_page("Cost", sentence=TOM, model=model)
    assert lines(app, "error") == []
    n = sum(x.numel() for x in runs.checkpoint(runs.handle_of(model, "cpu")).model.parameters())
    assert tables_shown(app)[0]["all"][model] == f"{n:,}"
    assert ("KV cache" in facts(app)) == (model == "translate")
    counted = tables_shown(app)[-1]
    assert counted["from the sizes"] == counted["counted"]


def test_times_come_when_they_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cost_timing, "MOST_ROUNDS", 5)
    app = open_page("Cost", sentence=TOM, left_out="128")
    assert all(sent["key"] != "pass-times" for sent in charts(app))
    button(app, "Measure on this machine").click().run()
    assert any(found.label == "Measure again" for found in finished(app).button)
    assert lines(app, "error") == []
    _, forecast, lengths, memory = tables_shown(app)[-4:]
    assert lengths["operations from the sizes"] == lengths["torch’s counter"]
    assert set(lengths["apart"].values()) == {"0 %"}
    assert memory["all maps, from the sizes"] == memory["all maps, kept"]
    predicted = chart(app, "pass-times").data[8]
    left_out = next(iter(forecast))
    assert f"{int(numbers(predicted['x'])[0])} tokens, left out" == left_out
    passed = [line for line in captions(inspected(app, "check")) if "Check passed" in line]
    assert any("torch’s counter at" in line for line in passed)
    assert len(passed) == 4
    files: inspector.Tables = {}
    monkeypatch.setattr(inspector, "export", lambda view, made, *rest: files.update(made))
    app.run()
    header, *rows = csv_rows(files["Counted"]())
    saved = dict(zip(header, zip(*rows, strict=True), strict=True))
    assert saved["operations by torch"] == saved["operations from the sizes"]


def test_a_measurement_that_is_stopped_says_so() -> None:
    app = open_page("Cost", sentence=TOM)
    button(app, "Measure on this machine").click().run()
    button(app, "Stop").click().run()
    assert not app.exception
    assert any("Stopped before" in line for line in lines(app, "note"))
    assert button(app, "Measure again")
