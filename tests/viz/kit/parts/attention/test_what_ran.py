"""Protects that what is drawn is what ran, whatever a family of models does to its scores."""

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from model.trace import AttentionRecord, Trace
from tests.model.adopted import families
from tests.model.adopted.test_adopted import afresh
from tests.screen import content, download
from tests.viz.builders import csv_rows
from tests.viz.harness import as_sent, at_rest, open_instrument
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
TABLE = "() => { const {values} = instrument.view.table(); return Array.from(values.values); }"


@cache
def trace_of(family: str) -> Trace:
    """A run of a family; where it has a soft cap it is 1, and its sinks are 2."""
    with pytest.MonkeyPatch.context() as patch:
        build, (config, model, sizes) = families.build, families.FAMILIES[family]
        capped = {**sizes, "attn_logit_softcapping": 1.0} if family == "gemma2" else sizes
        patch.setitem(families.FAMILIES, family, (config, model, capped))

        def sunk(name: str, seed: int) -> Any:  # noqa: ANN401
            made = build(name, seed)
            for key, weight in made.named_parameters():
                if key.endswith("sinks"):
                    weight.data.fill_(2.0)
            return made

        patch.setattr("tests.model.adopted.test_adopted.build", sunk)
        return afresh(family)[1]


def opened(page: Page, trace: Trace, **changes: object) -> None:
    settings = attention_settings(layer=1, head=2, **changes)
    data = attention_part(trace, str(id(trace)), "made-up", settings)
    open_instrument(page, as_sent(data), width=1180)
    at_rest(page)


@pytest.mark.parametrize("family", families.FAMILIES)
def test_steps_lead_to_the_weights_that_ran_and_parts_carry_them(family: str, bare: Page) -> None:
    trace = trace_of(family)
    opened(bare, trace)
    arrays = run_data(trace).arrays
    for record in trace.attention:
        pattern = arrays[f"{record.site.address}.pattern"].array
        np.testing.assert_array_equal(pattern, record.pattern)
        head = {"group": record.site.group, "layer": record.site.layer, "head": record.n_heads - 1}
        assert bare.evaluate(LOADED, head) < COMPUTED, record.site


@pytest.mark.parametrize(
    ("family", "view"), [("gemma2", "map"), ("gpt_oss", "lines"), ("gpt_oss", "sentence")]
)
def test_every_view_of_a_head_and_its_file_are_the_run_s(
    family: str, view: str, bare: Page
) -> None:
    pattern = trace_of(family).attention[1].pattern[2]
    opened(bare, trace_of(family), view=view)
    assert bare.evaluate(TABLE) == pytest.approx(pattern.ravel(), abs=DRAWN)
    _, *rows = csv_rows(content(download(bare, bare.get_by_role("button", name="CSV"))))
    values = np.array([row[1:] for row in rows], float)
    assert values == pytest.approx(pattern, abs=DRAWN)
    assert bare.evaluate("differing") == []


@pytest.mark.parametrize("family", BENT)
def test_compared_and_changed_weights_follow_the_stages(family: str, bare: Page) -> None:
    record = trace_of(family).attention[1]
    opened(bare, trace_of(family), view="compare", other=[1, 0])
    delta = record.pattern[2] - record.pattern[0]
    assert bare.evaluate(TABLE) == pytest.approx(delta.ravel(), abs=DRAWN)
    opened(bare, trace_of(family), view="whatif", change="scale")
    changed = replace(record, scale=1.0).pattern_of(2)
    assert bare.evaluate(TABLE) == pytest.approx(changed.ravel(), abs=COMPUTED)


def test_a_cell_is_spelled_out_with_its_cap_and_its_sink(bare: Page) -> None:
    for family, step, words in (("gemma2", "capped", "cap 1"), ("gpt_oss", "sunk", "sink’s score")):
        opened(bare, trace_of(family), cell=[3, 1])
        record = trace_of(family).attention[1]
        share = f" (share {digits(1 - record.pattern[2, 3].sum(), 3)})" if step == "sunk" else ""
        term = bare.locator(f".hl-numbers [data-step={step}]")
        expect(term).to_contain_text(words + share)
        number = record.sinks[2] if step == "sunk" else record.scores[2, 3, 1]
        assert float(term.locator("dd").inner_text().replace("−", "-")) == pytest.approx(
            number, abs=1e-3
        )
        weight = bare.locator(".hl-formula [data-value=weights]").last.text_content() or ""
        assert float(weight.rpartition("=")[2]) == pytest.approx(record.pattern[2, 3, 1], abs=6e-5)
    expect(bare.locator(".hl-view-map")).to_contain_text("Sink: Xiao et al. 2024, §3.3.")


def with_record(trace: Trace, **changes: object) -> tuple[Trace, AttentionRecord]:
    """A trace whose second record says something else of itself."""
    first, second, *rest = trace.attention
    changed = replace(second, **changes)
    return replace(trace, attention=(first, changed, *rest)), changed


@pytest.mark.parametrize(("family", "left_out"), [("gemma2", "softcap"), ("gpt_oss", "sinks")])
def test_a_stage_that_is_left_out_names_the_head_and_the_run_is_drawn(
    family: str, left_out: str, bare: Page
) -> None:
    trace, record = with_record(trace_of(family), **{left_out: None})
    opened(bare, trace, stage="scaled")
    ((_, site, head, error),) = bare.evaluate("differing")[-1]
    assert (site, head) == (record.site.address, 2)
    computed = record.pattern_of(2, dtype=np.float64)
    assert error == pytest.approx(np.abs(computed - record.pattern[2]).max(), rel=1e-4)
    expect(bare.locator(".hl-error:visible")).to_contain_text("What follows from q and k of L1 H2")
    assert bare.evaluate(TABLE) == pytest.approx(record.pattern[2].ravel(), abs=DRAWN)
    expect(bare.locator("input[name^=hl-stage]")).to_have_count(2)


def test_a_stage_that_nobody_knows_is_said_and_the_run_is_drawn(bare: Page) -> None:
    trace, record = with_record(trace_of("llama"), further=("bent twice",))
    opened(bare, trace, view="whatif")
    expect(bare.locator("[role=status]:visible").first).to_contain_text("(bent twice)")
    assert bare.evaluate(TABLE) == pytest.approx(record.pattern[2].ravel(), abs=DRAWN)
    assert bare.evaluate("differing") == []
