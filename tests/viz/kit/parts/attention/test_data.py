"""Protects what the microscope is sent: heads in groups, labels of their streams, what applies."""

import base64
import dataclasses
import json

import numpy as np
import pytest
from safetensors.numpy import load
from viz.live.microscope import data as microscope

from model.trace import Stream, Trace
from tests.viz.builders import stories_trace, unpacked
from tests.viz.kit.parts.made import microscope_settings
from tests.viz.kit.parts.made_up import N_HEADS, N_LAYERS, SOURCE, TARGET, two_streams
from viz.figures.labels import token_labels, word_groups, word_labels
from viz.kit.arrays import head_arrays
from viz.kit.parts.attention import attention_part
from viz.kit.wire import Data, stream_data

GROUPS = {  # name: title, kind, queries, keys, size of a map
    "source.attn": ("Source self-attention", "self", "source", "source", (7, 7)),
    "target.attn": ("Target self-attention", "self", "target", "target", (5, 5)),
    "target.cross_attn": ("Target cross-attention", "cross", "target", "source", (5, 7)),
}


def sent(trace: Trace, **changes: object) -> Data:
    """What the browser gets, through JSON."""
    data = attention_part(trace, "a key", "a model", microscope_settings(**changes))
    return json.loads(json.dumps(data))


def without_nothing(options: list[Data]) -> dict[str, str]:
    """Why options cannot be chosen, by name; those that can are left out."""
    return {option["name"]: option["why"] for option in options if option["why"] is not None}


def test_heads_come_in_groups_with_streams_of_their_own() -> None:
    trace = two_streams()
    data = sent(trace)
    assert [group["name"] for group in data["groups"]] == list(GROUPS)
    for group, known in zip(data["groups"], trace.groups, strict=True):
        title, kind, queries, keys, size = GROUPS[group["name"]]
        assert (group["title"], group["kind"]) == (title, kind)
        assert (group["queries"], group["keys"]) == (queries, keys)
        assert (group["n_layers"], group["n_heads"]) == (N_LAYERS, N_HEADS)
        assert group["sites"] == [record.site.address for record in known.records]
        assert unpacked(group["tiles"]).shape == (N_LAYERS * N_HEADS, *size)
        for layer, record in enumerate(known.records):
            rows = record.pattern[:, 1:] if kind == "self" else record.pattern
            expected = rows.max(axis=-1).mean(axis=-1)
            assert group["sharpness"][layer] == pytest.approx(expected, abs=1e-6)
            for head in range(N_HEADS):
                query, key, weight = group["strongest"][layer][head]
                assert weight == pytest.approx(record.pattern[head, query, key], abs=1e-6)
                assert kind == "self" or weight == pytest.approx(record.pattern[head].max())
    assert {name: len(stream["labels"]) for name, stream in data["streams"].items()} == {
        "source": len(SOURCE),
        "target": len(TARGET),
    }


def test_each_head_is_masked_in_its_own_tile() -> None:
    group = two_streams().group("target.attn")
    (data,) = (found for found in sent(two_streams())["groups"] if found["name"] == group.name)
    pictures = unpacked(data["tiles"])
    for i, (layer, head) in enumerate(np.ndindex(N_LAYERS, N_HEADS)):
        mask = group.records[layer].mask_of(head)
        assert ((pictures[i] != microscope.MASKED) == mask).all(), (layer, head)
    assert sent(two_streams())["tile_codes"] == {"masked": microscope.MASKED}


def test_a_decoder_has_one_group_and_words() -> None:
    trace = stories_trace("Dorothy whispered unbelievably.")
    data = sent(trace)
    (group,) = data["groups"]
    assert (group["name"], group["queries"], group["keys"]) == ("decoder.attn", *["decoder"] * 2)
    stream = data["streams"]["decoder"]
    assert stream["labels"] == token_labels(trace.tokens)
    assert stream["words"] == word_groups(trace.tokens)
    assert stream["word_labels"] == word_labels(trace.tokens, stream["words"])
    assert len(stream["word_axis"]) == len(stream["word_labels"]) < len(stream["labels"])


