"""Protects how a drawing becomes a picture like those of MNIST."""

import numpy as np
import pytest
from playwright.sync_api import Error

from tests.viz.kit.gallery import Gallery

CALL = """async ([name, width, height, values, size]) => {
    const functions = await import('/kit/parts/digit_pad/normalise.js');
    const picture = {width, height, values: Float32Array.from(values)};
    const found = functions[name](picture, size);
    return Array.from('width' in found ? found.values : found);
}"""


def called(gallery: Gallery, name: str, picture: np.ndarray, size: int = 28) -> np.ndarray:
    """What a function of the module makes of a picture (H, W)."""
    height, width = picture.shape
    return np.array(gallery.evaluate(CALL, [name, width, height, picture.ravel().tolist(), size]))


def test_ink_fills_20_pixels_about_its_centre_of_mass(gallery: Gallery) -> None:
    picture = np.zeros((252, 252))
    picture[10:210, 200:240] = 255  # high and narrow, far from the middle
    found = called(gallery, "normalised", picture).reshape(28, 28)
    rows, columns = np.nonzero(found)
    assert (np.ptp(rows) + 1, np.ptp(columns) + 1) == (20, 4)
    weights = found / found.sum()
    centre = [(weights.sum(axis=1 - axis) * np.arange(28)).sum() for axis in (0, 1)]
    np.testing.assert_allclose(centre, 13.5, atol=0.5)


def test_a_pixel_is_the_mean_of_what_it_covers(gallery: Gallery) -> None:
    """40 × 40 of noise become 20 × 20: each the mean of four."""
    picture = np.random.default_rng(0).integers(30, 256, (40, 40)).astype(float)
    found = called(gallery, "normalised", picture).reshape(28, 28)
    rows, columns = np.nonzero(found)
    part = found[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1]
    expected = picture.reshape(20, 2, 20, 2).mean(axis=(1, 3))
    np.testing.assert_allclose(part, expected, atol=0.51)


def test_no_ink_is_an_empty_picture(gallery: Gallery) -> None:
    assert not called(gallery, "normalised", np.zeros((50, 50))).any()


@pytest.mark.parametrize("is_paper_light", [True, False])
def test_ink_becomes_light_on_dark(gallery: Gallery, is_paper_light: bool) -> None:
    picture = np.full((20, 20), 230.0 if is_paper_light else 20.0)
    picture[5:8, 5:8] = 40.0 if is_paper_light else 210.0
    found = called(gallery, "lightOnDark", picture).reshape(20, 20)
    assert (found[5:8, 5:8] == 255).all()
    assert found.sum() == 9 * 255


ACROSS, DOWN = np.meshgrid(np.linspace(0, 1, 60), np.linspace(0, 1, 60))
SEVEN = np.full((60, 60), 230.0)
SEVEN[10:16, 15:45] = SEVEN[10:50, 39:45] = 45


@pytest.mark.parametrize(
    "light",
    [
        1 - 0.14 * (ACROSS + DOWN),
        1 - 0.35 * (ACROSS + DOWN),
        np.where(ACROSS > 0.6, 0.35, 1),
        1 - 0.75 / (1 + np.exp(30 * (0.55 - DOWN))),
    ],
    ids=["mild", "strong", "side", "soft edge"],
)
def test_a_shadow_is_paper(gallery: Gallery, light: np.ndarray) -> None:
    """A dark 7 on paper, part of which is lit less."""
    found = called(gallery, "lightOnDark", SEVEN * light)
    assert ((found > 24).reshape(60, 60) == (SEVEN < 100)).all()


def test_a_shadow_that_looks_like_ink_is_a_line(gallery: Gallery) -> None:
    """The tips of a dark corner are as narrow as strokes."""
    with pytest.raises(Error, match="A shadow at the edge of this picture looks like ink"):
        called(gallery, "lightOnDark", SEVEN * np.where(ACROSS + DOWN > 1.3, 0.3, 1))


DRAWN = """async color => {
    const canvas = Object.assign(document.createElement('canvas'), {width: 60, height: 60});
    const context = canvas.getContext('2d');
    context.fillStyle = color;
    context.fillRect(15, 10, 30, 6);
    context.fillRect(39, 10, 6, 40);
    const file = new File([await new Promise((done) => canvas.toBlob(done))], 'seven.png');
    const [{ Pad }, { Lifetime }] = await Promise.all(
        ['/kit/parts/digit_pad/pad.js', '/kit/lifetime.js'].map((name) => import(name)));
    let found = [];
    await new Pad(new Lifetime(), 28, (pixels) => { found = pixels; }, () => {}).load(file);
    return Array.from(found);
}"""


def test_strokes_on_nothing_are_ink_whatever_their_colour(gallery: Gallery) -> None:
    dark, white = (np.array(gallery.evaluate(DRAWN, color)) for color in ("#222", "#fff"))
    assert (dark > 0).sum() > 50
    np.testing.assert_array_equal(white, dark)
