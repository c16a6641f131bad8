"""Protects the Attention page: Attention gets every head, and keeps what is chosen in it."""

import json
from pathlib import Path

import numpy as np
import pytest

from tests.model.builders import SENTENCE, tiny_checkpoint
from tests.viz.apps import HOSTILE, TOM, lines, open_page, query_of, tell
from tests.viz.builders import latex_numbers, live_data, live_json, stories, stories_trace
from tests.viz.kit.parts.made import attention_settings
from viz import theme
from viz.frame.examples import examples
from viz.kit.parts.attention import attention_part
from viz.labels import token_labels
from viz.live import store as offered

EXAMPLE = examples()[0]

DEFAULT_LIVE = attention_settings(attention="decoder.attn", layer=EXAMPLE.layer, head=EXAMPLE.head)
COMPARED = {"view": "compare", "against": "sentence"}


def test_attention_page_sends_every_head() -> None:
    app = open_page("Attention", sentence=TOM, layer="L3", head="H5")
    data = live_data(app)
    for name in ("groups", "streams"):
        assert data[name] == json.loads(json.dumps(attention_part(stories_trace(TOM)).spec[name]))
    assert (data["settings"]["layer"], data["settings"]["head"]) == (3, 5)
    assert (data["model"], data["runs"]) == ("stories", [])
    assert data["themes"]["light"]["background"] == theme.LIGHT.background
    assert data["themes"]["dark"]["sequential"] == list(theme.DARK.sequential)


def test_many_heads_of_a_long_sentence_are_small(shelf: Path) -> None:
    """144 heads of 128 tokens in a fraction of a megabyte; what they weigh is loaded by name."""
    sizes = {"n_layers": 12, "n_heads": 12, "d_model": 48, "max_seq_len": 128}
    tiny_checkpoint(shelf / "large", **sizes)
    app = open_page("Attention", sentence=(7 * SENTENCE)[:128])
    assert live_data(app)["arrays"]["decoder.attn.tiles"]["shape"] == [12, 12, 43, 43]
    assert len(live_json(app)) <= 100_000


def test_second_sentence_is_sent_when_it_is_compared_with() -> None:
    app = open_page("Attention", sentence=TOM, second=HOSTILE, **COMPARED)
    data = live_data(app)
    (run,) = data["runs"]
    for sent, text in ((data, TOM), (run, HOSTILE)):
        for record in stories_trace(text).attention:
            address = f"{sent.get('prefix', '')}{record.site.address}.pattern"
            found = offered.array(data["arrays"][address]["id"])
            np.testing.assert_allclose(found, record.pattern, atol=1e-6)
    assert run["streams"]["decoder"]["labels"] == token_labels(stories_trace(HOSTILE).tokens)
    assert lines(app, "note") == []


def test_an_exchanged_word_is_compared_with_by_its_ids() -> None:
    app = open_page("Attention", sentence=TOM, swap="1-300", **COMPARED)
    ids = stories().tokenizer.encode(TOM)
    ids[1] = 300
    expected = stories().captured((ids, stories().tokenizer.token_strings(ids))).attention[2]
    (run,) = (data := live_data(app))["runs"]
    found = offered.array(data["arrays"][f"{run['prefix']}{expected.site.address}.pattern"]["id"])
    np.testing.assert_allclose(found, expected.pattern, atol=1e-6)
    assert live_data(open_page("Attention", sentence=TOM, **COMPARED))["runs"] == []
    plain = open_page("Attention", sentence=TOM, swap="1-300")
    assert live_data(plain)["runs"] == [], "nothing else is compared"


def test_second_sentence_beyond_the_context_says_how_many_tokens_are_cut() -> None:
    text = 300 * "word "
    app = open_page("Attention", sentence=TOM, second=text, **COMPARED)
    n_tokens, context = len(stories().tokenizer.encode(text)), stories().config.max_seq_len
    (line,) = lines(app, "note")
    assert latex_numbers(line) == [n_tokens - context]
    assert len(live_data(app)["runs"][0]["streams"]["decoder"]["labels"]) == context


def test_first_visit_has_the_defaults_and_a_short_url() -> None:
    app = open_page("Attention")
    assert live_data(app)["settings"] == DEFAULT_LIVE
    assert query_of(app) == {"page": ["Attention"]}


def test_notices_outlive_a_redraw_nobody_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """The browser reports its check soon after a page opens; that must not sweep the note away."""
    app = open_page("Attention", layer="99", cell="99-2")
    said = lines(app, "note")
    assert len(said) == 2
    tell(app, {}, monkeypatch)
    assert lines(app, "note") == said
    tell(app, {}, monkeypatch)
    assert lines(app, "note") == said, "as often as it is drawn again"
    tell(app, {"view": "lines"}, monkeypatch)
    assert lines(app, "note") == []


def test_from_the_head_a_link_leads_to_what_it_adds_at_the_pinned_query() -> None:
    app = open_page("Attention", sentence=TOM, layer="2", head="4", cell="5-3")
    (way,) = (e.proto.body for e in app.get("html") if 'class="hl-way"' in e.proto.body)
    for said in ("page=Contributions", "layer=2", "head=4", "token=5", "L2 H4 on Contributions",
                 "page=Masks"):  # fmt: skip
        assert said in way
    app = open_page("Attention", model="translate", attention="encoder.attn", cell="5-3")
    (way,) = (e.proto.body for e in app.get("html") if 'class="hl-way"' in e.proto.body)
    assert "attention=encoder.attn" in way
    assert "token=" not in way, "a source predicts nothing"
    assert "source=" in way
