"""Protects the tabs of schemes: each shows its model's own numbers, and its properties hold."""

import re

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from tests.viz.apps import (
    TOM,
    button,
    captions,
    chart,
    chosen,
    control,
    go,
    lesson,
    lines,
    open_page,
    query_of,
    z,
)
from tests.viz.builders import (
    scheme_model,
    trace_of,
)


def open_tab(scheme: str, /, **query: str) -> AppTest:
    """The tab of a scheme, with its model running."""
    return open_page(
        "Positional encoding",
        **{"model": f"positions-{scheme}", "scheme": scheme, "sentence": TOM} | query,
    )


def test_curves_of_chosen_dimensions() -> None:
    app = open_page("Positional encoding", sentence=TOM, scene="curves")
    app.multiselect(key="dimensions_shown").set_value([7]).run()
    names = {curve.get("name") for curve in chart(app, "curves").data}
    assert "dimension 7" in names
    assert "dimension 0" not in names
    assert f"Dimension 7 repeats every {2 * np.pi * 10_000 ** (6 / 256):.1f} positions" in lesson(
        app
    )
    app.multiselect(key="dimensions_shown").set_value([]).run()
    assert not app.exception
    assert any("dimension" in line for line in lines(app, "note"))


def test_tokens_without_a_position_are_named_and_the_rest_is_shown() -> None:
    loaded = scheme_model("learned")
    text = " ".join(["The old bear walked up the hill and saw the moon."] * 13)
    ids = loaded.tokenizer.encode(text)
    assert len(ids) > 132
    app = open_tab("learned", sentence=text, scene="end")
    beyond = loaded.tokenizer.token_strings(ids[128:])
    (note,) = [line for line in lines(app, "note") if "have no position" in line]
    assert "ends at position 127" in note
    assert f"128 “{beyond[0].strip()}”, 129 “{beyond[1].strip()}”" in note
    assert len(z(chart(open_tab("learned", sentence=text, scene="sum"), "sum").data[0])) == 128
    note = next(
        line
        for line in lines(
            open_tab("learned", scheme="compare", scene="patterns", sentence=text), "note"
        )
        if line.startswith("Learned")
    )
    assert f"no position for the last {len(ids) - 128} tokens" in note


@pytest.mark.parametrize(
    ("scheme", "scene"),
    [("none", "order"), ("rope", "scores"), ("alibi", "pattern")],
)
def test_one_token_is_not_compared_with_itself(scheme: str, scene: str) -> None:
    app = open_tab(scheme, sentence="Tom", scene=scene)
    assert any("One token is too few" in line for line in lines(app, "note"))
    assert not re.search(r"\d\.\d", lesson(app))


def test_a_tab_runs_its_model_on_this_page_alone() -> None:
    """The bar keeps its model and head; the page has the nearest head its model has."""
    app = open_page("Positional encoding", sentence=TOM, layer="5", head="7", inspect="check")
    assert control(app, "scheme") == "compare"
    for scheme in ("rope", "alibi", "none", "learned"):
        app.segmented_control(key="scheme").set_value(scheme).run()
        assert not app.exception
        assert (control(app, "model"), control(app, "layer"), control(app, "head")) == (
            "stories", 5, 7,
        )  # fmt: skip
        (line,) = [x.value for x in app.markdown if "runs here" in x.value]
        assert line == f"positions-{scheme} runs here, L3 H3 (it has no L5 H7)."
        assert any(f"positions-{scheme}: Verified" in line for line in captions(app))


def test_the_head_stays_where_the_model_of_a_scheme_has_it() -> None:
    app = open_page("Positional encoding", sentence=TOM, layer="1", head="3", scheme="alibi",
                    scene="pattern")  # fmt: skip
    trace = trace_of(scheme_model("alibi"), TOM)
    mask = trace.attention[1].mask
    assert z(chart(app, "pattern").data[0])[mask] == pytest.approx(
        trace.attention[1].pattern[3][mask], abs=1e-5
    )
    assert any(x.value == "positions-alibi runs here, L1 H3." for x in app.markdown)
    go(app, "Masks")
    assert control(app, "model") == "stories"
    assert query_of(app).keys() == {"page", "sentence", "layer", "head"}
    go(app, "Positional encoding")
    assert control(app, "scheme") == "alibi"


def test_the_model_of_a_scheme_can_be_had_everywhere() -> None:
    app = open_page("Positional encoding", sentence=TOM, layer="5", head="7", scheme="rope")
    button(app, "Use positions-rope everywhere").click().run()
    assert (control(app, "model"), control(app, "scheme")) == ("positions-rope", "rope")
    assert (control(app, "layer"), control(app, "head")) == (3, 3)
    assert query_of(app)["scheme"] == ["rope"]
    assert not any("does not exist" in line for line in lines(app, "note"))
    assert not any("everywhere" in x.label for x in app.button)


def test_another_model_opens_its_own_scheme() -> None:
    app = open_page("Positional encoding", sentence=TOM, scheme="alibi")
    chosen(app, model="positions-rope")
    assert control(app, "scheme") == "rope"
    app.segmented_control(key="scheme").set_value("compare").run()
    assert control(app, "model") == "positions-rope"
    go(app, "Masks")
    go(app, "Positional encoding")
    assert control(app, "scheme") == "compare"
