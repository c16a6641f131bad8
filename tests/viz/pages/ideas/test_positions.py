"""Protects the tabs of schemes: each shows its model's own numbers, and its properties hold."""

import re

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

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
    lesson,
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
    config, trace = loaded.config, trace_of(loaded, TOM)

    def scene(name: str) -> AppTest:
        return open_page("Positional encoding", sentence=TOM, scene=name)

    app = scene("table")
    assert "each of 256 positions" in lesson(app)
    assert "wavelength, from 6.3 to 58,470 positions." in lesson(app)
    table = z(chart(app, "wave").data[0])
    expected = waves(config.max_seq_len, config.d_model, config.position_base)
    assert table == pytest.approx(expected, abs=1e-5)
    unit = expected / np.linalg.norm(expected, axis=1, keepdims=True)
    app, cosines = scene("similarity"), (unit @ unit.T)[:256, :256]
    assert z(chart(app, "similarity").data[0]) == pytest.approx(cosines, abs=1e-5)
    near, far = (float(np.diagonal(cosines, distance).mean()) for distance in (1, 128))
    assert f"a cosine of {near:.3f} on average, positions 128 apart {far:.3f}." in lesson(app)
    app = scene("curves")
    wave = next(formula.value for formula in app.latex if r"\mathrm{PE}(1" in formula.value)
    position, dimension, *_, value = latex_numbers(wave)
    assert value == pytest.approx(expected[int(position), int(dimension)], abs=6e-5)
    for curve in chart(app, "curves").data:
        if curve["mode"] == "lines":
            dimension = int(curve["name"].split()[-1])
            assert numbers(curve["y"]) == pytest.approx(expected[:, dimension], abs=1e-5)
    lengths = numbers(chart(scene("wavelengths"), "wavelengths").data[0]["y"])
    assert lengths[0] == pytest.approx(2 * np.pi)
    assert lengths[-1] == pytest.approx(2 * np.pi * 10_000 ** (1 - 2 / config.d_model))
    app = scene("sum")
    embed, positions, total = (z(part) for part in chart(app, "sum").data)
    size = np.sqrt(np.mean(trace.residuals[0].resid_pre ** 2))
    assert f"input {size:.3f}." in lesson(app)
    assert embed + positions == pytest.approx(total, abs=1e-5)
    assert positions == pytest.approx(expected[: len(trace.tokens)], abs=1e-5)
    assert total == pytest.approx(trace.residuals[0].resid_pre, abs=1e-5)


def test_the_rotation_is_printed_and_hands_are_sent() -> None:
    app = open_page(
        "Positional encoding", sentence=TOM, scene="rotation", place_first="9", place_second="4"
    )
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
    product = np.cos(5 * frequencies).sum()
    assert f"{product:.2f} at a distance of 5." in lesson(app)


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


def test_learned_tab_shows_the_trained_table_beside_the_waves() -> None:
    app, loaded = open_tab("learned"), scheme_model("learned")
    table = loaded.model.position.table.weight.cpu().numpy().astype(np.float64)
    assert table.shape == (128, 128)
    assert z(chart(app, "wave").data[0]) == pytest.approx(table, abs=1e-6)
    app, near = open_tab("learned", scene="similarity"), []
    for key, vectors in (("similarity", table), ("similarity-waves", waves(128, 128, 10_000))):
        unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        assert z(chart(app, key).data[0]) == pytest.approx(unit @ unit.T, abs=1e-5)
        near.append(np.diagonal(unit @ unit.T, 1).mean())
    assert f"{near[0]:.3f} on average in the learned table, of {near[1]:.3f} in" in lesson(app)
    app = open_tab("learned", scene="end")
    assert any("129 tokens, more than the model's context of 128" in x for x in lines(app, "hint"))


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
    query = {"layer": "1", "head": "3"}
    app, trace = open_tab("rope", scene="scores", **query), trace_of(scheme_model("rope"), TOM)
    record = trace.attention[1]
    before, after = (z(chart(app, key).data[0]) for key in ("scores-before", "scores-after"))
    assert after[record.mask] == pytest.approx(record.scores[3][record.mask], abs=1e-5)
    angles = -rope_angles(torch.arange(len(trace.tokens)), 32)
    q, k = (rotate_pairs(torch.tensor(x), angles)[3].numpy() for x in (record.q, record.k))
    assert before[record.mask] == pytest.approx((q @ k.T / np.sqrt(32))[record.mask], abs=1e-4)
    change = np.abs(after - before)[record.mask].max()
    assert "of L1 H3 are multiplied" in lesson(app)
    assert f"a score changes by up to {change:.2f}." in lesson(app)
    turns = z(chart(open_tab("rope", scene="wavelengths"), "angles").data[0])
    expected = np.outer(np.arange(128), frequencies(32)) / (2 * np.pi) % 1
    assert np.minimum(abs(turns - expected), 1 - abs(turns - expected)).max() < 1e-5


