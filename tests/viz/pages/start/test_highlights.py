"""Protects the highlights of Home: what they pick is the extreme of its kind, each line a link."""

import html
import re
from urllib.parse import parse_qsl

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from model.analysis.findings import strongest_copy
from tests.viz.apps import TOM, faultless, lines, open_page
from tests.viz.builders import stories, stories_trace
from viz.digits import digits


def found(app: AppTest) -> list[tuple[str, str, dict[str, str]]]:
    """Each line: its title, its words, and the address it opens."""
    (body,) = (x.proto.body for x in app.get("html") if "hl-findings" in x.proto.body)
    items = re.findall(r'<li><a href="\?([^"]*)">(.*?)</a><p>(.*?)</p></li>', body)
    return [
        (
            html.unescape(re.sub(r"<[^>]*>", "", title)),
            html.unescape(re.sub(r"<[^>]*>", "", said)),
            dict(parse_qsl(html.unescape(link))),
        )
        for link, title, said in items
    ]


@pytest.mark.parametrize(
    ("query", "titles"),
    [
        ({"sentence": TOM}, ["looks for a copy", "there after", "carries most"]),
        ({"sentence": "A"}, ["is there"]),
        ({"model": "positions-rope", "sentence": "I saw it"}, ["is there", "carries most"]),
    ],
)
def test_there_is_a_line_for_all_that_applies_and_each_opens(
    query: dict[str, str], titles: list[str]
) -> None:
    shown = found(faultless(open_page("Home", **query)))
    assert len(shown) == len(titles)
    for (title, _, link), word in zip(shown, titles, strict=True):
        assert word in title
        page = link.pop("page")
        app = open_page(page, **link)
        assert lines(app, "error") == []
        assert not [x for x in lines(app, "note") if "left out" in x]


def test_the_heaviest_arrow_is_that_of_all_heads() -> None:
    """‖α v W_O‖ of every arrow of every head whose query has a choice, by a loop."""
    trace, model = stories_trace(TOM), stories().decoder
    most = (0.0, 0, 0, 0, 0)
    for layer, record in enumerate(trace.attention):
        w_o = model.blocks[layer].attn.out_proj.weight.detach().numpy()
        d_head = record.v.shape[-1]
        for head in range(record.n_heads):
            written = record.v[head] @ w_o[:, head * d_head : (head + 1) * d_head].T
            lengths = record.pattern[head][1:] * np.linalg.norm(written, axis=-1)
            query, key = np.unravel_index(lengths.argmax(), lengths.shape)
            most = max(most, (float(lengths.max()), layer, head, int(query) + 1, int(key)))
    title, said, link = found(open_page("Home", sentence=TOM))[-1]
    assert title.startswith(f"L{most[1]} H{most[2]}")
    assert f"length {digits(most[0], 1)}" in said
    assert (link["layer"], link["head"]) == (str(most[1]), str(most[2]))
    assert link["cell"] == f"{most[3]}-{most[4]}"


def test_a_weight_as_even_attention_gives_it_is_no_copy_that_is_looked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    copy = strongest_copy(stories_trace(TOM))
    assert copy is not None
    weak = copy._replace(value=1.9 / (copy.query + 1))  # of a causal row
    monkeypatch.setattr("viz.pages.start.highlights._copied", lambda key, run: weak)
    titles = [title for title, _, _ in found(open_page("Home", sentence=TOM))]
    assert not any("copy" in title for title in titles)
