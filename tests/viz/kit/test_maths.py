"""Protects the browser's own arithmetic: JavaScript against numpy, in a real browser."""

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from playwright.sync_api import Page

from model import masks
from model.analysis.heads import strongest_pair
from model.analysis.paths.words import edge_text, is_part
from model.names import head_name
from model.verify.check import relative_error
from model.worked_out import STAGES
from tests.viz.builders import csv_rows

NEEDS = {"biased": "bias", "capped": "softcap", "sunk": "sink"}  # arrays of stages
SIZES = {1: 3, 2: 1, 17: 33, 129: 7}  # d_head by number of tokens
MASKS: dict[str, Callable[[int], torch.Tensor]] = {
    "causal": masks.causal,
    # Left padding: the first rows may attend to nothing at all.
    "padding": lambda n: masks.causal(n) & (torch.arange(n) >= 3),
    "window": lambda n: masks.causal(n) & masks.sliding_window(n, 3),
    "all": lambda n: torch.ones(n, n, dtype=torch.bool),
}
Head = dict[str, Any]
# What the tests call in the browser: the modules, and values in and out as JSON can hold them.
HARNESS = """async () => {
    const names = ['kit/maths', 'kit/measures', 'kit/names', 'kit/parts/attention/exports',
        'kit/parts/circuit/graph'];
    const modules = await Promise.all(names.map(name => import(`/${name}.js`)));
    const live = globalThis.live = Object.assign({}, ...modules);
    const read = value => {
        if (value?.matrix) return live.matrix(...value.shape, Float64Array.from(value.matrix));
        if (value?.row) return Float64Array.from(value.row);
        if (value?.bytes) return Uint8Array.from(value.bytes);
        if (value?.table) return {...value.table, values: read(value.table.values)};
        return value;
    };
    const kinds = {Float64Array: 'f8', Float32Array: 'f4', Uint8Array: 'u1'};
    const listed = (typed, shape) =>
        ({dtype: kinds[typed.constructor.name], shape, list: Array.from(typed)});
    const write = value => {
        if (value?.rows && value.values) return listed(value.values, [value.rows, value.columns]);
        return ArrayBuffer.isView(value) ? listed(value, [value.length]) : value;
    };
    const each = (object, change) =>
        Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value)]));
    live.call = ([name, values]) => write(live[name](...values.map(read)));
    live.stepsOf = ([head, changes]) => each(live.steps(each(head, read), changes), write);
}"""


def call(page: Page, name: str, *values: object) -> Any:  # noqa: ANN401
    """The result of one function of the modules; matrices and typed arrays as numpy has them."""
    result = page.evaluate("given => live.call(given)", [name, [sent(value) for value in values]])
    return read(result) if isinstance(result, dict) and "list" in result else result


def read(listed: Mapping[str, Any]) -> np.ndarray:
    """An array of the page's."""
    return np.array(listed["list"], listed["dtype"]).reshape(listed["shape"])


def sent(value: object) -> object:
    """A value in the form the page reads: two axes a matrix, one a typed array."""
    if isinstance(value, dict):
        return {"table": {name: sent(entry) for name, entry in value.items()}}
    if not isinstance(value, np.ndarray):
        return value
    if value.ndim == 2:
        return {"matrix": value.ravel().tolist(), "shape": list(value.shape)}
    kind = "bytes" if value.dtype in (np.uint8, np.bool_) else "row"
    return {kind: value.tolist()}


def steps(page: Page, head: Head, **changes: object) -> Head:
    """Every step of a head that goes to the browser the way the app sends it."""
    stages = [name for name in STAGES if NEEDS.get(name, "q") in head]
    given = {name: sent(value) for name, value in head.items()} | {"stages": stages}
    results = page.evaluate("given => live.stepsOf(given)", [given, changes])
    return {name: read(result) for name, result in results.items()}


def random_head(n_tokens: int, d_head: int, mask: str, *more: str, loudness: float = 1.0) -> Head:
    """q, k, v, mask and what `more` names of one head, float32 as a trace has them."""
    random = np.random.default_rng(100 * n_tokens + d_head)
    q, k, v = random.normal(size=(3, n_tokens, d_head)).astype(np.float32)
    allowed = MASKS[mask](n_tokens).numpy().astype(np.uint8)
    scale = 1 / math.sqrt(d_head)
    head = {"q": q * np.float32(loudness), "k": k, "v": v, "mask": allowed, "scale": scale}
    bias = random.normal(size=(n_tokens, n_tokens)).astype(np.float32)
    others = {"bias": bias, "softcap": 1.0, "sink": 2.0}
    return head | {name: others[name] for name in more}


