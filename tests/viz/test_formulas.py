"""Protects formulas: each is of a function that exists, and the numbers in it are right."""

import importlib
import math
import re

import numpy as np
import pytest
import torch

from model.analysis.kernels import KERNELS
from model.analysis.mask_kinds import source_of
from model.analysis.sizes import memory, parameters, shape_of
from model.positions import alibi_slopes, rotate_pairs, shift_waves, sinusoidal_encoding
from tests.model.builders import softmax, tiny_model
from tests.viz.builders import latex_numbers
from viz.formulas import FORMULAS, Formula, breakable
from viz.formulas.lessons import HEIGHTS
from viz.formulas.parts import (
    alibi,
    attention,
    bias_with_numbers,
    distance_with_numbers,
    lens_with_numbers,
    score_with_numbers,
    wave_with_numbers,
    with_base,
    with_causal,
)
from viz.pages.ideas.masks.shared import NAMES
from viz.pages.ideas.positions import ALL, SOURCES

SEEDS = range(3)
FUNCTIONS = [name for name in FORMULAS if name.startswith("model.")]
SHOWN_SOURCES = [*SOURCES[ALL], *map(source_of, NAMES)]


def says_of(latex: str, value: float, before: str = "") -> bool:
    """Whether a formula ends, or goes on after some words, with what is so of a value."""
    relation, number = re.search(rf"{re.escape(before)} ([=<>]) (-?[\d.]+)(?:,|$)", latex).groups()
    if relation == "<":
        return 0 < value < float(number)
    return relation == "=" and float(number) == pytest.approx(value, abs=6e-5)


@pytest.mark.parametrize("name", [*FUNCTIONS, *SHOWN_SOURCES])
def test_name_is_a_function_that_exists(name: str) -> None:
    module, _, function = name.rpartition(".")
    assert callable(getattr(importlib.import_module(module), function))


@pytest.mark.parametrize("formula", FORMULAS.values(), ids=FORMULAS.keys())
def test_formula_says_where_it_is_from(formula: Formula) -> None:
    """A paper of a year; a fit and an edge that is removed are worked out as they say."""
    paper = re.search(r"[A-Z]\w+(?: et al\.| & [A-Z]\w+)? (19|20)\d\d", formula.reference)
    assert paper or formula in (FORMULAS["Time by length"], FORMULAS["Edge removed"])
    assert formula.latex.count("{") == formula.latex.count("}")


def test_a_training_takes_as_many_bytes_as_its_formula_says() -> None:
    shape = shape_of(tiny_model().config)
    a_parameter = re.search(r"training\} = (\d+)\\,N", FORMULAS["Memory"].latex)[1]
    n = sum(parameters(shape).values())
    assert memory(shape, 7)["training"] == int(a_parameter) * n


@pytest.mark.parametrize(("position", "dimension"), [(0, 0), (0, 1), (7, 4), (7, 5), (101, 12)])
def test_one_value_of_the_wave(position: int, dimension: int) -> None:
    d_model, base = 14, 500.0
    table = sinusoidal_encoding(torch.arange(102), d_model, base)
    latex = wave_with_numbers(position, dimension, d_model, base, float(table[position, dimension]))
    wave = {"sin": math.sin, "cos": math.cos}[re.search(r"\\(sin|cos)\\", latex)[1]]
    shown = latex_numbers(latex)
    assert shown[:2] == [position, dimension]
    numerator, written_base, exponent, of, value = shown[2:]
    assert of == d_model
    assert value == pytest.approx(wave(numerator / written_base ** (exponent / of)), abs=6e-5)


@pytest.mark.parametrize("seed", SEEDS)
def test_one_cell_of_the_lens(seed: int) -> None:
    logits = 5 * np.random.default_rng(seed).normal(size=17)
    log_total, probs = np.logaddexp.reduce(logits), softmax(logits)
    entropy = -(probs * np.log(probs)).sum()
    latex = lens_with_numbers(logits[3], log_total, 17, entropy, 5)
    assert r"\sum_{j=1}^{17}" in latex
    *_, written_entropy, rank = latex_numbers(latex)
    assert says_of(latex, probs[3], "}")
    assert written_entropy == pytest.approx(entropy, abs=6e-5)
    assert rank == 5
    exponent, sign, size = re.search(r"= e\^\{(-?[\d.]+) ([+-]) ([\d.]+)\}", latex).groups()
    assert math.exp(float(exponent) + float(sign + size)) == pytest.approx(probs[3], rel=1e-4)


@pytest.mark.parametrize(
    "name",
    ["model.positions.sinusoidal_encoding", "model.positions.shift_waves",
     "model.positions.rotate_pairs"],
)  # fmt: skip
def test_a_formula_has_the_base_of_the_config(name: str) -> None:
    assert with_base(name, 10_000.0) == FORMULAS[name]
    other = with_base(name, 500_000.0)
    assert "500000^{" in other.latex
    assert "10000" not in other.latex
    assert other.reference.endswith("; there with base 10,000")
    assert "1000000^{" in wave_with_numbers(3, 4, 8, 1_000_000.0, 0.5)


# --- what a formula says of this model ------------------------------------------------------------


def test_a_small_number_in_a_formula_is_not_zero() -> None:
    assert lens_with_numbers(0.0, 0.0, 5, 0.0, 1).count("= 0,") == 1
    assert "0.0000" not in score_with_numbers(-1e-6, 3, 1.0, -1e-7)
    assert score_with_numbers(-1e-6, 3, 1.0, -1e-7).endswith("> -0.0001")
    assert "1.0 \\cdot 10^{-6}" in score_with_numbers(1e-6, 3, 1.0, 1e-7)


