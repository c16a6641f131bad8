"""Protects the lesson on several heads: its figures and numbers are those of independent code."""

from pathlib import Path

import numpy as np
import pytest

from model.verify.independent import IndependentRun
from tests.model.builders import GROUPED, SENTENCE, tiny_checkpoint
from tests.viz.apps import TOM, captions, chart, lines, open_page, tables_shown
from tests.viz.builders import numbers, stories, stories_trace

TITLE = "Several heads"
SITE = "decoder.blocks.3.attn"


def independent() -> IndependentRun:
    return IndependentRun(stories().files, stories_trace(TOM).ids)


def test_figures_are_those_of_the_independent_code() -> None:
    app = open_page(TITLE, sentence=TOM, layer="3", head="5", split_token="4")
    assert lines(app, "error") == lines(app, "note") == []
    run = independent()
    for key, address in (
        ("several-z", f"{SITE}.z[:,4]"),
        ("several-out", f"{SITE}.out_weights"),
        ("several-written", f"{SITE}.written"),
        ("alike-patterns", f"{SITE}.alike_patterns"),
        ("alike-written", f"{SITE}.alike_written"),
    ):
        shown, expected = numbers(chart(app, key).data[0]["z"]), run.array(address)
        assert shown.shape == expected.shape
        np.testing.assert_allclose(shown, expected, atol=1e-5 * np.abs(expected).max())
    spectra = run.array(f"{SITE}.spectra")
    for head, line in enumerate(chart(app, "several-spectra").data):
        np.testing.assert_allclose(numbers(line["y"]), spectra[head], rtol=1e-6)


def test_the_frame_is_round_the_columns_of_the_chosen_head() -> None:
    app = open_page(TITLE, sentence=TOM, layer="3", head="5")
    (frame,) = chart(app, "several-out").layout["shapes"]
    assert (frame["x0"], frame["x1"]) == (5 * 32 - 0.5, 6 * 32 - 0.5)


def test_every_cut_of_the_width_has_as_many_parameters() -> None:
    app = open_page(TITLE, sentence=TOM)
    table = tables_shown(app)[1]
    assert list(table["heads"]) == ["1", "2", "4", "8 (as here)", "16", "32", "64"]
    assert set(table["parameters"].values()) == {"262,144"}  # 4 · 256²
    assert table["columns of a head"]["8 (as here)"] == "32"
    n_cells = len(stories_trace(TOM).ids) ** 2
    assert table["weights in all patterns of this input"]["2"] == f"{2 * n_cells:,}"


def test_numbers_of_each_head_are_those_of_the_independent_code() -> None:
    app = open_page(TITLE, sentence=TOM, layer="3")
    table, run = tables_shown(app)[0], independent()
    for column, name, places in (
        ("size of its part of W_O", "out_norms", 2),
        ("mean of what it writes", "written_mean", 2),
        ("effective rank, of 32", "effective_ranks", 1),
    ):
        shown = [float(x) for x in table[column].values()]
        assert shown == pytest.approx(run.array(f"{SITE}.{name}"), abs=0.51 * 10**-places)


def test_show_me_leads_to_the_two_that_look_most_alike() -> None:
    app = open_page(TITLE, sentence=TOM)
    (link,) = [e.proto.body for e in app.get("html") if "hl-question" in e.proto.body]
    run, found = independent(), []
    for layer in range(6):
        cosines = np.triu(run.array(f"decoder.blocks.{layer}.attn.alike_patterns"), 1)
        found.append((cosines.max(), layer, int(cosines.max(axis=1).argmax())))
    _, layer, head = max(found)
    assert f'data-with="layer={layer}&amp;head={head}"' in link


@pytest.mark.parametrize("name", ["blank", "translate", "digits"])
def test_it_holds_for_every_architecture(name: str) -> None:
    app = open_page(TITLE, sentence="Two children play with a red ball.", model=name)
    assert lines(app, "error") == []
    (parameters,) = set(tables_shown(app)[1]["parameters"].values())
    assert parameters == {"blank": "262,144", "translate": "66,048", "digits": "37,248"}[name]


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"n_heads": 1}, "This layer has one head: there is nothing to compare it with."),
        (GROUPED, "its 6 heads share 2 heads of keys and values"),
    ],
)
def test_one_head_and_shared_keys_are_said(config: dict, said: str, shelf: Path) -> None:
    tiny_checkpoint(shelf / "tiny", **config)
    app = open_page(TITLE, sentence=SENTENCE)
    assert lines(app, "error") == []
    assert any(said in line for line in [*captions(app), *lines(app, "note")])