def expected_steps(
    head: Head, scale: bool = True, mask: bool = True, temperature: float = 1.0
) -> Head:
    """The same steps in numpy float64, by the formula."""
    q, k, v = (head[name].astype(np.float64) for name in "qkv")
    product = q @ k.T
    scaled = product * head["scale"] if scale else product
    biased = scaled + head.get("bias", 0)
    cap = head.get("softcap", np.inf)
    capped = biased if np.isinf(cap) else cap * np.tanh(biased / cap)
    hidden = np.where(head["mask"] == 1, capped, -np.inf) if mask else capped
    sink = np.full((len(q), 1), head.get("sink", -np.inf))
    scores = np.concatenate([hidden, sink], axis=1)
    top = scores.max(axis=-1, keepdims=True)
    powers = np.exp((scores - np.where(np.isfinite(top), top, 0)) / temperature)
    total = powers.sum(axis=-1, keepdims=True)
    weights = np.divide(powers, total, out=np.zeros_like(powers), where=total > 0)[:, :-1]
    results = (product, scaled, biased, capped, hidden, hidden, weights, weights @ v)
    every = dict(zip(("product", *STAGES, "output"), results, strict=True))
    return {name: step for name, step in every.items() if NEEDS.get(name, "q") in head}


def assert_same_steps(found: Head, expected: Head, most: float) -> None:
    """−∞ in the same cells, elsewhere the same number within the error the app allows."""
    assert found.keys() == expected.keys()
    for name, array in expected.items():
        assert found[name].shape == array.shape
        assert (np.isneginf(found[name]) == np.isneginf(array)).all(), name
        finite = ~np.isneginf(array)
        assert relative_error(found[name][finite], array[finite]) <= most, name


def test_values_reach_the_browser_and_come_back(bare: Page) -> None:
    """Also those JSON has no words for, so that no test below compares nothing with nothing."""
    values = np.array([[1.5, -math.inf, math.nan], [0.1, 2, 1e-300]])
    found = call(bare, "difference", values, np.zeros((2, 3)))
    np.testing.assert_array_equal(found, values)


# --- the steps of a head ----------------------------------------------------------------------


@pytest.mark.parametrize("more", [(), ("bias",), ("softcap", "sink"), tuple(NEEDS.values())])
@pytest.mark.parametrize("mask", MASKS)
def test_every_step_is_python_s(mask: str, more: tuple[str, ...], bare: Page) -> None:
    """Against numpy in float64."""
    for n_tokens, d_head in SIZES.items():
        head = random_head(n_tokens, d_head, mask, *more)
        assert_same_steps(steps(bare, head), expected_steps(head), 1e-12)


@pytest.mark.parametrize(
    "changes",
    [
        {"scale": False},
        {"mask": False},
        {"temperature": 0.1},
        {"temperature": 2.5},
        {"scale": False, "mask": False, "temperature": 4},
    ],
    ids=str,
)
@pytest.mark.parametrize("mask", ["causal", "padding"])
def test_one_thing_changed(mask: str, changes: dict[str, Any], bare: Page) -> None:
    head = random_head(17, 5, mask, *NEEDS.values())
    found = steps(bare, head, **changes)
    assert_same_steps(found, expected_steps(head, **changes), 1e-12)
    assert np.abs(found["weights"] - steps(bare, head)["weights"]).max() > 0.01


@pytest.mark.parametrize("temperature", [0.1, 1, 4])
def test_scores_far_from_zero_do_not_overflow(temperature: float, bare: Page) -> None:
    """e^1000 is no number, yet the weights of such scores are."""
    head = random_head(17, 5, "causal", loudness=3000.0)
    expected = expected_steps(head, temperature=temperature)
    assert np.abs(expected["scaled"]).max() > 1000
    assert_same_steps(steps(bare, head, temperature=temperature), expected, 1e-9)


# --- what is asked of a pattern ---------------------------------------------------------------

small = st.integers(1, 7)
weights_of_rows = st.tuples(small, small).flatmap(
    lambda shape: hnp.arrays(np.float64, shape, elements=st.integers(0, 8).map(float))
)


