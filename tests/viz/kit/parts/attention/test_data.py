"""Protects what Attention is sent: heads in groups, labels of their streams, what applies."""

import dataclasses
import json

import numpy as np
import pytest

from model.trace import Stream, Trace
from tests.viz.builders import stories_trace
from tests.viz.kit.parts.made import attention_settings
from tests.viz.kit.parts.made_up import N_HEADS, N_LAYERS, SOURCE, TARGET, two_streams
from viz.kit.parts.attention import STAGES, VIEWS, attention_part
from viz.kit.run import patterns_data
from viz.kit.tiles import MASKED
from viz.kit.wire import Data, stream_data
from viz.labels import token_labels, word_groups, word_labels

GROUPS = {  # name: title, kind, queries, keys, size of a map
    "source.attn": ("Source self-attention", "self", "source", "source", (7, 7)),
    "target.attn": ("Target self-attention", "self", "target", "target", (5, 5)),
    "target.cross_attn": ("Target cross-attention", "cross", "target", "source", (5, 7)),
}


def sent(trace: Trace, **changes: object) -> Data:
    """What the browser gets, through JSON."""
    part = attention_part(trace, "a key", "a model", attention_settings(**changes))
    return json.loads(json.dumps(part.told["spec"]))


def tiles_of(trace: Trace, group: str) -> np.ndarray:
    """Small maps of a group as they travel, (L, H, rows, columns)."""
    return attention_part(trace).shared[f"{group}.tiles"].array


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
        sites = [(site["address"], tuple(site["stages"])) for site in group["sites"]]
        assert sites == [(record.site.address, record.stages) for record in known.records]
        assert tiles_of(trace, group["name"]).shape == (N_LAYERS, N_HEADS, *size)
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
    pictures = tiles_of(two_streams(), group.name)
    for layer, head in np.ndindex(N_LAYERS, N_HEADS):
        mask = group.records[layer].mask_of(head)
        assert ((pictures[layer, head] != MASKED) == mask).all(), (layer, head)
    assert sent(two_streams())["masked"] == MASKED


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


def test_who_wrote_a_token_is_sent_and_no_word_is_of_two() -> None:
    roles, ids = ("template", "template", "user", "user", "assistant"), np.arange(5)
    told = Stream("chat", "text", ("<s>", "us", "er", "s", "!"), ids, roles=roles, special=(0,))
    data = stream_data(told)
    assert data["looks"] == ["template special", "template", "user", "user", "assistant"]
    assert (data["words"], data["word_labels"]) == ([0, 1, 2, 2, 3], ["<s>", "us", "ers", "!"])
    assert data["word_looks"] == ["template special", "template", "user", "assistant"]
    plain = Stream("text", "text", ("a", "[SEP]"), ids[:2], special=(1,))
    assert stream_data(plain)["looks"] == ["", "special"]
    assert stream_data(dataclasses.replace(plain, special=()))["looks"] is None


def test_labels_on_axes_are_short_and_escaped() -> None:
    stream = stream_data(Stream("read", "text", (" <b>$x$</b>", " " + 30 * "a")))
    assert stream["labels"] == ["<b>$x$</b>", 30 * "a"]
    assert stream["axis"] == ["&lt;b&gt;&#36;x&#36;&lt;/b&gt;", 15 * "a" + "…"]


def test_every_array_of_a_head_has_its_address() -> None:
    trace = two_streams()
    arrays = attention_part(trace).shared
    for record in trace.attention:
        for name in ("q", "k", "v", "bias", "pattern"):
            found = arrays.get(f"{record.site.address}.{name}")
            if (array := getattr(record, name)) is None:
                assert found is None
            else:
                np.testing.assert_array_equal(found.array, array)
        for head in range(record.n_heads):
            masks = arrays[f"{record.site.address}.mask"].array
            np.testing.assert_array_equal(masks[head % len(masks)], record.mask_of(head))
        about = next(x for x in sent(trace)["groups"] if x["name"] == record.site.group)
        site = about["sites"][record.site.layer]
        assert site["scale"] == record.scale
        assert site["sinks"] == (None if record.sinks is None else record.sinks.tolist())


@pytest.mark.parametrize(("over", "axes"), [("layer", 1), ("head", 0), ("all", (0, 1))])
def test_many_heads_are_one_map_where_they_are_asked_for(
    over: str, axes: int | tuple[int, int]
) -> None:
    trace = two_streams()
    group = trace.group("target.attn")
    patterns = group.patterns()
    for how, fold in (("mean", np.mean), ("maximum", np.max)):
        found = attention_part(trace).shared[f"{group.name}.{how}.{over}"]
        expected = np.atleast_3d(fold(patterns, axis=axes)).reshape(found.array.shape)
        for (at,) in found.pieces():
            assert found.array[(at,)] == pytest.approx(expected[at], abs=1e-6)
        with pytest.raises(LookupError):
            found.array[(len(expected),)]


def test_weights_from_elsewhere_have_no_steps() -> None:
    tokens = Stream("tokens", "text", ("a", "b"))
    weights = np.array([[[1, 0], [0.25, np.nan]]], np.float32)
    about, arrays = patterns_data([weights], tokens, tokens)
    (group,) = about["groups"]
    assert (group["sites"][0]["stages"], group["strongest"][0][0]) == (["given"], [0, 0, 1.0])
    assert set(arrays) >= {"attention.0.pattern", "attention.0.mask", "attention.tiles"}


# --- what applies -----------------------------------------------------------------------------


def test_all_applies_to_a_decoder() -> None:
    data = attention_part(stories_trace("The dog ran."), takes_text=True).spec
    for options in ("views", "changes", "against", "how"):
        assert without_nothing(data[options]) == {}, options
    assert [view["name"] for view in data["views"]] == list(VIEWS)
    assert [stage["name"] for stage in data["stages"]] == list(STAGES)


def test_what_does_not_apply_says_why() -> None:
    trace = two_streams()
    data = attention_part(trace, "a key", "a model").spec
    assert without_nothing(data["against"]) == {"sentence": "this source takes no text."}
    assert without_nothing(data["views"]) == {}, "there are other heads to compare with"
    assert without_nothing(data["changes"]) == {}, "some heads are scaled, some masked"


def test_a_head_alone_has_nothing_to_compare_with() -> None:
    record = two_streams().group("target.cross_attn").records[0]
    arrays = {name: getattr(record, name)[:1] for name in ("q", "k", "v", "scores", "pattern", "z")}
    alone = dataclasses.replace(record, **arrays, bias=record.bias[:1], mask=np.ones((5, 7), bool))
    trace = dataclasses.replace(two_streams(), attention=(alone,))
    data = attention_part(trace, "a key", "a model").spec
    assert without_nothing(data["views"]) == {
        "compare": "there is one head alone, and no other input."
    }
    assert set(without_nothing(data["against"])) == {"head", "sentence"}
    assert without_nothing(data["changes"]) == {
        "scale": "scores are not scaled here.",
        "mask": "nothing is masked here.",
    }
    typed = attention_part(trace, takes_text=True).spec
    assert without_nothing(typed["views"]) == {}, "another sentence can be typed"
