"""Is a page ever red that has no fault? `python -m tests.alarms [--runs N] [PAGE …]` visits them.

Every page of text under every model that has it, with one odd sentence after another, until all
verdicts of the page are in. Then every array of every run against the independent one. Prints JSON:
how many pages, what was red, the worst difference of each model; exit code 1 for any alarm.
"""

import itertools
import json
import re
import sys
import tempfile
from argparse import ArgumentParser
from collections.abc import Collection, Iterator
from pathlib import Path
from urllib.parse import urlencode

from playwright.sync_api import Page, expect, sync_playwright
from playwright.sync_api import TimeoutError as TooLate

from model.sources import checkpoint
from model.sources.checkpoint import found_names
from model.verify.check import worst
from tests.browser import find_browser
from tests.odd import ODD
from tests.screen import PATIENCE, wait_until_idle
from tests.serving import BROWSER_FLAGS, running_app

TITLES = ("Home", "Attention", "Tokens", "Heads", "Logit lens", "Next token", "Beam search",
          "KV cache", "Contributions", "Ablation", "Explanation", "Positions", "Masks",
          "Findings", "Patching", "Cost", "Similarity", "Kernels", "Several heads", "The block",
          "Order", "Cheaper attention", "Scaling", "Recurrence", "Notation", "Attention by hand",
          "Why √d?", "Why the residual?", "Diagram", "Encoder", "Translation")  # fmt: skip
OF_DECODERS = TITLES[:-2]
BOUND = 1e-5
BOX = re.compile("^(Sentence|English)")
# True once the badge has its checks and what is read back has its verdict.
SETTLED = """() => {
    const badge = document.querySelector('.st-key-badge button');
    const said = [...document.querySelectorAll('.hl-verdict, .hl-badge')]
        .filter(node => node.getClientRects().length);
    return badge && !/checking/i.test(badge.innerText)
        && said.every(node => /^[✓✗]/.test(node.textContent));
}"""
ALARMS = """() => [...document.querySelectorAll('.st-key-badge button, .hl-verdict, .hl-badge')]
    .map(node => node.innerText).filter(text => /✗|failed/.test(text))"""


def visits(n_runs: int, titles: Collection[str]) -> Iterator[tuple[str, str, list[str]]]:
    """Page, model and the sentences typed there, `n_runs` in all; each page is opened once."""
    places = [
        *((title, name) for name in checkpoint_names("decoder") for title in OF_DECODERS),
        *(("Encoder", name) for name in checkpoint_names("encoder")),
        *(("Translation", name) for name in checkpoint_names("encoder_decoder")),
    ]
    places = [place for place in places if place[0] in titles]
    each = -(-n_runs // len(places))
    ordered = itertools.cycle(ODD)
    for title, name in places:
        yield title, name, list(itertools.islice(ordered, each))


def checkpoint_names(architecture: str) -> list[str]:
    """The shipped checkpoints of an architecture."""
    return [x for x in found_names() if checkpoint.load(x).config.architecture == architecture]


def alarms(page: Page) -> list[str]:
    """What is red once all verdicts are in, or that they do not come."""
    wait_until_idle(page)
    try:
        page.wait_for_function(SETTLED, timeout=PATIENCE)
    except TooLate:
        return ["no verdict after a minute"]
    return page.evaluate(ALARMS)


def look(page: Page, title: str, model: str, sentences: list[str]) -> Iterator[tuple[str, list]]:
    """Each sentence on one page, and what is red under it."""
    first = {"sentence": sentences[0], "source": sentences[0]}
    page.goto("/?" + urlencode({"page": title, "model": model, **first}))
    page.locator(".st-key-badge button").wait_for(timeout=PATIENCE)
    yield sentences[0], alarms(page)
    box = page.get_by_role("textbox", name=BOX).first
    for sentence in sentences[1:]:
        box.fill(sentence)
        box.press("Control+Enter")
        page.wait_for_timeout(150)
        yield sentence, alarms(page)


def differences() -> dict[str, float]:
    """Of each model the worst error of any check of any of the sentences."""
    found = {}
    for name in [*checkpoint_names("decoder"), *checkpoint_names("encoder")]:
        loaded = checkpoint.load(name)
        found[name] = max(worst(loaded.check(loaded.trace(text).trace)).error for text in ODD)
    return found


def main() -> None:
    """Visit, type, and print what was red."""
    parser = ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=1_000, metavar="N")
    parser.add_argument("titles", nargs="*", metavar="PAGE", choices=[*TITLES, []])
    given = parser.parse_args()
    titles = given.titles or TITLES
    n_runs = given.runs
    expect.set_options(timeout=PATIENCE)
    tried, red = 0, []
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_browser(), args=BROWSER_FLAGS)
        with running_app(Path(folder) / "log.txt") as app:
            for title, model, sentences in visits(n_runs, titles):
                page = browser.new_context(base_url=app.url).new_page()
                for sentence, said in look(page, title, model, sentences):
                    tried += 1
                    if said:
                        red.append([title, model, sentence, said])
                        print(json.dumps(red[-1]), flush=True)
                page.context.close()
                print(f"{tried} of {n_runs}: {title}, {model}", file=sys.stderr, flush=True)
        browser.close()
    worst_of = differences()
    print(json.dumps({"pages": tried, "alarms": len(red), "worst difference": worst_of}))
    raise SystemExit(1 if red or max(worst_of.values()) > BOUND else 0)


if __name__ == "__main__":
    main()
