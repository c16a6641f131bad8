"""Protects pages on a model that transformers built: they open, or say what is missing."""

from pathlib import Path

import pytest

from model.sources.transformers import WHERE
from tests.model.adopted.families import build, pictured, saved, words
from tests.viz.apps import control, lines, open_page
from viz.frame.offers import missing
from viz.studio import PAGES

TEXT = "the red ball gave"


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shelf")
    saved(folder / "some-llama", "llama", start="<s>")
    build("bert", vocab_size=12).save_pretrained(folder / "some-bert")
    words().save_pretrained(folder / "some-bert")
    pictured(folder / "some-dino", "dinov2")
    return folder


@pytest.fixture(autouse=True)
def _shelved(shelf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(WHERE, str(shelf))


OF_DECODERS = (
    "Home", "Tokens", "Attention", "Heads", "Logit lens", "Next token", "Beam search", "KV cache",
    "Ablation", "Patching", "Positions", "Masks", "Why √d?", "Attention by hand", "Order",
)  # fmt: skip


@pytest.mark.parametrize("page", OF_DECODERS)
def test_a_page_serves_a_decoder_of_transformers(page: str) -> None:
    app = open_page(page, model="some-llama", sentence=TEXT)
    assert lines(app, "error") == []
    assert control(app, "model") == "some-llama"


@pytest.mark.parametrize(
    "page", ["Home", "Tokens", "Attention", "Heads", "Encoder", "Ablation", "Patching"]
)
def test_a_page_serves_an_encoder_of_transformers(page: str) -> None:
    app = open_page(page, model="some-bert", sentence="the red dog")
    assert lines(app, "error") == []


@pytest.mark.parametrize("page", ["Home", "Attention", "Heads", "Ablation", "Patching", "Tokens"])
def test_a_page_serves_a_model_of_pictures_of_transformers(page: str) -> None:
    app = open_page(page, model="some-dino")
    assert lines(app, "error") == [] and control(app, "model") == "some-dino"
    notes = "".join(lines(app, "note"))
    assert ("Tokens does not apply to some-dino: it has no vocabulary" in notes) == (
        page == "Tokens"
    )


def test_every_other_page_says_what_is_missing() -> None:
    offers = frozenset(("text", "vocabulary", "decoder", "logits", "residuals", "readout", "mask"))
    offers |= {"projections", "answers", "edits"}
    without = {page.TITLE: missing(page.NEEDS, offers) for page in PAGES}
    lacking = {title for title, reasons in without.items() if reasons}
    assert len(PAGES) - len(lacking) >= 24
    assert lacking.isdisjoint(OF_DECODERS)
    app = open_page("The block", model="some-llama", sentence=TEXT)
    (line,) = (x for x in lines(app, "note") if "does not apply" in x)
    assert line.startswith("The block does not apply to some-llama: its weights are not laid out")
