"""Protects the tabs of schemes: each shows its model's own numbers, and its properties hold."""

import re

import numpy as np
import pytest
import torch

from model.analysis.positions import outputs
from model.positions import rope_angles, rotate_pairs
from tests.model.builders import softmax
from tests.viz.apps import (
    TOM,
    button,
    captions,
    chart,
    chosen,
    control,
    go,
    lines,
    open_page,
    query_of,
    tables_shown,
    z,
)
from tests.viz.builders import (
    latex_numbers,
    live_data,
    numbers,
    scheme_model,
    stories,
    trace_of,
)
from tests.viz.pages.ideas.positions_tab import frequencies, open_tab, properties, waves


def test_sinusoidal_tab_shows_the_wave_of_the_model() -> None:
    loaded = stories()
    app, config, trace = (
        open_page("Positional encoding", sentence=TOM),
        loaded.config,
        trace_of(loaded, TOM),
    )
    table = z(chart(app, "wave").data[0])
    expected = waves(config.max_seq_len, config.d_model, config.position_base)
    assert table == pytest.approx(expected, abs=1e-5)
    unit = expected / np.linalg.norm(expected, axis=1, keepdims=True)
    assert z(chart(app, "similarity").data[0]) == pytest.approx(
        (unit @ unit.T)[:256, :256], abs=1e-5
    )
    for curve in chart(app, "curves").data:
        if curve["mode"] == "lines":
            dimension = int(curve["name"].split()[-1])
            assert numbers(curve["y"]) == pytest.approx(expected[:, dimension], abs=1e-5)
    lengths = numbers(chart(app, "wavelengths").data[0]["y"])
    assert lengths[0] == pytest.approx(2 * np.pi)
    assert lengths[-1] == pytest.approx(2 * np.pi * 10_000 ** (1 - 2 / config.d_model))
    embed, positions, total = (z(part) for part in chart(app, "sum").data)
    assert embed + positions == pytest.approx(total, abs=1e-5)
    assert positions == pytest.approx(expected[: len(trace.tokens)], abs=1e-5)
    assert total == pytest.approx(trace.residuals[0].resid_pre, abs=1e-5)
    wave = next(formula.value for formula in app.latex if r"\mathrm{PE}(1" in formula.value)
    position, dimension, *_, value = latex_numbers(wave)
    assert value == pytest.approx(expected[int(position), int(dimension)], abs=6e-5)


def test_the_rotation_is_printed_and_hands_are_sent() -> None:
    app = open_page("Positional encoding", sentence=TOM, place_first="9", place_second="4")
    found = properties(app)
    assert found["PE(pos + k) = one rotation of PE(pos) for every pos"][1] == 1e-5
    assert len(found) == 2
    assert all(error <= bound for error, bound in found.values())
    data = live_data(app)
    assert data["settings"] == {"first": 9, "second": 4}
    assert data["first"].tolist() == [[1.0, 0.0]] * 128
    frequencies = 10_000 ** (-np.arange(0, 256, 2) / 256)
    assert data["frequencies"] == pytest.approx(frequencies)
    latex = next(x.value for x in app.latex if r"\omega_i k =" in x.value)
    pair, offset, angle, cos, sin, *_ = latex_numbers(latex)
    assert (offset, angle) == (5, pytest.approx(5 * frequencies[int(pair)], abs=6e-6))
    assert (cos, sin) == pytest.approx((np.cos(angle), np.sin(angle)), abs=6e-5)


def test_curves_of_chosen_dimensions() -> None:
    app = open_page("Positional encoding", sentence=TOM)
    app.multiselect(key="dimensions_shown").set_value([7]).run()
    names = {curve.get("name") for curve in chart(app, "curves").data}
    assert "dimension 7" in names
    assert "dimension 0" not in names
    app.multiselect(key="dimensions_shown").set_value([]).run()
    assert not app.exception
    assert any("dimension" in line for line in lines(app, "note"))


