"""Protects traces of any model: groups, addresses, what is not there, and what does not fit."""

import dataclasses
import io
import json

import numpy as np
import pytest

from model.analysis.heads import sharpness, strongest_pair
from model.commands.trace import write_npz
from model.sources import table
from model.sources.handle import ModelHandle
from model.trace import Site
from tests.model.builders import tiny_model, tiny_trace
from tests.model.made_up import MadeUp
from tests.viz.kit.parts.made_up import N_HEADS, N_LAYERS, SOURCE, TARGET, two_streams


def test_heads_are_grouped_by_stack_and_kind() -> None:
    trace = two_streams()
    assert [group.name for group in trace.groups] == [
        "source.attn",
        "target.attn",
        "target.cross_attn",
    ]
    cross = trace.group("target.cross_attn")
    assert (cross.stack, cross.kind, cross.queries, cross.keys) == (
        "target",
        "cross",
        "target",
        "source",
    )
    assert cross.patterns().shape == (N_LAYERS, N_HEADS, 5, 7)
    assert [record.site.layer for record in cross.records] == [0, 1]
    assert cross.records[1] is trace.record(Site("target", "cross", 1))
    with pytest.raises(
        ValueError, match=r"no attention named 'up'; there is source.attn, target.attn"
    ):
        trace.group("up")
    with pytest.raises(ValueError, match=r"no attention at source.blocks.0.cross_attn"):
        trace.record(Site("source", "cross", 0))
    with pytest.raises(ValueError, match="no stream 'up'; streams are source, target"):
        trace.stream("up")


def test_what_a_source_does_not_have_is_named() -> None:
    trace = two_streams()
    assert trace.offers == frozenset()
    assert tiny_trace(tiny_model()).offers == {"logits", "residuals"}
    assert trace.main.name == "target"
    assert trace.tokens == TARGET
    names = ("ids", "embed", "positions", "residuals", "logits")
    words = ("token ids", "embeddings", "position vectors", "residual stream", "logits")
    for name, what in zip(names, words, strict=True):
        with pytest.raises(ValueError, match=f"trace of a made-up has no {what}"):
            getattr(trace, name)


def test_what_does_not_fit_together_is_refused_with_both_shapes() -> None:
    trace = two_streams()
    source, target = trace.streams
    short = dataclasses.replace(source, labels=SOURCE[:4])
    with pytest.raises(
        ValueError, match=r"source.blocks.0.attn.q has shape \(4, 7, 6\).*need \(4, 4, 6\)"
    ):
        dataclasses.replace(trace, streams=(short, target))
    with pytest.raises(ValueError, match="no stream 'source'; streams are target"):
        dataclasses.replace(trace, streams=(target,))
    with pytest.raises(ValueError, match=r"streams are named \['source', 'source'\]"):
        dataclasses.replace(trace, streams=(source, source))
    first = trace.attention[0]
    shared = dataclasses.replace(first, k=first.k[:3], v=first.v[:3])
    with pytest.raises(ValueError, match="4 query heads, which is not a multiple of its 3"):
        dataclasses.replace(trace, attention=(shared,))


def test_strongest_and_sharpness_know_self_from_cross() -> None:
    """The first key is no sink and the diagonal no self where keys are another stream's."""
    pattern = np.array([[0.9, 0.1, 0.0], [0.2, 0.5, 0.3]])
    assert strongest_pair(pattern, "cross") == (0, 0)
    assert strongest_pair(pattern, "self") == (1, 2)
    assert sharpness(pattern, "cross") == pytest.approx(0.7)
    assert sharpness(pattern, "self") == pytest.approx(0.5)
    assert strongest_pair(np.eye(3), "self") == (0, 0), "nothing else is left"


def test_npz_holds_every_array_under_its_address() -> None:
    chat = dataclasses.replace(two_streams().main, roles=("user",) * 5, special=(0, 3))
    told = dataclasses.replace(two_streams(), streams=(two_streams().streams[0], chat))
    assert {"target.roles", "target.special"} <= dict(told.arrays()).keys()
    for trace in (two_streams(), told, tiny_trace(tiny_model(position="alibi"))):
        buffer = io.BytesIO()
        write_npz(trace, buffer)
        buffer.seek(0)
        with np.load(buffer) as stored:
            arrays = dict(trace.arrays())
            assert set(stored) == set(arrays) | {"facts"}
            assert json.loads(str(stored["facts"]))["architecture"] == trace.facts.architecture
            for name, array in arrays.items():
                np.testing.assert_array_equal(stored[name], array, err_msg=name)


def test_a_registered_source_is_found_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(table.SOURCES, "made-up", MadeUp())
    assert table.model_names()[-1] == "made-up:two-streams"
    handle = table.handle_of("made-up:two-streams", "cpu")
    assert handle == ModelHandle("made-up", "two-streams", "cpu", "1")
    assert handle.spelled == "made-up:two-streams"
    assert table.open_model(handle).trace("").trace.tokens == TARGET
    assert table.handle_of("stories", "cpu").spelled == "stories"
    with pytest.raises(ValueError, match="no checkpoint 'nowhere:stories'"):
        table.handle_of("nowhere:stories", "cpu")
