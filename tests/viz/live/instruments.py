"""Settings and steps that tests of several instruments share."""

from viz.live.core.wire import Data, Settings


def microscope_settings(**changes: object) -> Settings:
    """Everything that is chosen in the microscope, at its default."""
    settings = {
        "layer": 0,
        "head": 0,
        "view": "map",
        "stage": "weights",
        "cell": None,
        "token": None,
        "mass": 0.8,
        "change": "scale",
        "tau": 2.0,
        "against": "head",
        "other": None,
        "second": "",
        "how": "mean",
        "over": "layer",
        "hide_first": False,
        "words": False,
    }
    return settings | changes


def writer_steps(n: int) -> list[Data]:
    """Steps of a text of two prompt tokens, each drawn from the same two candidates."""
    leading = [
        {"id": 3, "label": "a", "before": 0.6, "after": 0.7},
        {"id": 4, "label": "time", "before": 0.2, "after": 0.3},
    ]
    return [
        {
            "token_id": 3 + i % 2,
            "rank": i % 2,
            "before": 0.6,
            "prob": 0.7,
            "kept": 2,
            "n_dropped": 0,
            "row": [1 / (2 + i)] * (2 + i),
            "mean": [1 / (2 + i)] * (2 + i),
            "leading": leading,
        }
        for i in range(n)
    ]