def test_alibi_tab_shows_slopes_bias_and_what_they_do() -> None:
    trace = trace_of(scheme_model("alibi"), TOM)
    record, n_tokens = trace.attention[1], len(trace.tokens)
    slopes = 2.0 ** (-2 * np.arange(1, 5))

    def scene(name: str) -> AppTest:
        return open_tab("alibi", layer="1", head="2", scene=name)

    app = scene("slopes")
    assert set(properties(app)) == {"slopes of 4 heads are the geometric ones"}
    assert numbers(chart(app, "slopes").data[0]["y"]) == pytest.approx(slopes)
    distance = np.arange(n_tokens)[:, None] - np.arange(n_tokens)
    app = scene("bias")
    bias = z(chart(app, "bias").data[0])
    assert bias[record.mask] == pytest.approx(-(slopes[2] * distance)[record.mask], abs=1e-6)
    latex = next(x.value for x in app.latex if r"\cdot" in x.value and r"\sqrt{32}" in x.value)
    product, _, slope, steps, score = latex_numbers(latex)
    assert product / np.sqrt(32) - abs(slope) * steps == pytest.approx(score, abs=2e-4)
    assert np.abs(record.scores[2] - score).min() < 1e-4
    assert f"at a distance of {steps:.0f}." in lesson(app)
    assert lesson(app).endswith(f"from {product / np.sqrt(32):.2f} to {score:.2f}.")
    plain = softmax(np.where(record.mask, record.scores[2] + slopes[2] * distance, -np.inf))
    app = scene("pattern")
    for key, expected in (("pattern", record.pattern[2]), ("pattern-plain", plain)):
        shown = z(chart(app, key).data[0])
        assert shown[record.mask] == pytest.approx(expected[record.mask], abs=1e-5)
    reach = (record.pattern * np.abs(distance)).sum(axis=(1, 2)) / n_tokens
    without = (plain * np.abs(distance)).sum() / n_tokens
    assert f"{reach[2]:.2f} tokens away; without the bias it would be {without:.2f}." in lesson(app)
    change = record.pattern[2] - plain
    assert f"{50 * np.abs(change).sum() / n_tokens:.1f} % of all attention" in lesson(app)
    shown = [*tables_shown(scene("distances"))[-1]["with the bias"].values()]
    assert np.array(shown, float) == pytest.approx(reach, abs=6e-3)


@pytest.mark.parametrize(
    ("scheme", "scene"),
    [("none", "open"), ("none", "masked"), ("rope", "scores"), ("alibi", "pattern")],
)
def test_one_token_is_not_compared_with_itself(scheme: str, scene: str) -> None:
    app = open_tab(scheme, sentence="Tom", scene=scene)
    assert any("One token is too few" in line for line in lines(app, "note"))
    assert not re.search(r"\d\.\d", lesson(app))


def test_the_bias_of_a_token_on_itself_is_zero() -> None:
    said = lesson(open_tab("alibi", sentence="Tom", scene="bias"))
    assert said.endswith("at a distance of 0. The bias is 0 there.")


@pytest.mark.parametrize("swap", [(0, 2), (1, 1)])
def test_other_orders_of_the_same_words(swap: tuple[int, int]) -> None:
    text, loaded = "dog bites man", scheme_model("none")
    query = {"sentence": text, "token": str(swap[0]), "other_token": str(swap[1])}
    apps = {
        "no-mask": open_tab("none", **query),
        "causal": open_tab("none", scene="masked", **query),
    }
    ids = loaded.tokenizer.encode(text)
    order = list(range(len(ids)))
    order[swap[0]], order[swap[1]] = swap[1], swap[0]
    masks = {"no-mask": np.ones((len(ids), len(ids)), bool), "causal": np.tri(len(ids), dtype=bool)}
    for key, mask in masks.items():
        app = apps[key]
        first, second, difference = (z(part) for part in chart(app, key).data)
        assert first == pytest.approx(outputs(loaded.model, ids, mask), abs=1e-5)
        other = outputs(loaded.model, [ids[i] for i in order], mask)
        assert second == pytest.approx(other, abs=1e-5)
        assert difference == pytest.approx(second[np.argsort(order)] - first, abs=1e-5)
        is_same = key == "no-mask" or swap[0] == swap[1]
        assert (np.abs(difference).max() < 1e-4) == is_same
        words = (
            "Both orders are the same" if swap[0] == swap[1] else "no difference beyond rounding"
        )
        assert (words in lesson(app)) == is_same
    assert (
        properties(apps["no-mask"])["no mask: reversed tokens have the same outputs, reversed"][1]
        == 1e-5
    )


def test_dog_bites_man_at_a_click() -> None:
    app = open_tab("none")
    next(x for x in app.button if "dog bites man" in x.label).click().run()
    assert control(app, "sentence") == "dog bites man"
    assert chart(app, "no-mask").layout["yaxis2"]["ticktext"] == ["man", "bit", "…es", "dog"]


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
