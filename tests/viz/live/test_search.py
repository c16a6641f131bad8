"""Protects what Search finds in the browser, for what a person may type."""

import pytest
from playwright.sync_api import Page

from tests.viz.builders import PAGES
from viz import studio
from viz.frame import search, tours

HARNESS = """async () => {
    const {found} = await import('/live/search.js');
    globalThis.find = (entries, query) => found(entries, query).map(({title}) => title);
}"""
# What is typed, and what stands first.
FIRST = {
    "mlp": "MLP",
    "feed-forward": "MLP",
    "Feed Forward": "MLP",
    "nucleus": "Top-p",
    "nucleos": "Top-p",
    "atention": "Attention",
    "beem search": "Beam search",
    "sofmax": "Softmax",
    "byte pair": "BPE",
    "gpt": "GPT",
    "Bert": "BERT",
    "[CLS]": "ViT",
    "softmax": "Softmax",
    "induct": "Induction head",
    "logit lens": "Logit lens",
    "perplexity": "Perplexity",
    "kv cach": "KV cache",
    "rotary": "RoPE",
    "alibi": "ALiBi",
    "rms norm": "RMSNorm",
    "swiglu": "SwiGLU",
    "temperature": "Temperature",
    "beam": "Beam search",
    "skip connection": "Residual stream",
    "sink": "Attention sink",
    "gqa": "Grouped-query attention",
    "unembedding": "Unembedding",
    "attribution patching": "Attribution patching",
    "translat": "Translation",
    "why √d": "Why √d?",
    "A query meets its keys": "A query meets its keys",
    "": "Home",
}


@pytest.mark.parametrize(("typed", "first"), FIRST.items())
def test_what_is_meant_stands_first(
    bare: Page, typed: str, first: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tours.st, "session_state", {tours.PAGES: tuple((x, ()) for x in PAGES)})
    entries = search.index(studio.PAGES)
    assert bare.evaluate("([entries, typed]) => find(entries, typed)[0]", [entries, typed]) == first


ALSO = {  # what is found beside a term
    "BPE": ("page", "Tokens"),
    "nucleus": ("page", "Next token"),
    "top-p": ("page", "Next token"),
    "induction": ("training", "induction"),
    "induction head": ("page", "Heads"),
    "ball": ("example", "What followed “ball” before"),
    "indction haed": ("term", "Induction head"),
}


@pytest.mark.parametrize(("typed", "other"), ALSO.items())
def test_what_teaches_it_is_found_too(
    bare: Page, typed: str, other: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tours.st, "session_state", {tours.PAGES: tuple((x, ()) for x in PAGES)})
    entries = search.index(studio.PAGES)
    kind, title = other
    own = [one for one in entries if (one["kind"], one["title"]) == other]
    assert len(own) == 1
    asked = [[*own, *({"kind": kind, "title": "?", "line": "", "also": "", "seen": ""},)], typed]
    assert bare.evaluate("([entries, typed]) => find(entries, typed)", asked) == [title]
    assert title in bare.evaluate("([entries, typed]) => find(entries, typed)", [entries, typed])


@pytest.mark.parametrize("typed", ["zzz", "<img src=x>", "\u202e", "😀", "a" * 5_000])
def test_nothing_is_found_of_what_is_not_there(bare: Page, typed: str) -> None:
    entry = {"kind": "term", "title": "Softmax", "line": "It sums to one.", "also": "", "seen": ""}
    found = bare.evaluate("([entries, typed]) => find(entries, typed)", [[entry], typed])
    assert found == []
