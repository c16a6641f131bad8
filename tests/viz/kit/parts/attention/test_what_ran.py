"""Protects that what is drawn is what ran, whatever a family of models does to its scores."""

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from model.trace import AttentionRecord, Trace
from tests.model.adopted import families
from tests.model.adopted.test_adopted import afresh
from tests.viz.kit.gallery import Gallery
from tests.viz.kit.parts.made import attention_settings
from viz.digits import digits
from viz.kit.parts.attention import attention_part
from viz.kit.run import run_data

DRAWN, COMPUTED = 1e-6, 1e-4
BENT = ("gemma2", "gpt_oss")  # a soft cap of 1, sinks of 2
LOADED = """async head => {
    const {group, layer} = head;
    return (await instrument.run.head(instrument.run.group(group), layer, head.head)).error;
}"""


@cache
def trace_of(family: str) -> Trace:
    """A run of a family; where it has a soft cap it is 1, and its sinks are 2."""
    with pytest.MonkeyPatch.context() as patch:
        capped = {"attn_logit_softcapping": 1.0} if family == "gemma2" else {}

        def sunk(name: str, seed: int) -> Any:  # noqa: ANN401
            made = families.build(name, seed, **capped)
            for key, weight in made.named_parameters():
                if key.endswith("sinks"):
                    weight.data.fill_(2.0)
            return made

        patch.setattr("tests.model.adopted.test_adopted.build", sunk)
        return afresh(family)[1]


def opened(gallery: Gallery, trace: Trace, **changes: object) -> dict[str, Any]:
    """What the view of a head reads."""
    settings = attention_settings(layer=1, head=2, **changes)
    gallery.show(attention_part(trace, str(id(trace)), "made-up", settings), 1180)
    return gallery.read("view")


def numbers(shown: dict[str, Any]) -> np.ndarray:
    """Those of a map; 0 where it is masked."""
    return np.nan_to_num(np.array(shown["values"], dtype=float))


@pytest.mark.parametrize("family", families.FAMILIES)
def test_steps_lead_to_the_weights_that_ran_and_parts_carry_them(
    family: str, gallery: Gallery
) -> None:
    trace = trace_of(family)
    opened(gallery, trace)
    arrays = run_data(trace).arrays
    for record in trace.attention:
        pattern = arrays[f"{record.site.address}.pattern"].array
        np.testing.assert_array_equal(pattern, record.pattern)
        head = {"group": record.site.group, "layer": record.site.layer, "head": record.n_heads - 1}
        assert gallery.evaluate(LOADED, head) < COMPUTED, record.site


@pytest.mark.parametrize("family", BENT)
def test_compared_and_changed_weights_follow_the_stages(family: str, gallery: Gallery) -> None:
    record = trace_of(family).attention[1]
    *_, last = opened(gallery, trace_of(family), view="compare", other=[1, 0])["maps"]
    assert numbers(last) == pytest.approx(record.pattern[2] - record.pattern[0], abs=DRAWN)
    *_, last = opened(gallery, trace_of(family), view="whatif", change="scale")["maps"]
    changed = replace(record, scale=1.0).pattern_of(2)
    assert numbers(last) == pytest.approx(changed, abs=COMPUTED)


@pytest.mark.parametrize(("family", "step"), [("gemma2", "capped"), ("gpt_oss", "sunk")])
def test_a_cell_is_spelled_out_with_its_cap_and_its_sink(
    family: str, step: str, gallery: Gallery
) -> None:
    view, record = opened(gallery, trace_of(family), cell=[3, 1]), trace_of(family).attention[1]
    cell = view["cell"]
    assert numbers(view["map"]) == pytest.approx(record.pattern[2], abs=DRAWN)
    assert "differs" not in gallery.sent()
    shared = digits(1 - record.pattern[2, 3].sum(), 3)
    words = {"capped": "cap 1", "sunk": f"sink’s score (share {shared})"}
    assert cell["terms"][step] == words[step]
    number = record.scores[2, 3, 1] if record.sinks is None else record.sinks[2]
    assert float(cell["numbers"][step].replace("−", "-")) == pytest.approx(number, abs=1e-3)
    weight = view["formula"]["numbers"][-2]  # the last is the output
    assert float(weight.rpartition("=")[2]) == pytest.approx(record.pattern[2, 3, 1], abs=6e-5)
    assert ("Sink: Xiao et al. 2024, §3.3." in view["legend"]) == (step == "sunk")


def with_record(trace: Trace, **changes: object) -> tuple[Trace, AttentionRecord]:
    """A trace whose second record says something else of itself."""
    first, second, *rest = trace.attention
    changed = replace(second, **changes)
    return replace(trace, attention=(first, changed, *rest)), changed


@pytest.mark.parametrize(("family", "left_out"), [("gemma2", "softcap"), ("gpt_oss", "sinks")])
def test_a_stage_that_is_left_out_names_the_head_and_the_run_is_drawn(
    family: str, left_out: str, gallery: Gallery
) -> None:
    trace, record = with_record(trace_of(family), **{left_out: None})
    view = opened(gallery, trace, stage="scaled")
    ((_, site, head, error),) = gallery.sent()["differs"]
    assert (site, head) == (record.site.address, 2)
    computed = record.pattern_of(2, dtype=np.float64)
    assert error == pytest.approx(np.abs(computed - record.pattern[2]).max(), rel=1e-4)
    assert "What follows from q and k of L1 H2" in gallery.locator(".hl-error:visible").inner_text()
    assert numbers(view["map"]) == pytest.approx(record.pattern[2], abs=DRAWN)
    assert len(view["stages"]) == 2


def test_a_stage_that_nobody_knows_is_said_and_the_run_is_drawn(gallery: Gallery) -> None:
    trace, record = with_record(trace_of("llama"), further=("bent twice",))
    view = opened(gallery, trace, view="whatif")
    assert "(bent twice)" in gallery.read()["doubt"]
    assert numbers(view["maps"][-1]) == pytest.approx(record.pattern[2], abs=DRAWN)
    assert "differs" not in gallery.sent()
