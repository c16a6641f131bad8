"""Run all benchmarks, or the named ones: `python -m tests.benchmarks [capture] [page] …`.

The last line is JSON. Run it while nothing else does; quote medians and ratios.
"""

import json
from argparse import ArgumentParser
from collections.abc import Callable

from playwright.sync_api import expect

from tests.benchmarks import attention, capture, decoding, page, rounds, sampler, schemes
from tests.screen import PATIENCE

BENCHMARKS: dict[str, Callable[[], dict[str, float]]] = {
    "capture": capture.measure,
    "page": page.measure,
    "attention": attention.measure,
    "sampler": sampler.measure,
    "schemes": schemes.measure,
    "decoding": decoding.measure,
}


def main() -> None:
    """Print a line for each figure beside what is asked, then all of them as JSON."""
    parser = ArgumentParser(description=__doc__.splitlines()[0].split(":")[0])
    parser.add_argument("names", nargs="*", choices=[*BENCHMARKS, []], metavar="name")
    parser.add_argument("--once", action="store_true", help="only try whether they run")
    arguments = parser.parse_args()
    rounds.is_tried = arguments.once
    names = arguments.names or list(BENCHMARKS)
    expect.set_options(timeout=PATIENCE)
    figures: dict[str, float] = {}
    for name in names:
        for figure, value in BENCHMARKS[name]().items():
            print(f"{figure:.<64} {value:10.3f}", flush=True)
            figures[figure] = value
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