@pytest.mark.parametrize(
    "stream",
    [
        Stream("seen", "patches", ("0,0", "0,1"), ids=np.arange(2)),
        Stream("read", "text", (" a", "b")),
    ],
    ids=["patches", "no-tokenizer"],
)
def test_what_is_no_piece_of_a_word_is_not_merged(stream: Stream) -> None:
    data = stream_data(stream)
    assert (data["words"], data["word_labels"], data["word_axis"]) == (None, None, None)
    assert data["labels"] == [label.strip() for label in stream.labels], "nothing is continued"


def test_labels_on_axes_are_short_and_escaped() -> None:
    stream = stream_data(Stream("read", "text", (" <b>$x$</b>", " " + 30 * "a")))
    assert stream["labels"] == ["<b>$x$</b>", 30 * "a"]
    assert stream["axis"] == ["&lt;b&gt;&#36;x&#36;&lt;/b&gt;", 15 * "a" + "…"]


@pytest.mark.parametrize("attention", GROUPS)
def test_the_chosen_head_comes_along(attention: str) -> None:
    trace = two_streams()
    ((address, packed),) = sent(trace, attention=attention, layer=1, head=3)["arrays"].items()
    record = trace.group(attention).records[1]
    assert address == f"live/arrays/a key/head/{record.site.address}/3"
    found = load(base64.b64decode(packed))
    for name, array in head_arrays(record, 3).items():
        np.testing.assert_array_equal(found[name], array, err_msg=name)


def test_a_head_that_is_not_there_gives_way_to_the_nearest() -> None:
    """A link may be of a model with more heads, and of another kind."""
    ((address, _),) = sent(two_streams(), attention="nothing", layer=9, head=9)["arrays"].items()
    assert address == "live/arrays/a key/head/source.blocks.1.attn/3"


def test_a_large_head_is_left_to_be_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(microscope, "MOST_SENT_ALONG", 100)
    assert sent(two_streams())["arrays"] == {}


# --- what applies -----------------------------------------------------------------------------


def test_all_applies_to_a_decoder() -> None:
    data = sent(stories_trace("The dog ran."))
    for options in ("views", "changes", "against", "how"):
        assert without_nothing(data[options]) == {}, options
    assert [view["name"] for view in data["views"]] == list(microscope.VIEWS)
    assert [stage["name"] for stage in data["stages"]] == list(microscope.STAGES)


def test_what_does_not_apply_says_why() -> None:
    trace = two_streams()
    data = attention_part(trace, "a key", "a model", microscope_settings(), takes_text=False)
    assert without_nothing(data["against"]) == {"sentence": "this source takes no text."}
    assert without_nothing(data["views"]) == {}, "there are other heads to compare with"
    assert without_nothing(data["changes"]) == {}, "some heads are scaled, some masked"


def test_a_head_alone_has_nothing_to_compare_with() -> None:
    record = two_streams().group("target.cross_attn").records[0]
    arrays = {name: getattr(record, name)[:1] for name in ("q", "k", "v", "scores", "pattern", "z")}
    alone = dataclasses.replace(record, **arrays, bias=record.bias[:1], mask=np.ones((5, 7), bool))
    trace = dataclasses.replace(two_streams(), attention=(alone,))
    data = attention_part(trace, "a key", "a model", microscope_settings(), takes_text=False)
    assert without_nothing(data["views"]) == {
        "compare": "there is one head alone, and no other input."
    }
    assert set(without_nothing(data["against"])) == {"head", "sentence"}
    assert without_nothing(data["changes"]) == {
        "scale": "scores are not scaled here.",
        "mask": "nothing is masked here.",
    }
    typed = attention_part(trace, "a key", "a model", microscope_settings())
    assert without_nothing(typed["views"]) == {}, "another sentence can be typed"