def test_a_formula_has_no_more_digits_than_float32() -> None:
    assert "12345.68" in bias_with_numbers(12345.678901, 16, 0.25, 3)
    assert "s(1, 0) = 1234.568" in distance_with_numbers((1, 0), 2, 1234.56789012, 0.5)


def test_alibi_is_of_the_distance_on_both_sides() -> None:
    """With a mask that lets tokens attend to later ones the bias must not grow with them."""
    assert "|i - j|" in FORMULAS["model.positions.alibi_bias"].latex
    for n_heads in (1, 2, 8):
        assert alibi(n_heads) == FORMULAS["model.positions.alibi_bias"]
    for n_heads in (3, 6, 12):
        latex = alibi(n_heads).latex
        assert "/H}" not in latex
        first, *rest = re.findall(r"2\^\{([^}]*)\}", latex)
        powers = [re.sub(r"(?<=\d)\(", "*(", power) for power in (first, *rest)]
        below = 2 ** int(math.log2(n_heads))
        slopes = [2.0 ** eval(powers[h >= below], {"h": h}) for h in range(n_heads)]
        assert slopes == pytest.approx(alibi_slopes(n_heads).tolist())


def test_a_kernel_is_written_as_it_is_worked_out() -> None:
    gaussian = HEIGHTS["gaussian"].replace("{", "(").replace("}", ")").replace("^", "**")
    epanechnikov = HEIGHTS["epanechnikov"].replace(r"\max", "max").replace("^", "**")
    for u in (0.0, 0.5, -1.5):
        names = {"e": math.e, "u": u, "max": max}
        for kind, written in (("gaussian", gaussian), ("epanechnikov", epanechnikov)):
            value = eval(written, names.copy())
            assert value == pytest.approx(float(KERNELS[kind](np.array(u))))


def matrices_of(latex: str, angles: dict[str, float]) -> list[np.ndarray]:
    """The matrices of a formula whose entries are waves of these angles, in their order."""
    wave = rf"(-?)\\(sin|cos) ({'|'.join(map(re.escape, angles))})(?= )"
    found = []
    for matrix in re.findall(r"\\begin\{pmatrix\}(.*?)\\end\{pmatrix\}", latex):
        rows = [re.findall(wave, row) for row in matrix.split(r"\\")]
        values = [[float(f"{s}1") * getattr(math, f)(angles[a]) for s, f, a in row] for row in rows]
        found.append(np.array(values))
    return found


def test_the_matrix_of_rope_is_the_rotation_that_runs() -> None:
    angle, pair = 0.7, torch.tensor([2.0, -3.0], dtype=torch.float64)
    latex = FORMULAS["model.positions.rotate_pairs"].latex
    _, matrix, _ = matrices_of(latex, {r"m\theta_i": angle})
    rotated = rotate_pairs(pair.view(1, 1, 1, 2), torch.tensor([[angle]])).flatten()
    assert matrix @ pair.numpy() == pytest.approx(rotated.tolist())


def test_the_matrix_of_the_waves_is_the_shift_that_runs() -> None:
    """Of the only pair of two dimensions, whose wave goes by one for each position."""
    place, offset = 0.7, 2
    angles = {r"\omega_i k": offset, r"\omega_i p": place, r"\omega_i (p{+}k)": place + offset}
    later, matrix, earlier = matrices_of(FORMULAS["model.positions.shift_waves"].latex, angles)
    shifted = shift_waves(torch.tensor(earlier).T, offset).numpy().T
    assert shifted == pytest.approx(later)
    assert matrix @ earlier == pytest.approx(shifted)


def test_the_product_of_two_waves_is_the_sum_that_is_written() -> None:
    latex, d_model, apart = FORMULAS["model.positions.wave_product"].latex, 12, 5
    first, of_d, less = re.search(r"i=(\d+)\}\^\{d_\{.*?\}/(\d+)-(\d+)\}.* \\cos", latex).groups()
    terms = np.arange(int(first), d_model // int(of_d) - int(less) + 1)
    table = sinusoidal_encoding(torch.arange(9), d_model).numpy()
    summed = np.cos(apart * 10000.0 ** (-2 * terms / d_model)).sum()
    assert table[3] @ table[3 + apart] == pytest.approx(summed, abs=1e-5)


def test_attention_is_written_as_the_head_has_it() -> None:
    usual, known = (
        attention(("scaled", "masked", "weights"), scale=None, has_mask=True),
        FORMULAS["model.attention.scaled_dot_product"],
    )
    assert (usual.latex, usual.reference) == (known.latex, known.reference)
    biased = attention(("biased",), scale=None, has_mask=True)
    assert "+ B + M" in biased.latex
    assert "B: the bias" in biased.reference
    plain = attention((), scale=1.0, has_mask=False)
    assert "sqrt" not in plain.latex and "M" not in plain.latex
    assert "not scaled" in plain.reference
    assert "0.5\\,QK" in attention((), scale=0.5, has_mask=True).latex
    bent = attention(("biased", "capped", "sunk", "edited"), scale=1.0, has_mask=True)
    assert r"c \tanh\frac{QK^{\top} + B}{c} + M\,;\ s_{\mathrm{sink}}" in bent.latex
    for words in ("Gemma 2 (2024), §2", "Xiao et al. 2024, §3.3", "not known: edited"):
        assert words in bent.reference


def test_a_mask_with_the_causal_one_has_both_conditions() -> None:
    assert r"0 & (j < \mathrm{length}) \ \text{ and } \ j \le i \\ -\infty" in with_causal(
        "model.masks.padding"
    )


def test_a_formula_may_go_on_in_the_next_line_between_its_parts() -> None:
    assert breakable(r"a = b,\qquad c") == r"a = b,\qquad\allowbreak c"
