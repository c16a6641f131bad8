"""One visitor who never leaves: `python -m tests.soak [--interactions 1000] [--seed 0]`.

A browser does, in a random order that the seed fixes, what a person does on all pages. After a
warm-up the app's memory and the page's DOM nodes are measured at rest on the first page, and again
every so often. Prints JSON: growth of both, what the page logged as errors, and each measurement.
"""

import json
import random
import tempfile
from argparse import ArgumentParser
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from playwright.sync_api import CDPSession, Error, Locator, Page, expect, sync_playwright

from tests.browser import find_browser
from tests.screen import PATIENCE, settle, turn_to, visit
from tests.serving import BROWSER_FLAGS, RunningApp, running_app
from viz.studio import PAGES

WARM_UP = 100  # interactions before anything is measured
BETWEEN = 100
WORDS = ["the", "cat", "dog", "sat", "saw", "a", "big", "red", "ball", "ran", "to", "Lily", "was"]
CHOICES = "section[data-testid=stMain] [role=radio]:visible, .hl-live [type=radio]"
SLIDERS = ".hl-live input[type=range]:visible"
FIRST_VIEW = "input[name^=hl-view][value=map]"
REST = 1_500  # milliseconds
PRESSED = ["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"]


@dataclass(frozen=True)
class Measurement:
    """What is held at rest, after a number of interactions."""

    interactions: int
    memory_mb: float
    nodes: int
    attached: int
    listeners: int


@dataclass
class Visitor:
    """A browser's page, and what a person does on it at random."""

    page: Page
    chance: random.Random
    title: str = PAGES[0].title
    done: dict[str, int] = field(default_factory=dict)

    def act(self) -> None:
        """One interaction; one that this page has nothing for is another one instead."""
        acts: list[Callable[[], bool]] = [
            self.turn, self.type, self.choose, self.choose, self.hover, self.press, self.drag,
        ]  # fmt: skip
        while True:
            act = self.chance.choice(acts)
            if act():
                break
        self.done[act.__name__] = self.done.get(act.__name__, 0) + 1
        settle(self.page)

    def turn(self) -> bool:
        """Go to any page."""
        self.title = self.chance.choice([entry.title for entry in PAGES])
        turn_to(self.page, self.title)
        return True

    def type(self) -> bool:
        """Type another sentence."""
        n_words = self.chance.randint(3, 14)
        sentence = " ".join(self.chance.choices(WORDS, k=n_words))
        box = self.page.get_by_role("textbox", name="Sentence", exact=True)
        box.fill(sentence)
        box.press("Control+Enter")
        self.page.wait_for_timeout(150)
        return True

    def choose(self) -> bool:
        """Press one of the buttons of a row of choices."""
        return self._any_of(CHOICES, lambda one: one.click(timeout=2_000, force=True))

    def hover(self) -> bool:
        """Move over a picture."""
        return self._any_of(
            ".js-plotly-plot:visible, .hl-live svg:visible", lambda one: one.hover(timeout=2_000)
        )

    def press(self) -> bool:
        """Walk through cells by keyboard."""
        key = self.chance.choice(PRESSED)
        return self._any_of(".hl-live [tabindex='0']:visible", lambda one: one.press(key))

    def drag(self) -> bool:
        """Move a slider of an instrument."""
        key = self.chance.choice(PRESSED)
        return self._any_of(SLIDERS, lambda one: one.press(key))

    def _any_of(self, selector: str, do: Callable[[Locator], object]) -> bool:
        found = self.page.locator(selector)
        count = found.count()
        if not count:
            return False
        try:
            do(found.nth(self.chance.randrange(count)))
        except Error:  # hidden, or gone since it was counted: a person would not have hit it
            return False
        return True


def memory_mb(app: RunningApp) -> float:
    """What the app's process holds, in MB."""
    status = Path(f"/proc/{app.pid}/status").read_text(encoding="utf-8")
    line = next(line for line in status.splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1000


def measure(app: RunningApp, visitor: Visitor, session: CDPSession, count: int) -> Measurement:
    """The state at rest on one page with one sentence and one view, so that only leaks differ.

    One view of a head has four times the nodes of another: without this, what is measured is which
    was chosen last.
    """
    visitor.title = PAGES[0].title
    turn_to(visitor.page, visitor.title)
    box = visitor.page.get_by_role("textbox", name="Sentence", exact=True)
    box.fill("The cat sat on the mat and saw a dog.")
    box.press("Control+Enter")
    visitor.page.locator(FIRST_VIEW).check(force=True)
    for ticked in visitor.page.locator(".hl-live input[type=checkbox]:checked:enabled").all():
        ticked.uncheck(force=True)
    visitor.page.mouse.move(1, 1)
    visitor.page.wait_for_timeout(REST)
    settle(visitor.page)
    for _ in range(2):  # what the first round frees may have held more
        session.send("HeapProfiler.collectGarbage")
        visitor.page.wait_for_timeout(REST)
    counters = session.send("Memory.getDOMCounters")
    return Measurement(
        count,
        round(memory_mb(app), 1),
        counters["nodes"],
        visitor.page.evaluate("document.querySelectorAll('*').length"),
        counters["jsEventListeners"],
    )


def soak(app: RunningApp, page: Page, n: int, seed: int = 0, warm_up: int = WARM_UP) -> dict:
    """Interact `n` times after the warm-up; what grew, and what went wrong."""
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
    session = page.context.new_cdp_session(page)
    visitor = Visitor(page, random.Random(seed))
    visit(page)
    found: list[Measurement] = []
    for count in range(-warm_up, n + 1):
        if count == 0 or count == n or (count > 0 and count % BETWEEN == 0):
            found.append(measure(app, visitor, session, count))
        if count < n:
            visitor.act()
    first, last = found[0], found[-1]
    return {
        "interactions": n,
        "memory grew, MB (asked ≤ 50)": round(last.memory_mb - first.memory_mb, 1),
        "DOM nodes grew, % (asked ≤ 20)": round(100 * (last.nodes / first.nodes - 1), 1),
        "page errors (asked 0)": len(errors),
        "errors": errors[:5],
        "done": visitor.done,
        "measured": [vars(one) for one in found],
    }


def main() -> None:
    """Start the app, visit it, print what was found as JSON; exit code 1 where it grew too much."""
    parser = ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--interactions", type=int, default=1000, metavar="N")
    parser.add_argument("--seed", type=int, default=0, metavar="S")
    arguments = parser.parse_args()
    expect.set_options(timeout=PATIENCE)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_browser(), args=BROWSER_FLAGS)
        with running_app(Path(folder) / "log.txt") as app:
            context = browser.new_context(base_url=app.url, viewport={"width": 1400, "height": 900})
            found = soak(app, context.new_page(), arguments.interactions, arguments.seed)
        browser.close()
    print(json.dumps(found, ensure_ascii=False))


if __name__ == "__main__":
    main()
