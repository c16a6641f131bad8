"""Protects the highlights of Home: what they pick is the extreme of its kind, each line a link."""

import html
import re
from urllib.parse import parse_qsl

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from tests.viz.apps import TOM, faultless, lines, open_page, tables_shown
from tests.viz.builders import stories, stories_trace
from viz.digits import digits
from viz.frame.examples import examples
from viz.live.microscope.data import microscope_data


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
        ({"sentence": TOM}, ["looks for a copy", "carries most"]),
        ({"sentence": "A"}, ["is there"]),
        ({"model": "positions-rope", "sentence": "I saw it"}, ["carries most"]),
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


@pytest.mark.parametrize(
    ("sentence", "head"), [(TOM, (2, 0)), (examples()[0].sentence, (3, 2)), ("no and no and", None)]
)
def test_home_attention_heads_and_examples_name_one_head_with_one_number(
    sentence: str, head: tuple[int, int] | None
) -> None:
    """As the largest role of its kind on *Attention*, and the first of its row on *Heads*."""
    lines_of_home = found(open_page("Home", sentence=sentence))
    named = [(title, said) for title, said, _ in lines_of_home if "looks for a copy" in title]
    if head is None:
        assert not named
        return
    ((title, said),) = named
    layer, number = head
    (group,) = microscope_data(stories_trace(sentence), "", "", {"layer": 0, "head": 0})["groups"]
    role, value, n_queries = group["roles"][layer][number]
    assert (role, title) == ("induction", f"L{layer} H{number} looks for a copy")
    assert f"average {value:.2f} of its weight" in said
    assert f"of {n_queries} repeats" in said
    counts = tables_shown(open_page("Heads", sentence=sentence, measured_on="sentence"))[-2]
    clearest = counts["the clearest"]["after copies"]
    assert clearest.startswith(f"L{layer} H{number} {value:.2f}")
    for example in examples():
        if example.sentence == sentence:
            assert (example.layer, example.head) == head
