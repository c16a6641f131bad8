"""Protects the lesson on several heads: its figures are those of the head."""

import re
from pathlib import Path

import numpy as np
import pytest

from tests.model.builders import GROUPED, SENTENCE, tiny_checkpoint
from tests.viz.apps import TOM, chart, lesson, lines, open_page, tables_shown
from tests.viz.builders import numbers, stories, stories_trace

TITLE = "Multi-head attention"


def test_figures_and_words_are_those_of_the_trace() -> None:
    at = {"sentence": TOM, "layer": "3", "head": "5", "token": "4"}
    app = open_page(TITLE, scene="split", **at)
    assert lines(app, "error") == lines(app, "note") == []
    record = stories_trace(TOM).attention[3]
    np.testing.assert_allclose(numbers(chart(app, "several-z").data[0]["z"]), record.z[:, 4])
    app = open_page(TITLE, scene="alike", **at)
    looks = _alike(record.pattern)
    shown = numbers(chart(app, "alike-looks").data[0]["z"])
    np.testing.assert_allclose(shown, looks, atol=1e-5)
    w_o = stories().model.state_dict()["blocks.3.attn.out_proj.weight"].cpu().numpy()  # (D, H·Dh)
    written = np.einsum("htc,dhc->htd", record.z, w_o.reshape(len(w_o), *record.z.shape[::2]))
    other = int((looks[5] - 2 * np.eye(8)[5]).argmax())
    assert (
        f"H5 is most like H{other} in where it looks, cosine {looks[5, other]:.2f}; of what these "
        f"two write it is {_alike(written)[5, other]:.2f}."
    ) in lesson(app).replace("−", "-")
    means = np.linalg.norm(written, axis=-1).mean(axis=-1)
    most = int(means.argmax())
    said = lesson(open_page(TITLE, scene="written", **at))
    assert f"Of H5 that is {means[5]:.2f} long" in said
    assert f"H{most} writes most, {means[most]:.2f}." in said
    w_v = (
        stories().model.state_dict()["blocks.3.attn.v_proj.weight"].cpu().numpy().reshape(8, 32, -1)
    )
    values = np.linalg.svd(w_o[:, 160:192] @ w_v[5], compute_uv=False)[:32]
    shares = values / values.sum()
    rank = np.exp(-(shares * np.log(shares)).sum())
    assert f"H5 has {rank:.2f}, with" in lesson(open_page(TITLE, scene="rank", **at))


def _alike(patterns: np.ndarray) -> np.ndarray:
    """Cosines of all pairs of heads, each pattern as one vector."""
    flat = patterns.reshape(len(patterns), -1).astype(np.float64)
    unit = flat / np.linalg.norm(flat, axis=1, keepdims=True)
    return unit @ unit.T


def test_every_cut_of_the_width_has_as_many_parameters() -> None:
    app = open_page(TITLE, sentence=TOM, scene="cuts")
    (table,) = tables_shown(app)
    assert list(table["heads"]) == ["1", "2", "4", "8 (as here)", "16", "32", "64"]
    assert set(table["parameters"].values()) == {"262,144"}  # 4 · 256²
    assert table["columns of a head"]["8 (as here)"] == "32"
    n_cells = len(stories_trace(TOM).ids) ** 2
    assert table["weights in all patterns"]["2"] == f"{2 * n_cells:,}"
    assert "8 heads of 32 columns have as many parameters as one head of 256" in lesson(app)


def test_show_me_leads_to_the_two_that_look_most_alike() -> None:
    app = open_page(TITLE, sentence=TOM, scene="alike")
    (panel,) = (e.proto.body for e in app.get("html") if '"hl-tour"' in e.proto.body)
    found = []
    for layer in range(6):
        cosines = np.triu(_alike(stories_trace(TOM).attention[layer].pattern), 1)
        found.append((cosines.max(), layer, int(cosines.max(axis=1).argmax())))
    _, layer, head = max(found)
    (shown,) = re.findall('data-with="(page=.*?)"', panel)
    assert f"scene=alike&amp;layer={layer}&amp;head={head}" in shown
    assert "sentence=" not in shown, "the visitor's own stays"


def test_it_holds_for_a_translation() -> None:
    app = open_page(TITLE, model="translate", scene="cuts")
    assert lines(app, "error") == []
    (parameters,) = set(tables_shown(app)[0]["parameters"].values())
    assert parameters == "65,536"  # 4 · 128²


@pytest.mark.parametrize(
    ("config", "scene", "said"),
    [
        ({"n_heads": 1}, "alike", "This layer has one head: there is nothing to compare it with."),
        (GROUPED, "cuts", "this layer has 2 heads of them, and where those are fewer, heads share"),
    ],
)
def test_one_head_and_shared_keys_are_said(
    config: dict, scene: str, said: str, shelf: Path
) -> None:
    tiny_checkpoint(shelf / "tiny", **config)
    app = open_page(TITLE, sentence=SENTENCE, scene=scene)
    assert lines(app, "error") == []
    assert any(said in line for line in [lesson(app), *lines(app, "note")])
    assert "Show me" not in lesson(app)


def test_one_head_has_neither_most_nor_least(shelf: Path) -> None:
    tiny_checkpoint(shelf / "tiny", n_heads=1, n_kv_heads=1)
    for scene in ("written", "rank"):
        said = lesson(open_page(TITLE, sentence=SENTENCE, scene=scene))
        assert "H0" in said
        assert not re.search("most,|least,| go from", said)
