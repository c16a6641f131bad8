"""Protects the highlights of Home: what they pick is the extreme of its kind, each line a link."""

import html
import re
from urllib.parse import parse_qsl

import pytest
from streamlit.testing.v1 import AppTest

from model.analysis.circuits import value_norms
from model.analysis.findings import heaviest_arrow
from model.analysis.why.reasons import reasons
from model.analysis.why.rule import counted
from model.survey.stored import read_survey
from model.trace import Site
from tests.viz.apps import TOM, faultless, lines, open_page, tables_shown
from tests.viz.builders import stories, stories_trace
from viz.digits import digits
from viz.frame.examples import examples
from viz.kit.parts.attention import attention_part

EXAMPLE = examples()[0]
EXAMPLE_HEAD = (EXAMPLE.layer, EXAMPLE.head)


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
        ({"sentence": TOM}, ["after earlier copies", "carries most", "comes about"]),
        ({"sentence": "A"}, ["is there"]),
        ({"model": "positions-rope", "sentence": "I saw it"}, ["carries most", "comes about"]),
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
    trace, model = stories_trace(TOM), stories().model
    most = heaviest_arrow(trace.attention, [value_norms(x, model) for x in trace.attention])
    assert most is not None
    title, said, link = found(open_page("Home", sentence=TOM))[-2]
    assert title.startswith(f"L{most.site.layer} H{most.head}")
    assert f"length {digits(most.value, 1)}" in said
    assert (link["layer"], link["head"]) == (str(most.site.layer), str(most.head))
    assert link["cell"] == f"{most.query}-{most.key}"


def test_a_highlight_says_the_rule_of_its_head_where_one_holds() -> None:
    rules = 0
    for sentence in (TOM, EXAMPLE.sentence, "The bear was tired and the bear was big."):
        for title, said, link in found(open_page("Home", sentence=sentence)):
            if "layer" in link and "cell" in link:
                site = Site("decoder", "self", int(link["layer"]))
                asked = reasons(stories_trace(sentence), stories().model, site)
                looks = counted(asked, int(link["head"]))
                n = f"{looks.rules[looks.holds]} of its {looks.rules.total()}"
                rule = f"In {n} looks here what counts most is {looks.holds}."
                assert (rule in said) == bool(looks.holds), title
                rules += bool(looks.holds)
    assert rules


@pytest.mark.parametrize(("sentence", "head"), [(TOM, (2, 0)), (EXAMPLE.sentence, EXAMPLE_HEAD)])
def test_home_attention_heads_and_examples_name_one_head_with_one_number(
    sentence: str, head: tuple[int, int]
) -> None:
    layer, number = head
    title, said, _ = found(open_page("Home", sentence=sentence))[0]
    (group,) = attention_part(stories_trace(sentence)).spec["groups"]
    role, value, n_queries = group["roles"][layer][number]
    own = f"L{layer} H{number} puts {value:.2f} of its weight after earlier copies"
    assert (role, title) == ("induction", own)
    survey = read_survey(stories().folder)
    assert survey is not None
    prefix = survey.measured("decoder.attn")["prefix"].values[layer, number]
    assert f"and {digits(prefix, 2)} of it on random tokens said twice" in said
    assert f"of {n_queries} repeats" in said
    counts = tables_shown(open_page("Heads", sentence=sentence, measured_on="sentence"))[-1]
    named = f"L{layer}\u00a0H{number} {value:.2f}"
    assert counts["the clearest"]["after copies"].startswith(named)