def test_learned_tab_shows_the_trained_table_beside_the_waves() -> None:
    app, loaded = open_tab("learned"), scheme_model("learned")
    table = loaded.model.position.table.weight.cpu().numpy().astype(np.float64)
    assert table.shape == (128, 128)
    assert z(chart(app, "wave").data[0]) == pytest.approx(table, abs=1e-6)
    for key, vectors in (("similarity", table), ("similarity-waves", waves(128, 128, 10_000))):
        unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        assert z(chart(app, key).data[0]) == pytest.approx(unit @ unit.T, abs=1e-5)
    assert len(properties(app)) == 1
    assert any("129 tokens but the model's context is 128" in x for x in lines(app, "hint"))


def test_tokens_without_a_position_are_named_and_the_rest_is_shown() -> None:
    loaded = scheme_model("learned")
    text = " ".join(["The old bear walked up the hill and saw the moon."] * 13)
    ids = loaded.tokenizer.encode(text)
    assert len(ids) > 132
    app = open_tab("learned", sentence=text)
    beyond = loaded.tokenizer.token_strings(ids[128:])
    (note,) = [line for line in lines(app, "note") if "have no position" in line]
    assert "ends at position 127" in note
    assert f"128 “{beyond[0].strip()}”, 129 “{beyond[1].strip()}”" in note
    assert len(z(chart(app, "sum").data[0])) == 128
    note = next(
        line
        for line in lines(open_tab("learned", compare="yes", sentence=text), "note")
        if line.startswith("Learned")
    )
    assert f"no position for the last {len(ids) - 128} tokens" in note


@pytest.mark.parametrize("pair", [None, (8, 3)])
def test_rope_tab_turns_the_models_own_queries_and_keys(pair: tuple[int, int] | None) -> None:
    query = {"layer": "2", "head": "1"}
    query |= {"token": str(pair[0]), "other_token": str(pair[1])} if pair else {}
    app, loaded = open_tab("rope", **query), scheme_model("rope")
    trace = trace_of(loaded, TOM)
    record = trace.attention[2]
    data = live_data(app)
    m, n = data["actual"]["first"], data["actual"]["second"]
    assert pair is None or (m, n) == pair
    assert data["actual"]["score"] == pytest.approx(record.scores[1, m, n], abs=1e-6)
    assert data["settings"] == {"first": m, "second": n}
    turned = []
    for side, seen, at in (("first", record.q[1, m], m), ("second", record.k[1, n], n)):
        hands = torch.tensor(data[side].T.reshape(1, 1, 1, -1))
        angles = rope_angles(torch.tensor([at]), 32)
        turned.append(rotate_pairs(hands, angles).numpy().ravel())
        assert turned[-1] == pytest.approx(seen, abs=1e-5)
    assert turned[0] @ turned[1] / np.sqrt(32) == pytest.approx(record.scores[1, m, n], abs=1e-4)
    found = properties(app)
    assert found["RoPE scores depend on the distance only"][1] == 1e-4
    latex = next(x.value for x in app.latex if r"|\Delta|" in x.value)
    places = [int(x) for x in re.findall(r"s\((\d+), (\d+)\)", latex)[0]]
    here, moved = (float(x) for x in re.findall(r"= (-?[\d.]+),\\qquad", latex))
    assert places == [m, n]
    assert here == pytest.approx(record.scores[1, m, n], abs=1e-5)
    assert moved == pytest.approx(here, abs=1e-4)


def test_rope_scores_before_turning_are_those_of_no_positions() -> None:
    app, trace = open_tab("rope", layer="1", head="3"), trace_of(scheme_model("rope"), TOM)
    record = trace.attention[1]
    before, after = (z(chart(app, key).data[0]) for key in ("scores-before", "scores-after"))
    assert after[record.mask] == pytest.approx(record.scores[3][record.mask], abs=1e-5)
    angles = -rope_angles(torch.arange(len(trace.tokens)), 32)
    q, k = (rotate_pairs(torch.tensor(x), angles)[3].numpy() for x in (record.q, record.k))
    assert before[record.mask] == pytest.approx((q @ k.T / np.sqrt(32))[record.mask], abs=1e-4)
    turns = z(chart(app, "angles").data[0])
    expected = np.outer(np.arange(128), frequencies(32)) / (2 * np.pi) % 1
    assert np.minimum(abs(turns - expected), 1 - abs(turns - expected)).max() < 1e-5


