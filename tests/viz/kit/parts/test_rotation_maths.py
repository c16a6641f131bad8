"""Protects the rotation: hands turn in the browser as RoPE and the waves turn them in the model."""

import math

import numpy as np
import pytest
import torch

from model.positions import rope_angles, rotate_pairs, sinusoidal_encoding
from tests.viz.kit.gallery import Gallery

# One function of rotation.js, with plain lists in and out.
CALL = """async ([name, values]) => {
    const found = (await import('/kit/parts/rotation/rotation.js'))[name](...values);
    return found.map ? Array.from(found) : found;
}"""
PLACES = (0, 1, 2, 7, 63)


def in_browser(gallery: Gallery, name: str, *values: object) -> np.ndarray:
    """What one function of rotation.js makes of numbers and lists of numbers."""
    given = [_plain(value) for value in values]
    return np.array(gallery.evaluate(CALL, [name, given]))


def _plain(value: object) -> object:
    if isinstance(value, dict):
        return {name: _plain(entry) for name, entry in value.items()}
    return value.ravel().tolist() if isinstance(value, np.ndarray) else value


def sides_of(
    first: np.ndarray, second: np.ndarray, frequencies: np.ndarray, divisor: float
) -> dict[str, object]:
    """Two sides of hands as rotation.js takes them."""
    return {"first": first, "second": second, "frequencies": frequencies, "divisor": divisor}


def hands(vector: np.ndarray) -> np.ndarray:
    """The pairs of a query or key, dimensions i and i + Dh/2, as (n_pairs, 2)."""
    return np.stack(np.split(vector, 2), axis=-1)


def rope_frequencies(d_head: int, base: float) -> np.ndarray:
    """What each pair turns by from one position to the next."""
    return base ** (-np.arange(0, d_head, 2) / d_head)


def rotated(vector: np.ndarray, position: int, base: float) -> np.ndarray:
    """A query or key as the model turns it, in float64."""
    angles = rope_angles(torch.tensor([position]), len(vector), base)
    return rotate_pairs(torch.tensor(vector)[None, None, None], angles)[0, 0, 0].numpy()


@pytest.mark.parametrize("d_head", [2, 6, 14, 34])
@pytest.mark.parametrize("base", [10_000.0, 37.0])
def test_hands_turn_as_rope_does(d_head: int, base: float, gallery: Gallery) -> None:
    query, key = np.random.default_rng(d_head).normal(size=(2, d_head))
    frequencies = rope_frequencies(d_head, base)
    for position in PLACES:
        found = in_browser(gallery, "turnedAll", hands(query), frequencies, position)
        assert found.reshape(-1, 2) == pytest.approx(
            hands(rotated(query, position, base)), abs=1e-5
        )
    for m, n in ((0, 0), (7, 1), (1, 63), (63, 2)):
        score = rotated(query, m, base) @ rotated(key, n, base) / math.sqrt(d_head)
        sides = sides_of(hands(query), hands(key), frequencies, math.sqrt(d_head))
        assert in_browser(gallery, "scoreAt", sides, m, n) == pytest.approx(score, abs=1e-5)
        shares = in_browser(gallery, "sharesAt", sides, m, n)
        assert shares.sum() == pytest.approx(score, abs=1e-5)


@pytest.mark.parametrize("d_model", [2, 6, 50])
def test_hands_are_the_sinusoidal_encoding(d_model: int, gallery: Gallery) -> None:
    """A hand (1, 0) ends at (cos, sin): the odd and the even dimension of its pair."""
    encodings = sinusoidal_encoding(torch.arange(64), d_model).double().numpy()
    ones = np.tile([1.0, 0.0], (d_model // 2, 1))
    frequencies = rope_frequencies(d_model, 10_000.0)
    for position in PLACES:
        found = in_browser(gallery, "turnedAll", ones, frequencies, position).reshape(-1, 2)
        assert found[:, 0] == pytest.approx(encodings[position, 1::2], abs=1e-5)
        assert found[:, 1] == pytest.approx(encodings[position, 0::2], abs=1e-5)
    for m, n in ((0, 0), (7, 1), (1, 63)):
        product = encodings[m] @ encodings[n]
        found = in_browser(gallery, "scoreAt", sides_of(ones, ones, frequencies, 1), m, n)
        assert found == pytest.approx(product, abs=1e-5)


def test_the_curve_is_the_score_at_every_distance(gallery: Gallery) -> None:
    first, second = np.random.default_rng(2).normal(size=(2, 3, 2))
    frequencies = rope_frequencies(6, 100.0)
    sides = sides_of(first, second, frequencies, 2.0)
    curve = in_browser(gallery, "scoresByDistance", sides, 4)
    scores = [in_browser(gallery, "scoreAt", sides, max(d, 0), max(-d, 0)) for d in range(-4, 5)]
    assert curve == pytest.approx(np.array(scores), abs=1e-12)
    pairs = [in_browser(gallery, "scoresByDistance", sides, 4, i) for i in (0, 1, 2)]
    assert sum(pairs) == pytest.approx(curve, abs=1e-12)


def test_pairs_are_spread_evenly(gallery: Gallery) -> None:
    assert in_browser(gallery, "spread", 5, 16).tolist() == [0, 1, 2, 3, 4]
    chosen = in_browser(gallery, "spread", 128, 16)
    assert (len(chosen), chosen[0], chosen[-1]) == (16, 0, 127)
    assert set(np.diff(chosen)) <= {8, 9}


def test_angles_and_wavelengths(gallery: Gallery) -> None:
    assert in_browser(gallery, "angleBetween", [1, 0], [0, 2]) == pytest.approx(math.pi / 2)
    assert in_browser(gallery, "angleBetween", [0, 1], [3, 0]) == pytest.approx(-math.pi / 2)
    assert in_browser(gallery, "wavelength", 0.5) == pytest.approx(4 * math.pi)
    assert in_browser(gallery, "wavelength", 0) == math.inf
