"""Protects the lesson on several heads: its figures are those of the head."""

from pathlib import Path

import numpy as np
import pytest

from tests.model.builders import GROUPED, SENTENCE, tiny_checkpoint
from tests.viz.apps import TOM, captions, chart, lines, open_page, tables_shown
from tests.viz.builders import numbers, stories_trace

TITLE = "Multi-head attention"


def test_figures_are_those_of_the_trace() -> None:
    app = open_page(TITLE, sentence=TOM, layer="3", head="5", token="4")
    assert lines(app, "error") == lines(app, "note") == []
    record = stories_trace(TOM).attention[3]
    np.testing.assert_allclose(numbers(chart(app, "several-z").data[0]["z"]), record.z[:, 4])
    shown = numbers(chart(app, "alike-patterns").data[0]["z"])
    np.testing.assert_allclose(shown, _alike(record.pattern), atol=1e-5)


def _alike(patterns: np.ndarray) -> np.ndarray:
    """Cosines of all pairs of heads, each pattern as one vector."""
    flat = patterns.reshape(len(patterns), -1).astype(np.float64)
    unit = flat / np.linalg.norm(flat, axis=1, keepdims=True)
    return unit @ unit.T


def test_every_cut_of_the_width_has_as_many_parameters() -> None:
    app = open_page(TITLE, sentence=TOM)
    table = tables_shown(app)[1]
    assert list(table["heads"]) == ["1", "2", "4", "8 (as here)", "16", "32", "64"]
    assert set(table["parameters"].values()) == {"262,144"}  # 4 · 256²
    assert table["columns of a head"]["8 (as here)"] == "32"
    n_cells = len(stories_trace(TOM).ids) ** 2
    assert table["weights in all patterns of this input"]["2"] == f"{2 * n_cells:,}"


def test_show_me_leads_to_the_two_that_look_most_alike() -> None:
    app = open_page(TITLE, sentence=TOM)
    (link,) = [e.proto.body for e in app.get("html") if "hl-question" in e.proto.body]
    found = []
    for layer in range(6):
        cosines = np.triu(_alike(stories_trace(TOM).attention[layer].pattern), 1)
        found.append((cosines.max(), layer, int(cosines.max(axis=1).argmax())))
    _, layer, head = max(found)
    assert f'data-with="layer={layer}&amp;head={head}"' in link


def test_it_holds_for_a_translation() -> None:
    app = open_page(TITLE, model="translate")
    assert lines(app, "error") == []
    (parameters,) = set(tables_shown(app)[1]["parameters"].values())
    assert parameters == "65,536"  # 4 · 128²


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
