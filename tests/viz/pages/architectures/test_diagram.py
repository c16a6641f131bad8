"""Protects the block diagram: its boxes count the weights, its arrows are the model's."""

import re

import pytest

from model.sources.checkpoint import load
from model.sources.places import SHIPPED
from tests.viz.apps import lines, open_page

BOX = re.compile(r'<(?:a|div) class="hl-box hl-box-(\w+)".*?</(?:a|div)>')
NUMBER = re.compile(r'<span class="hl-number"[^>]*>([^<]*)</span>')
WEIGHTS = re.compile(r"<i>([\d,]+) weights</i>")
ENDS = r'</div></div>(?!<div class="hl-sublayer|</div>)'
BLOCK = re.compile(rf'<div class="hl-block"><span>× (\d+) layers</span>(.*?{ENDS})')


def drawn(model: str) -> str:
    """The diagram of a shipped model, as HTML."""
    app = open_page("Diagram", model=model)
    assert lines(app, "error") == []
    found = next(e.proto.body for e in app.get("html") if 'class="hl-diagram"' in e.proto.body)
    return NUMBER.sub(r"\1", found)


def boxes(diagram: str, kind: str) -> list[str]:
    """What stands in the boxes of a kind."""
    return [found.group() for found in BOX.finditer(diagram) if found.group(1) == kind]


def counted(text: str) -> int:
    """The weights of all boxes."""
    return sum(int(number.replace(",", "")) for number in WEIGHTS.findall(text))


@pytest.mark.parametrize("model", ["stories", "blank", "translate", "digits"])
def test_the_boxes_count_every_weight_of_the_model(model: str) -> None:
    diagram = drawn(model)
    layers = BLOCK.findall(diagram)
    further = sum((int(times) - 1) * counted(inside) for times, inside in layers)
    weights = {p.data_ptr(): p.numel() for p in load(SHIPPED / model).model.parameters()}
    assert counted(diagram) + further == sum(weights.values())


def test_the_encoder_s_output_leaves_it_for_cross_attention() -> None:
    encoder, decoder = drawn("translate").split('<section class="hl-column">')[1:]
    (memory,) = boxes(encoder, "memory")
    assert not boxes(decoder, "memory") and not boxes(encoder, "cross_attention")
    assert len(boxes(decoder, "cross_attention")) == 1
    given = re.search(r"(\d+) tokens</p>", encoder)
    assert given and f"<code>{given.group(1)} × 128</code>" in memory
