"""Protects the reading of the screen: labels stand for their tokens, indices for their numbers."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from tests.viz.builders import ODD_SENTENCES, stories
from tests.viz.live.harness import bare_page
from viz.figures.labels import clipped, token_labels, visible

SAYS = """async ([label, text]) =>
    (await import('/live/core/printed.js')).saysText(label, text)"""
WITHIN = """async ([address, indices]) =>
    (await import('/live/core/pointed.js')).within(address, indices)"""


@pytest.fixture(scope="module")
def bare(browser: Browser, app_url: str) -> Iterator[Page]:
    """A page with the modules alone."""
    with bare_page(browser, app_url) as page:
        yield page


@pytest.mark.parametrize("sentence", ODD_SENTENCES)
def test_labels_say_their_tokens_and_no_others(bare: Page, sentence: str) -> None:
    tokenizer = stories().tokenizer
    ids = tokenizer.encode(sentence)
    texts = [tokenizer.token_bytes(i).decode(errors="replace") for i in ids]
    whole = [(a, b) for a, b in zip(token_labels(tokenizer.token_strings(ids)), texts, strict=True)]
    for label, text in whole:
        if "\\ufffd" not in text:
            assert bare.evaluate(SAYS, [label, text]), (label, text)


@pytest.mark.parametrize(
    ("label", "text", "says"),
    [
        ("cat", " cat", True),
        ("cat", "dog", False),
        ("tac", " cat", False),
        ("…ing", "ing", True),
        ("…ing", "ed", False),
        ("⏎⏎", "\n\n", True),
        ("⏎", "\n\n", False),
        ("␣", " ", True),
        (clipped("elephantine", 6), " elephantine", True),
        (clipped("elephantine", 6), " elegance", False),
        (visible(" שלום"), " שלום", True),
        ("", "cat", False),
    ],
)
def test_a_label_says_one_text(bare: Page, label: str, text: str, says: bool) -> None:
    assert bare.evaluate(SAYS, [label, text]) == says


@pytest.mark.parametrize(
    ("address", "indices", "expected"),
    [
        ("output", [3, 4], "output[3,4]"),
        ("lens.top[:,5:18]", [2, 4], "lens.top[2,9]"),
        ("lens.place[:,12]", [3], "lens.place[3,12]"),
        ("positions.table[:,::2]", [7, 3], "positions.table[7,6]"),
        ("decoder.blocks.2.attn.pattern[4]", [8, 1], "decoder.blocks.2.attn.pattern[4,8,1]"),
    ],
)
def test_the_address_of_one_number(
    bare: Page, address: str, indices: list[int], expected: str
) -> None:
    assert bare.evaluate(WITHIN, [address, indices]) == expected
