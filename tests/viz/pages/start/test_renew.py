"""Protects the run that Home opens with from being another than the one it goes on with."""

import json
import zlib
from base64 import b64decode
from typing import Any

import numpy as np

from tests.viz.apps import open_page
from tests.viz.builders import live_data
from viz.kit.files import RECORDED
from viz.live import store


def compared(spec: dict[str, Any]) -> dict[str, Any]:
    """What both say alike: a recorded run has no address, and of its outputs the last one."""
    columns = [{**column, "opens": ""} for column in spec["columns"]]
    return {**spec, "columns": columns, "key": "", "waves": "", "answers": []}


def test_the_recorded_run_is_the_one_that_home_opens_with() -> None:
    """`python -m viz.pages.start.renew` records it again."""
    recorded, live = json.loads(RECORDED.read_text(encoding="utf-8")), live_data(open_page("Home"))
    told = recorded["told"]
    assert compared(told["spec"]) == compared(live["spec"])
    assert told["settings"].items() >= live["settings"].items()
    assert told["themes"] == live["themes"]
    assert told["arrays"].keys() == live["arrays"].keys()
    for name, about in told["arrays"].items():
        now = store.array(live["arrays"][name]["id"])
        assert now is not None
        path = about["id"] + "/0" * about["split"]
        stored = np.frombuffer(zlib.decompress(b64decode(recorded["arrays"][path])), now.dtype)
        expected = now[-1] if about["split"] else now
        np.testing.assert_allclose(stored, expected.ravel(), rtol=1e-4, atol=1e-4, err_msg=name)
    assert RECORDED.stat().st_size < 120_000, "it is loaded before anything is seen"
