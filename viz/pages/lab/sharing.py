"""What trainings that run at the same time do to each other."""

import os
from collections.abc import Sequence


def slowing(others: Sequence[str], *, is_one_more: bool) -> str:
    """Which trainings run, each in our words; beside one more, whether they slow each other.

    They do where no core is left for the app itself. Empty where none runs.
    """
    if not others:
        return ""
    n, cores = len(others) + is_one_more, os.cpu_count() or 1
    line = f"Under way: {', '.join(others)}."
    if not is_one_more or n < cores:
        return line
    return f"{line} {n} trainings and this page share {cores} cores: they slow each other."