def test_alibi_tab_shows_slopes_bias_and_what_they_do() -> None:
    app, trace = open_tab("alibi", layer="1", head="2"), trace_of(scheme_model("alibi"), TOM)
    record, n_tokens = trace.attention[1], len(trace.tokens)
    slopes = 2.0 ** (-2 * np.arange(1, 5))
    assert numbers(chart(app, "slopes").data[0]["y"]) == pytest.approx(slopes)
    distance = np.arange(n_tokens)[:, None] - np.arange(n_tokens)
    bias = z(chart(app, "bias").data[0])
    assert bias[record.mask] == pytest.approx(-(slopes[2] * distance)[record.mask], abs=1e-6)
    plain = np.where(record.mask, record.scores[2] + slopes[2] * distance, -np.inf)
    for key, expected in (("pattern", record.pattern[2]), ("pattern-plain", softmax(plain))):
        shown = z(chart(app, key).data[0])
        assert shown[record.mask] == pytest.approx(expected[record.mask], abs=1e-5)
    names = {"slopes of 4 heads are the geometric ones", "bias = −slope · distance"}
    assert set(properties(app)) == names
    latex = next(x.value for x in app.latex if r"\cdot" in x.value and r"\sqrt{32}" in x.value)
    product, _, slope, steps, score = latex_numbers(latex)
    assert product / np.sqrt(32) - abs(slope) * steps == pytest.approx(score, abs=2e-4)
    assert np.abs(record.scores[2] - score).min() < 1e-4
    reach = (record.pattern * np.abs(distance)).sum(axis=(1, 2)) / n_tokens
    shown = [*tables_shown(app)[-1]["with the bias"].values()]
    assert np.array(shown, float) == pytest.approx(reach, abs=6e-3)


@pytest.mark.parametrize("swap", [(0, 2), (1, 1)])
def test_other_orders_of_the_same_words(swap: tuple[int, int]) -> None:
    text, loaded = "dog bites man", scheme_model("none")
    app = open_tab("none", sentence=text, token=str(swap[0]), other_token=str(swap[1]))
    ids = loaded.tokenizer.encode(text)
    order = list(range(len(ids)))
    order[swap[0]], order[swap[1]] = swap[1], swap[0]
    masks = {"no-mask": np.ones((len(ids), len(ids)), bool), "causal": np.tri(len(ids), dtype=bool)}
    for key, mask in masks.items():
        first, second, difference = (z(part) for part in chart(app, key).data)
        assert first == pytest.approx(outputs(loaded.model, ids, mask), abs=1e-5)
        other = outputs(loaded.model, [ids[i] for i in order], mask)
        assert second == pytest.approx(other, abs=1e-5)
        assert difference == pytest.approx(second[np.argsort(order)] - first, abs=1e-5)
        is_same = key == "no-mask" or swap[0] == swap[1]
        assert (np.abs(difference).max() < 1e-4) == is_same
        note = next(
            x
            for x in lines(app, "note")
            if "rows put back" in x and (x.startswith("Without") == (key == "no-mask"))
        )
        words = (
            "Both orders are the same" if swap[0] == swap[1] else "no difference beyond rounding"
        )
        assert (words in note) == is_same
    assert properties(app)["no mask: reversed tokens have the same outputs, reversed"][1] == 1e-5


def test_dog_bites_man_at_a_click() -> None:
    app = open_tab("none")
    next(x for x in app.button if "dog bites man" in x.label).click().run()
    assert control(app, "sentence") == "dog bites man"
    words = [x.proto.body for x in app.get("html") if "The other" in x.proto.body]
    assert re.findall(r"<bdi.*?>(.*?)</bdi>", words[0]) == ["man", "bit", "…es", "dog"]


def test_a_tab_runs_its_model_on_this_page_alone() -> None:
    """The bar keeps its model and head; the page has the nearest head its model has."""
    app = open_page("Positional encoding", sentence=TOM, layer="5", head="7", inspect="check")
    assert control(app, "scheme") == "sinusoidal"
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
    app = open_page("Positional encoding", sentence=TOM, layer="1", head="3", scheme="alibi")
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
    assert "scheme" not in query_of(app)
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
