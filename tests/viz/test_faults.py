"""Protects what the badge is for: a model that is not what its files say turns it red."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import torch

from model.architectures.decoder import DecoderTransformer
from model.given import Given
from model.sources import checkpoint
from model.sources.checkpoint import Checkpoint
from model.sources.handle import Traced
from tests.viz.apps import TOM, open_page
from viz import runs


@pytest.fixture
def stories(monkeypatch: pytest.MonkeyPatch, forgetful: None) -> Callable[[Checkpoint], None]:
    """Have the app open another checkpoint for `stories`; it forgets it in the end."""

    def put(found: Checkpoint) -> None:
        monkeypatch.setattr(runs.table, "open_model", lambda handle: found)

    return put


def badge() -> str:
    """What the badge says of a run, once its checks are there."""
    (found,) = open_page("Attention", sentence=TOM).get("popover")
    return found.proto.popover.label


def opened() -> tuple[Checkpoint, DecoderTransformer]:
    """The shipped model, opened for this test alone."""
    found = checkpoint.load("stories", "cpu")
    return found, found.decoder


def transposed() -> Checkpoint:
    found, model = opened()
    weight = model.blocks[2].attn.q_proj.weight
    weight.copy_(weight.T.clone())
    return found


def dropped() -> Checkpoint:
    found, model = opened()
    model.blocks[3].attn.out_proj.weight.zero_()
    return found


def scaled() -> Checkpoint:
    found, model = opened()
    model.blocks[4].ffn.up.weight.mul_(1.001)
    return found


def of_another_file() -> Checkpoint:
    found, _ = opened()
    torch.manual_seed(7)
    return replace(found, model=DecoderTransformer(found.config).requires_grad_(False).eval())


def read_otherwise() -> Checkpoint:
    found, _ = opened()
    return replace(found, own_tokenizer=checkpoint.load("translate", "cpu").tokenizer)


class Exchanging(Checkpoint):
    """Its capture takes one head's pattern for another's."""

    def trace(self, text: Given) -> Traced:
        """A run with L1 H2 and L1 H5 exchanged."""
        trace, *rest = super().trace(text)
        records, order = list(trace.attention), [0, 1, 5, 3, 4, 2, 6, 7]
        pattern = np.ascontiguousarray(records[1].pattern[order])
        records[1] = replace(records[1], pattern=pattern)
        return Traced(replace(trace, attention=tuple(records)), *rest)


def exchanged() -> Checkpoint:
    found, _ = opened()
    return Exchanging(**vars(found))


FAULTS = (transposed, dropped, scaled, of_another_file, read_otherwise, exchanged)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_a_fault_turns_the_badge_red(
    fault: Callable[[], Checkpoint], stories: Callable[[Checkpoint], None]
) -> None:
    with torch.inference_mode():
        stories(fault())
    assert "checks failed" in badge()


def test_without_a_fault_it_is_green(stories: Callable[[Checkpoint], None]) -> None:
    stories(opened()[0])
    assert "Verified" in badge()
