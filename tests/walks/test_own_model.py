"""A person opens a folder of their own by its path: its heads are on the page, and it is kept."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from model.sources import places
from model.sources.transformers import load
from tests.model.adopted.families import pictured, saved
from tests.screen import pick, picked, settle, strip, visit
from viz.frame.given import shipped_digits
from viz.labels import token_labels

TEXT = "the red ball gave a dog"
CELLS = "() => document.querySelector('.js-plotly-plot')?.calcdata?.[0][0].z.map((x) => [...x])"


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("shelf")
    saved(folder / "my-llama", "llama", start="<s>")
    pictured(folder / "my-dino", "dinov2")
    yield folder
    for there in places.remembered():
        places.forget(there)


@pytest.mark.parametrize("name", ["my-llama", "my-dino"])
def test_a_folder_is_opened_by_its_path(page: Page, shelf: Path, name: str) -> None:
    visit(page, page="Attention", sentence=TEXT, layer="0", head="1")
    pick(page, "Model", "Open a folder or file…")
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Path of the folder or file").fill(str(shelf / "nowhere"))
    dialog.get_by_role("button", name="Open", exact=True).click()
    expect(dialog.get_by_role("alert")).to_contain_text("is not a folder or file here")
    dialog.get_by_label("Path of the folder or file").fill(str(shelf / name))
    dialog.get_by_role("button", name="Open", exact=True).click()
    expect(dialog).to_be_hidden()
    page.wait_for_url(f"**model={name}*")
    settle(page, "Attention")
    assert picked(page, "Model").startswith(name)
    model = load(shelf / name, "cpu")
    picture = shipped_digits().images[0] / np.float32(255)
    trace = model.trace(TEXT if model.input_kind == "text" else picture).trace
    if model.input_kind == "text":
        expect(strip(page)).to_have_text(token_labels(trace.tokens))
    pattern = trace.attention[0].pattern[1]
    page.wait_for_function(f"() => ({CELLS})()?.length === {len(pattern)}")
    shown = np.array(page.evaluate(CELLS), dtype=float)
    np.testing.assert_allclose(np.nan_to_num(shown), pattern, atol=1e-6)
    expect(page.get_by_role("alert")).to_have_count(0)
    given = "sentence" if model.input_kind == "text" else "picture"
    expect(
        page.locator(".hl-caption:not([aria-hidden])", has_text=f"does most on this {given}.")
    ).to_be_visible()