def pattern_of(weights: np.ndarray) -> np.ndarray:
    """Rows that sum to one; rows without weight stay zero."""
    totals = weights.sum(axis=1, keepdims=True)
    return np.divide(weights, totals, out=np.zeros_like(weights), where=totals > 0)


def groups_of(n: int) -> st.SearchStrategy[list[int]]:
    """The word of each of n tokens."""
    return st.lists(st.integers(0, 1), min_size=n - 1, max_size=n - 1).map(
        lambda joins: np.cumsum([0, *joins]).tolist()
    )


def in_words(groups: list[int]) -> np.ndarray:
    """(words, tokens): one where a token is of a word."""
    return (np.arange(groups[-1] + 1)[:, None] == np.array(groups)[None]).astype(float)


@given(weights_of_rows, st.sampled_from([0.0, 0.25, 0.875]))
def test_entropy_of_rows(bare: Page, weights: np.ndarray, sink: float) -> None:
    """In bits; zeros add nothing, and what a sink takes is one key more."""
    pattern = pattern_of(weights) * (1 - sink)
    missing = (1 - pattern.sum(axis=1, keepdims=True)) * (sink > 0)
    whole = np.append(pattern, missing, axis=1)
    logs = np.log2(whole, out=np.zeros_like(whole), where=whole > 0)
    expected = -(whole * logs).sum(axis=1)
    assert call(bare, "rowEntropies", pattern, sink > 0) == pytest.approx(expected, abs=1e-12)


@given(
    st.lists(st.integers(0, 8), min_size=1, max_size=9),
    st.sampled_from([0.125, 0.25, 0.5, 0.75, 1.0]),
)
def test_leading_are_the_fewest_that_hold_the_mass(bare: Page, row: list[int], mass: float) -> None:
    """Largest first, of equal ones the earlier; whole numbers, so that sums are exact."""
    kept = call(bare, "leading", np.array(row, float), mass)
    order = sorted((j for j, x in enumerate(row) if x), key=lambda j: (-row[j], j))
    assert kept == order[: len(kept)]
    wanted = mass * sum(row)
    assert sum(row[j] for j in kept) >= wanted
    assert not kept or sum(row[j] for j in kept[:-1]) < wanted
    assert bool(kept) == any(row)


@pytest.mark.parametrize(
    ("row", "mass", "kept"),
    [
        ([0.1, 0.6, 0.3], 0.6, [1]),
        ([0.1, 0.6, 0.3], 0.61, [1, 2]),
        ([0.1] * 10, 0.8, [0, 1, 2, 3, 4, 5, 6, 7]),  # ten times 0.1 is a little less than one
        ([0.1] * 10, 1, list(range(10))),
    ],
)
def test_leading_by_hand(row: list[float], mass: float, kept: list[int], bare: Page) -> None:
    assert call(bare, "leading", np.array(row, float), mass) == kept


@given(st.data())
def test_merged_words_sum_weights_to_and_average_weights_from(
    bare: Page, data: st.DataObject
) -> None:
    """Rows still sum to one, and nothing a word gets is lost."""
    weights = data.draw(weights_of_rows)
    pattern = pattern_of(weights)
    rows, columns = (data.draw(groups_of(n)) for n in pattern.shape)
    merged = call(bare, "mergedWords", pattern, rows, columns)
    of_rows, of_columns = in_words(rows), in_words(columns)
    mean = of_rows / of_rows.sum(axis=1, keepdims=True)
    assert merged == pytest.approx(mean @ pattern @ of_columns.T, abs=1e-12)
    assert merged.sum(axis=1) == pytest.approx(mean @ pattern.sum(axis=1), abs=1e-12)


@given(st.data())
def test_a_word_may_attend_to_a_word_if_any_piece_may(bare: Page, data: st.DataObject) -> None:
    shape = data.draw(st.tuples(small, small))
    mask = data.draw(hnp.arrays(bool, shape))
    rows, columns = (data.draw(groups_of(n)) for n in shape)
    merged = call(bare, "mergedMask", mask.ravel(), rows, columns)
    expected = in_words(rows) @ mask @ in_words(columns).T > 0
    assert merged.reshape(expected.shape).tolist() == expected.astype(int).tolist()


