"""A person trains a model: begins, pauses, leaves and comes back, goes on, stops, opens it."""

import time
from collections.abc import Iterator
from contextlib import suppress

import pytest
from playwright.sync_api import FilePayload, Page, expect

from model.training import runs as trainings
from tests.screen import arrive, drawn, query, settle, visit

SMALL = "d_model=16\nd_ff=32\nbatch_tokens=210\nevaluate_every=20"
# Where each button of the training stands, in each frame that is drawn.
PLACES = """() => {
    const places = window.places = {};
    const look = () => {
        for (const button of document.querySelectorAll('[class*="st-key-lab-"] button')) {
            const left = Math.round(button.getBoundingClientRect().left);
            (places[button.innerText] ??= new Set()).add(left);
        }
        requestAnimationFrame(look);
    };
    look();
}"""
MOVED = "Object.entries(places).filter(([, at]) => at.size > 1).map(([label]) => label)"


@pytest.fixture(autouse=True)
def _nothing_goes_on() -> Iterator[None]:
    """No training outlives its test, nor does its folder, which other tests would see."""
    yield
    for run in trainings.found_runs():
        with suppress(ValueError):
            trainings.stop(run.folder)
        while trainings.read_run(run.folder).state in trainings.LIVE:
            time.sleep(0.1)
        trainings.delete(run.folder)


def stands(page: Page, state: str) -> None:
    """Wait until the training is in this state."""
    expect(page.get_by_text(f": {state} · step")).to_be_visible(timeout=120_000)


def press(page: Page, label: str) -> None:
    """Press one of the buttons of the training.

    Nobody waits until nothing is under way: of a training that runs more comes each second.
    """
    page.get_by_role("button", name=label, exact=True).click()


def test_a_training_is_begun_watched_left_and_steered(page: Page) -> None:
    fields = f'{SMALL}\nsteps=1000000\nname="mine"'
    visit(page, page="Lab", lab="new", lab_task="copy", lab_fields=fields)
    press(page, "Start training")
    stands(page, "running")
    page.evaluate(PLACES)
    press(page, "Pause")
    stands(page, "paused")
    press(page, "Go on")
    stands(page, "running")
    press(page, "Pause")
    stands(page, "paused")
    assert page.evaluate(MOVED) == [], "they move under the hand that presses them"
    visit(page, page="Home")
    visit(page, page="Lab")
    stands(page, "paused")
    press(page, "Go on")
    stands(page, "running")
    press(page, "Stop")
    stands(page, "stopped")
    settle(page)
    (frames,) = trainings.read_frames(trainings.runs_folder() / "mine")
    (steps, *_) = drawn(page, "lab-curve")
    assert len(steps) >= 2
    page.get_by_role("link", name="Attention", exact=True).last.click()
    page.wait_for_url("**/*page=Attention*")
    settle(page, "Attention")
    assert query(page)["model"] == "mine"
    assert query(page)["sentence"] == frames.text


def test_a_text_file_is_uploaded(page: Page) -> None:
    arrive(page, page="Lab", lab="new", lab_task="text")
    files = page.locator("input[type=file]")

    def give(content: bytes) -> None:
        files.set_input_files([FilePayload(name="a<b>.txt", mimeType="", buffer=content)])

    give("A fox ran.".encode("utf-16"))
    expect(page.get_by_role("alert")).to_contain_text("a<b>.txt")
    expect(page.get_by_role("alert")).to_contain_text("UTF-16")
    give(b"A fox ran. " * 300)
    expect(page.get_by_role("button", name="Start training")).to_be_visible()
    expect(page.get_by_role("alert")).to_have_count(0)
