"""Protects Contributions and Ablation in a real browser: clicked by hand."""

import numpy as np
from playwright.sync_api import Page, expect

from tests.screen import TOM, settle, visit
from tests.walks.test_experiments import expect_drawn

N_ANSWERS = 10  # the five most likely of the run as it is, and the first five of equal ones


def test_with_everything_off_the_page_says_that_nothing_is_left(page: Page) -> None:
    visit(page, page="Ablation", sentence=TOM)
    page.get_by_role("button", name="Everything off").click()
    expect(page.get_by_text("Nothing is left of the model")).to_be_visible()
    settle(page)
    expect_drawn(page, "answers", np.full(N_ANSWERS, 1 / 4096), trace=1)