LATER, BACK, AHEAD = (
    f"this word {what}" for what in ("comes later", "is too far back", "is too far ahead")
)
PAD, BY_MASK = "no word may attend to this one, as to padding", "hidden by the mask"
CAUSAL, WINDOW = masks.causal(7), masks.sliding_window(7, 3)
BY_HAND = CAUSAL.clone()
BY_HAND[5, 3] = False
# A mask, and why it hides a key from a query.
REASONS = {
    "causal": (CAUSAL, {(0, 1): LATER, (5, 6): LATER}),
    "window": (CAUSAL & WINDOW, {(0, 6): LATER, (3, 0): BACK, (6, 1): BACK}),
    "window on both sides": (WINDOW, {(0, 3): AHEAD, (4, 0): BACK, (6, 3): BACK}),
    "first tokens that all see": (
        CAUSAL & (WINDOW | masks.global_tokens(7, 2)),
        {(5, 2): BACK, (6, 3): BACK, (1, 4): LATER},
    ),
    "prefix": (masks.prefix(7, 3), {(0, 3): LATER, (2, 4): LATER, (4, 6): LATER}),
    "padding": (
        CAUSAL & masks.padding(torch.tensor([5]), 7)[0, 0],
        {(6, 5): PAD, (0, 6): PAD, (2, 4): LATER},
    ),
    "a cell by hand": (BY_HAND, {(5, 3): BY_MASK, (2, 3): LATER}),
    "another text": (torch.eye(2, 5, dtype=torch.bool), {(0, 1): BY_MASK, (1, 4): PAD}),
}


@pytest.mark.parametrize(("mask", "expected"), REASONS.values(), ids=REASONS)
def test_a_hidden_key_is_said_to_be_hidden_for_what_hides_it(
    bare: Page, mask: torch.Tensor, expected: dict[tuple[int, int], str]
) -> None:
    said = bare.evaluate(
        """async ([hidden, rows, columns, cells]) => {
            const {whyHidden} = await import('/kit/patterns.js');
            return cells.map(at => whyHidden(i => hidden[i], ...at, {rows, columns}));
        }""",
        [(~mask).int().ravel().tolist(), *mask.shape, list(expected)],
    )
    assert dict(zip(expected, said, strict=True)) == expected


@given(st.data())
def test_difference_covers_what_both_have(bare: Page, data: st.DataObject) -> None:
    a, b = data.draw(weights_of_rows), data.draw(weights_of_rows)
    rows, columns = np.minimum(a.shape, b.shape)
    expected = a[:rows, :columns] - b[:rows, :columns]
    assert call(bare, "difference", a, b).tolist() == expected.tolist()


@given(weights_of_rows, st.integers(1, 60))
def test_in_cross_attention_no_pair_is_passed_over(bare: Page, weights: np.ndarray, n: int) -> None:
    pairs = call(bare, "strongestPairs", weights, n, "cross")
    found = [(pair["query"], pair["key"]) for pair in pairs]
    assert found[:1] == [strongest_pair(weights, "cross")][: len(pairs)]
    order = [-weights[at] for at in found]
    assert order == sorted(order), "the largest first, wherever it is"


@given(weights_of_rows, st.integers(1, 60))
def test_strongest_pairs_begin_as_python_s(bare: Page, weights: np.ndarray, n: int) -> None:
    """Ties, the sink, the diagonal and rows without weight included."""
    pairs = call(bare, "strongestPairs", weights, n)
    away = np.arange(weights.shape[1]) != np.arange(len(weights))[:, None]
    away[:, 0] = False
    searched = np.where(away, weights, 0) if (weights[away] > 0).any() else weights
    assert len(pairs) == min(n, np.count_nonzero(searched))
    found = [(pair["query"], pair["key"]) for pair in pairs]
    assert found[:1] == [strongest_pair(weights)][: len(pairs)]
    assert len(set(found)) == len(found)
    assert [pair["weight"] for pair in pairs] == [weights[at] for at in found]
    order = [-searched[at] for at in found]
    assert order == sorted(order), "the largest first; sink and diagonal only where all are"
    left = {tuple(at) for at in np.argwhere(searched).tolist()} - set(found)
    assert all(-searched[at] >= order[-1] for at in left)


