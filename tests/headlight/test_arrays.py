"""Protects attention as arrays: shown as it is, said where it is odd, refused in one line."""

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import torch

import headlight as hl
from tests.model.adopted.families import build, given
from viz.kit.part import Part

WEIGHTS = np.random.default_rng(0).dirichlet(np.ones(5), (2, 3, 4)).astype(np.float32)
ROWS, COLUMNS = list("abcd"), list("vwxyz")
HUGE = np.broadcast_to(WEIGHTS[:, :1, :, :1], (2, 10**12, 4, 5))  # far more than memory
HALF = torch.tensor(WEIGHTS, dtype=torch.bfloat16)


def patterns_of(part: Part) -> np.ndarray:
    return np.stack([of.array for name, of in part.shared.items() if name.endswith("pattern")])


def test_what_transformers_gives_is_what_is_shown() -> None:
    attentions = build("gpt2")(**given("gpt2"), output_attentions=True).attentions
    words = [f"w{i}" for i in range(7)]
    part = hl.attention(attentions, words)
    np.testing.assert_array_equal(patterns_of(part), torch.cat(attentions).detach())
    assert [stream["labels"] for stream in part.spec["streams"].values()] == [words]
    assert part.spec["groups"][0]["kind"] == "self"


@pytest.mark.parametrize(
    ("spelled", "shown"),
    [
        ("Ġthe ĠcafÃ© æĹ¥ æľ¬", ["the", "café", "日", "本"]),
        ("▁the ▁fox <0x0A> ##s", ["the", "fox", "⏎", "##s"]),
        ("un ##able é a", ["un", "##able", "é", "a"]),
        ("<s> th e</w> fox</w>", ["<s>", "th", "e", "fox"]),
        ("ðŁ ĺĢ Ġ x", ["😀·1/2", "😀·2/2", "␣", "x"]),
    ],
)
def test_tokens_are_named_by_what_their_spelling_stands_for(spelled: str, shown: list[str]) -> None:
    part = hl.attention(np.full((1, 1, 4, 4), 0.25), spelled.split(" "))
    assert [stream["labels"] for stream in part.spec["streams"].values()] == [shown]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "arrays", [WEIGHTS.copy(), WEIGHTS.tolist(), WEIGHTS[:, None].copy(), HALF]
)
def test_any_kind_of_array_between_two_texts(arrays: list[object]) -> None:
    part = hl.attention(arrays, ROWS, COLUMNS)
    arrays[0] = 0  # what is changed later is not shown
    np.testing.assert_allclose(patterns_of(part), WEIGHTS, atol=2e-3 if arrays is HALF else 0)
    assert [stream["labels"] for stream in part.spec["streams"].values()] == [ROWS, COLUMNS]
    assert part.spec["groups"][0]["kind"] == "cross"


def test_odd_weights_are_shown_and_said() -> None:
    odd = WEIGHTS.copy()
    odd[0, 0, 0] = 0
    odd[1, 2, 3] *= 1.5
    odd[0, 1, 2, 0] = np.nan
    odd[0, 2, 1] = [1.25, -0.25, 0, 0, 0]
    with pytest.warns(UserWarning) as said:
        part = hl.attention(odd, ROWS, COLUMNS)
    assert [str(one.message) for one in said] == [
        "NaN or infinite weights: 1; they are marked",
        "negative weights: 1; colours begin at 0",
        "2 of 24 rows do not sum to 1, by up to 1; they are shown as they are",
    ]
    assert {one.filename for one in said} == {__file__}
    np.testing.assert_array_equal(patterns_of(part), odd)
    tiles = part.shared["attention.tiles"].array
    assert tiles[0, 1, 2, 0] == part.spec["masked"] != tiles[0, 0, 0, 0]


@pytest.mark.parametrize(
    ("line", "arguments"),
    [
        ("'NoneType' object.*attn_implementation='eager'", (None, ROWS)),
        ("object is no kind of .*attn_implementation='eager'", ([None, None], ROWS)),
        ("shapes none", ([], ROWS)),
        (r"shapes \(5,\)", (WEIGHTS[0, 0], ROWS)),
        (r"shapes \(4, 5\)", (WEIGHTS[0], ROWS)),
        (r"shapes \(2, 3, 4, 4\)", ([np.zeros((2, 3, 4, 4))], ROWS)),
        (r"shapes \(2, 4, 5\), \(3, 4, 5\)", ([WEIGHTS[0], WEIGHTS[1, :2]], ROWS)),
        ("no arrays of numbers", (["x"], ROWS)),
        ("no arrays of numbers", ([[[[1.0], [1.0, 2.0]]]], ROWS)),
        ("5 keys and key_tokens has 0", (WEIGHTS, ROWS)),
        ("4 queries and tokens has 3", (WEIGHTS, ROWS[:3], COLUMNS)),
        ("tokens is no list of strings", (WEIGHTS, "abcd", COLUMNS)),
        ("4 queries and tokens has 3", (HUGE, ROWS[:3], COLUMNS)),
        ("complex64 is no kind", (torch.tensor(WEIGHTS + 0j), ROWS)),
        ("tokens is no list of strings", (WEIGHTS, np.array("abc"), COLUMNS)),
        ("key_tokens is no list.*convert_ids_to_tokens", (WEIGHTS, ROWS, range(5))),
    ],
)
def test_mistakes_get_one_line(line: str, arguments: tuple[Any, ...]) -> None:
    with pytest.raises(ValueError, match=f"^[^\n]*{line}[^\n]*$"):
        hl.attention(*arguments)


def test_arrays_need_neither_torch_nor_streamlit() -> None:
    code = (
        "import sys, headlight as hl; hl.attention([[[[1.0]]]], ['a']);"
        "assert not {'torch', 'streamlit'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
