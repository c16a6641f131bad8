"""`python -m tests.sabotage [WORD …]`: plant the faults whose layer or name has one of these words.

Prints a line for each and the share noticed by layer; exit code 1 where one is missed.
"""

import sys
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterator, Sequence

import torch

from tests.sabotage.faults import FAULTS, SELF_CHECK, Fault
from tests.sabotage.planting import noticed

torch.set_num_threads(1)


def chosen(words: Sequence[str]) -> list[Fault]:
    """The faults with one of these words, all where there is none; the quick ones first."""
    found = [x for x in FAULTS if not words or any(y in f"{x.layer} {x.name}" for y in words)]
    return sorted(found, key=lambda fault: fault.probe != SELF_CHECK)


def answers(faults: Sequence[Fault]) -> Iterator[tuple[Fault, list[str], str]]:
    """Each fault, what was said of it, and how soon where a page was asked."""
    in_browser = [fault for fault in faults if fault.probe != SELF_CHECK]
    for fault in faults:
        if fault.probe == SELF_CHECK:
            yield fault, noticed(fault), ""
    if not in_browser:
        return
    from tests.sabotage.watching import watcher  # it imports the model, which no child may have

    with watcher() as watching:
        for fault in in_browser:
            seen = watching.watch(fault)
            yield fault, seen.said, f" after {seen.seconds:.1f} s"


def main() -> None:
    """Plant them and print."""
    parser = ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("words", nargs="*", metavar="WORD")
    faults = chosen(parser.parse_args().words)
    if not faults:
        parser.error("no fault's layer or name has any of these words")
    seen: Counter[str] = Counter()
    tried: Counter[str] = Counter()
    for fault, said, when in answers(faults):
        is_named = any(fault.named in line for line in said)
        tried[fault.layer] += 1
        seen[fault.layer] += is_named
        sign = "✓" if is_named else "✗"
        print(f"{sign} {fault.layer}: {fault.name}{when} — {'; '.join(said)[:150]}", flush=True)
    for layer, n in tried.items():
        print(f"{layer}: {seen[layer]} of {n}")
    print(f"in all: {sum(seen.values())} of {sum(tried.values())}")
    sys.exit(seen != tried)


if __name__ == "__main__":
    main()