@given(weights_of_rows, st.data())
def test_leaked_share_is_what_lies_on_masked_cells(
    bare: Page, weights: np.ndarray, data: st.DataObject
) -> None:
    mask = data.draw(hnp.arrays(bool, weights.shape))
    expected = weights[~mask].sum() / weights.sum() if weights.any() else 0
    found = call(bare, "leakedShare", weights, mask.ravel())
    assert found == pytest.approx(expected, abs=1e-12)


@given(hnp.arrays(np.float64, st.integers(1, 9), elements=st.floats(-800, 800)))
def test_log_sum_exp_is_numpy_s(bare: Page, row: np.ndarray) -> None:
    expected = np.logaddexp.reduce(row)
    assert call(bare, "logSumExp", row) == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_small_sums_by_hand(bare: Page) -> None:
    row = np.array([-math.inf, 0, -math.inf, 0])
    assert call(bare, "logSumExp", row) == pytest.approx(math.log(2))
    assert call(bare, "logSumExp", np.full(3, -math.inf)) == -math.inf
    assert call(bare, "mean", np.array([1.0, 2, 6])) == 3
    assert call(bare, "mean", np.array([])) == 0
    assert call(bare, "reach", np.array([1, -3, math.inf, math.nan])) == 3
    assert call(bare, "reach", np.zeros(2)) == 1
    sums = call(bare, "columnSums", np.array([[1.0, 2], [3, 4], [5, 6]]))
    assert sums.tolist() == [9, 12]


# --- arrays in, tables out ---------------------------------------------------------------------

matrices = hnp.arrays(
    st.sampled_from([np.dtype(name) for name in ("f4", "f8", "u1")]), st.tuples(small, small)
)


def table(values: np.ndarray, rows: list[str], columns: list[str] | None) -> dict[str, object]:
    """What a view hands to the export."""
    return {"values": values, "rows": rows, "columns": columns, "corner": "query \\ key"}


any_label = st.text(st.characters(codec="utf-8") | st.sampled_from("\",;\n\r'= "), max_size=6)


@given(st.data())
def test_csv_reads_back(bare: Page, data: st.DataObject) -> None:
    """Quotes, commas and line breaks in labels stay in their cell; no digit of float32 is lost."""
    values = data.draw(hnp.arrays(np.float64, st.tuples(small, small), elements=st.floats()))
    rows, columns = (data.draw(st.lists(any_label, min_size=n, max_size=n)) for n in values.shape)
    text = call(bare, "csvText", table(values, rows, columns))
    header, *lines = csv_rows(text.encode())
    assert header == ["query \\ key", *(f"{i} {label}" for i, label in enumerate(columns))]
    assert [line[0] for line in lines] == [f"{i} {label}" for i, label in enumerate(rows)]
    with np.errstate(over="ignore"):
        expected = values.astype(np.float32)
    np.testing.assert_array_equal(np.array([line[1:] for line in lines], np.float32), expected)
    written = [re.sub(r"e.*|[-.]", "", text).strip("0") for line in lines for text in line[1:]]
    assert all(len(digits) <= 9 or not digits.isdecimal() for digits in written)


def test_csv_by_hand(bare: Page) -> None:
    """One line a row, with the line ends of the format; columns without names have numbers."""
    values = np.array([[0.1 + 1e-12, -math.inf], [1e-7, 2]])
    text = call(bare, "csvText", table(values, ['say "a, b"', "⏎"], None))
    assert text.split("\r\n") == [
        '"query \\ key",0,1',
        '"0 say ""a, b""",0.1,-Infinity',
        '"1 ⏎",1e-7,2',
        "",
    ]


@pytest.mark.parametrize(("layer", "head"), [(0, 1), (31, 4)])
def test_a_head_is_called_as_in_python(layer: int, head: int, bare: Page) -> None:
    assert call(bare, "headName", layer, head) == head_name(layer, head) == f"L{layer} H{head}"


@pytest.mark.parametrize("kind", range(5))
def test_an_edge_and_its_ends_are_spelled_as_python_reads_them(kind: int, bare: Page) -> None:
    edge = [5, kind, 3, 14, 2, 21]
    assert call(bare, "edgeText", edge) == edge_text(edge) == f"5.{kind}.3.14.2.21"
    for writer in (0, 21, 24):  # of three heads a layer: a word, a head and an MLP
        assert is_part(call(bare, "writerOf", [*edge[:5], writer], {"n_heads": 3})["id"])
    assert is_part(call(bare, "readerOf", edge)["id"])
