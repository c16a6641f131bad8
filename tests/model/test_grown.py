"""Protects traces that go on: the new token alone is run, and all is as in a whole run."""

from typing import Any

import numpy as np
import pytest
import torch

from model.adopted.adopt import adopt
from model.adopted.model import AdoptedModel, AnyDecoder, capture_adopted
from model.capture import capture
from model.grown import grown
from model.trace import Stream, Trace
from model.verify.check import relative_error
from model.verify.records import check_records
from tests.model.adopted import families
from tests.model.builders import GROUPED, all_arrays, tiny_ids, tiny_model

OWN: list[dict[str, Any]] = [
    *({"position": name, **GROUPED} for name in ("sinusoidal", "learned", "rope", "alibi", "none")),
    {"position": "rope", "mask": "sliding_window", "window": 3, "norm_placement": "post"},
    {"position": "alibi", "mask": "prefix", "prefix_len": 4},
    {"mask": "global_tokens", "window": 2, "n_global": 1, "scale_embeddings": True},
]
ROPE = {"rope_theta": 10000.0, "factor": 4.0, "original_max_position_embeddings": 5}
FAMILIES: list[tuple[str, dict[str, Any]]] = [
    *((name, {}) for name in ("gpt2", "mistral", "gemma3", "gpt_oss", *families.UNEVEN)),
    ("llama", {"rope_parameters": {"rope_type": "yarn", **ROPE}}),
]
FACTORS = {"short_factor": [1.0] * 5, "long_factor": [1.0, 2.0, 3.0, 4.0, 5.0]}
COUNTING = {"rope_parameters": {"rope_type": "longrope", **ROPE, **FACTORS}}


def captured(model: AnyDecoder, ids: list[int]) -> Trace:
    """A run of all ids."""
    if not isinstance(model, AdoptedModel):
        return capture(model, ids, [str(i) for i in ids])
    stream = Stream(model.name, "text", tuple(map(str, ids)), ids=np.array(ids))
    return capture_adopted(model, torch.tensor([ids]), [stream])


def goes_on(model: AnyDecoder, ids: list[int], n_known: int) -> Trace:
    """The same from a run of the first tokens on; the model is given one token at a time."""
    known = {tuple(ids[:n_known]): captured(model, ids[:n_known])}
    given: list[int] = []
    watch = model.register_forward_pre_hook(lambda _, args: given.append(args[0].shape[1]))
    for n in range(n_known + 1, len(ids) + 1):
        found = grown(model, known.get, ids[:n], [str(i) for i in ids[:n]])
        assert found is not None
        known[tuple(ids[:n])] = found
    watch.remove()
    assert given == [1] * (len(ids) - n_known)
    return known[tuple(ids)]


def assert_close(actual: Trace, expected: Trace) -> None:
    """Every array of two traces is the same, as exact as one token alone is."""
    pairs = all_arrays(actual), all_arrays(expected)
    assert pairs[0].keys() == pairs[1].keys()
    for name, array in pairs[0].items():
        if array.dtype.kind == "f":
            assert relative_error(array, pairs[1][name]) < 2e-5, name
        else:
            np.testing.assert_array_equal(array, pairs[1][name], err_msg=name)
    assert all(check.passed for check in check_records(actual))


@pytest.mark.parametrize("variant", OWN, ids=str)
def test_ours_goes_on_as_if_all_had_run(variant: dict[str, Any]) -> None:
    model = tiny_model(**variant)
    ids = tiny_ids(seq_len=9)[0].tolist()
    assert_close(goes_on(model, ids, 6), captured(model, ids))
    n_first = variant.get("prefix_len", 0)
    known = captured(model, ids[: n_first - 1]) if n_first else None
    assert grown(model, lambda _: known, ids[:n_first], [str(i) for i in ids[:n_first]]) is None


@pytest.mark.parametrize(("family", "changes"), FAMILIES, ids=str)
def test_adopted_goes_on_as_if_all_had_run(family: str, changes: dict[str, Any]) -> None:
    model = adopt(families.build(family, **changes))
    ids = families.given(family, 9)["input_ids"][0].tolist()
    assert_close(goes_on(model, ids, 6), captured(model, ids))


@pytest.mark.parametrize(("family", "changes"), [("lfm2", {}), ("llama", COUNTING)], ids=str)
def test_what_a_later_token_changes_is_run_whole(family: str, changes: dict[str, Any]) -> None:
    model = adopt(families.build(family, **changes))
    ids = families.given(family, 6)["input_ids"][0].tolist()
    known = captured(model, ids[:-1])
    assert grown(model, lambda _: known, ids, [str(i) for i in ids]) is None


def test_a_long_run_goes_on_without_squares(monkeypatch: pytest.MonkeyPatch) -> None:
    model = adopt(families.build("llama"))
    ids = families.given("llama", 8)["input_ids"][0].tolist()
    monkeypatch.setattr("model.adopted.model.KEPT_CELLS", 3 * 4 * 7 * 7)
    found = goes_on(model, ids, 6)
    assert not isinstance(found.attention[0].pattern, np.ndarray)
    assert_close(found, captured(model, ids))
