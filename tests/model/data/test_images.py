"""Protects pictures: what a file may hold, and that small changes are the ones asked for."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from model.data.images import LARGEST_SHIFT, jittered, moved, read_images
from tests.model.builders import normal

IMAGES, LABELS = np.arange(2 * 36, dtype=np.uint8).reshape(2, 6, 6), np.array([4, 0], np.uint8)
STILL, NO_SHIFT, ONE = torch.zeros(1), torch.zeros(1, 2), torch.ones(1)


def archive(path: Path, **changes: Any) -> Path:  # noqa: ANN401
    """An .npz file of two pictures a part; None leaves an array out."""
    arrays = {
        "train_images": IMAGES, "train_labels": LABELS,
        "test_images": IMAGES[:1], "test_labels": LABELS[:1],
    } | changes  # fmt: skip
    np.savez(path, **{name: x for name, x in arrays.items() if x is not None})
    return path


def test_a_file_is_read_part_by_part(tmp_path: Path) -> None:
    path = archive(tmp_path / "a.npz")
    found = read_images([path], [path])
    assert found.labels.tolist() == [4, 0]
    assert found.held_out["a"].labels.tolist() == [4]
    images, labels = found.tensors([1, 0])
    assert labels.tolist() == [0, 4]
    torch.testing.assert_close(images[1], torch.arange(36.0).view(6, 6) / 255)
    changed = IMAGES.copy()
    changed[1, 5, 5] += 1
    other = read_images([archive(tmp_path / "b.npz", train_images=changed)])
    assert other.digest != found.digest
    assert found.texts == []


def test_without_held_out_files_the_last_twelfth_is_kept_apart(tmp_path: Path) -> None:
    labels = np.arange(25, dtype=np.uint8)
    pictures = np.broadcast_to(labels[:, None, None], (25, 6, 6))  # each is of its own label
    found = read_images([archive(tmp_path / "a.npz", train_images=pictures, train_labels=labels)])
    assert found.labels.tolist() == list(range(23))
    validation = found.held_out["validation"]
    assert validation.labels.tolist() == [23, 24]
    for part in (found, validation):
        assert part.images[:, 0, 0].tolist() == part.labels.tolist()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"train_labels": None}, "it has no train_labels; give an .npz file with train_images"),
        ({"train_images": IMAGES[:, :5]}, r"shape \(2, 5, 6\) .*expected \(N, S, S\)"),
        ({"train_labels": LABELS[:1]}, r"train_labels \(1,\); expected"),
        ({"train_images": IMAGES.astype(float)}, "pictures are float64"),
        ({"train_labels": np.array([-1, 0])}, "whole numbers from 0"),
        ({"train_images": IMAGES[:0], "train_labels": LABELS[:0]}, "N at least 1"),
        ({"train_labels": np.array([{}, {}])}, "holds no pictures to use: .*allow_pickle"),
    ],
)
def test_odd_files_are_refused(changes: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=message):
        read_images([archive(tmp_path / "a.npz", **changes)])


def test_what_is_no_archive_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.npz").write_text("nothing of the kind")
    (tmp_path / "cut.npz").write_bytes(archive(tmp_path / "b.npz").read_bytes()[:200])
    for name in ("a.npz", "cut.npz", "missing.npz"):
        with pytest.raises(ValueError, match=rf"{name} holds no pictures to use"):
            read_images([tmp_path / name])
    with pytest.raises(ValueError, match="2 files of pictures"):
        read_images([tmp_path / "b.npz"] * 2)


def test_standing_still_changes_nothing() -> None:
    images = normal(3, 7, 7)
    still = moved(images, torch.zeros(3), torch.ones(3), torch.zeros(3, 2))
    torch.testing.assert_close(still, images, atol=1e-5, rtol=0)


def test_a_shift_goes_right_and_down() -> None:
    image = torch.zeros(1, 9, 9)
    image[0, 3, 4] = 1
    shifted = moved(image, STILL, ONE, torch.tensor([[2.0, 1.0]]))
    assert shifted[0, 4, 6] == pytest.approx(1, abs=1e-5)
    assert shifted.sum() == pytest.approx(1, abs=1e-4)


def test_a_quarter_turn_is_numpy_s() -> None:
    image = normal(1, 8, 8)
    turned = moved(image, torch.tensor([math.pi / 2]), ONE, NO_SHIFT)[0].numpy()
    candidates = [np.rot90(image[0].numpy(), k) for k in (1, -1)]
    assert min(np.abs(turned - x).max() for x in candidates) < 1e-4


def test_growing_spreads_the_middle() -> None:
    image = torch.zeros(1, 9, 9)
    image[0, 3:6, 3:6] = 1
    grown = moved(image, STILL, torch.tensor([1.5]), NO_SHIFT)
    assert grown.sum() > 1.8 * image.sum()
    assert grown[0, 4, 4] == pytest.approx(1, abs=1e-5)


def test_jitter_is_small_different_for_each_and_the_same_for_a_seed() -> None:
    image = torch.zeros(1, 28, 28)
    image[0, 12:16, 12:16] = 1
    images = image.expand(64, 28, 28)
    one, two = (jittered(images, torch.Generator().manual_seed(3)) for _ in range(2))
    assert torch.equal(one, two)
    assert len(one.flatten(1).unique(dim=0)) == 64
    places = torch.arange(28.0)
    middle = (one.sum(dim=1) * places).sum(dim=-1) / one.sum(dim=(1, 2))
    assert ((middle - 13.5).abs() <= LARGEST_SHIFT + 0.5).all()
    assert (one >= 0).all()
    assert (one <= 1 + 1e-6).all()
