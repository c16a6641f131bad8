"""Protects what Python says of a part, and the one text that its modules become."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from viz.kit import join
from viz.kit.part import Part, as_sent, piece


def test_arrays_are_told_by_what_they_hold() -> None:
    """The same numbers have the same id; others, or another shape or kind, have another."""
    numbers = np.arange(6, dtype=np.float32)
    variants = [numbers, numbers + 1, numbers.reshape(2, 3), numbers.view(np.int32)]
    ids = [Part("any", {}, {}, {"a": array}).known["a"]["id"] for array in variants]
    assert len(set(ids)) == len(variants)
    assert Part("any", {}, {}, {"b": numbers.copy()}).known["b"]["id"] == ids[0]
    assert Part("any", {}, {}, {"a": numbers}, {"a": 1}).known["a"]["split"] == 1


def test_arrays_go_in_kinds_that_browsers_have() -> None:
    sent = {np.dtype(kind).name: as_sent(np.ones(2, kind)).dtype.str for kind in "?efdBil"}
    expected = {"bool": "|u1", "float16": "<f4", "float32": "<f4", "float64": "<f8"}
    assert sent == expected | {"uint8": "|u1", "int32": "<i4", "int64": "<i4"}
    assert as_sent(np.ones((2, 3)).T).flags.c_contiguous


def test_a_piece_is_what_lies_at_its_indices() -> None:
    array = as_sent(np.arange(24, dtype=np.float32).reshape(2, 3, 4))
    assert piece(array, []) == array.tobytes()
    assert piece(array, ["1", "2"]) == array[1, 2].tobytes()
    for wrong in ("2", "-1", "", "x", "1.0", "²", "9" * 5000, "../1"):
        with pytest.raises(LookupError):
            piece(array, [wrong])
    with pytest.raises(LookupError):
        piece(array, ["0", "0", "0", "0"])


def test_a_saved_part_holds_user_text_as_data() -> None:
    spec = {"label": "</script><script>alert(1)</script> /*style*/"}
    page = Part("attention", spec, {}, {"a": np.zeros(3)}).page()
    assert "</script><script>alert" not in page
    assert page.count("<script") == 3, "plotly, contents and the modules"
    held = re.search(r'<script id="contents" type="application/json">\s*(.*?)\s*</script', page)
    assert held
    assert json.loads(held[1])["told"]["spec"] == spec


def test_modules_that_import_each_other_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.js").write_text('import { b } from "./b.js";\nexport const a = 1;\n')
    (tmp_path / "b.js").write_text('import { a } from "./a.js";\nexport const b = 1;\n')
    monkeypatch.setattr(join, "VIZ", tmp_path)
    monkeypatch.setattr(join, "script", lambda name: (tmp_path / name).read_text())
    with pytest.raises(ValueError, match=re.escape("a.js → b.js → a.js")):
        join.joined(["a.js"], "")
