"""The README's picture: Home as it is. `python -m tests.nightly.picture` takes it anew."""

import tempfile
from pathlib import Path

from playwright.sync_api import Page, expect, sync_playwright

from tests.browser import find_browser
from tests.screen import PATIENCE, visit
from tests.serving import BROWSER_FLAGS, ROOT, running_app

PICTURE = ROOT / "docs" / "home.png"
SIZE = {"width": 1280, "height": 720}


def take(page: Page) -> bytes:
    """Home on its first sentence, at the end of its film, as a PNG of `SIZE`."""
    page.set_viewport_size(SIZE)
    page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    visit(page, page="Home")
    expect(page.locator("[data-busy]")).to_have_count(0)
    return page.screenshot()


def main() -> None:
    """Start the app and write the picture."""
    expect.set_options(timeout=PATIENCE)
    with (
        tempfile.TemporaryDirectory() as folder,
        running_app(Path(folder) / "log.txt") as app,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=find_browser(), args=BROWSER_FLAGS)
        PICTURE.write_bytes(take(browser.new_page(base_url=app.url)))
        browser.close()


if __name__ == "__main__":
    main()
