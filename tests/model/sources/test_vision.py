"""Protects models of pictures from folders: what they are given, what is refused."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from model.adopted.pictures import FILE, Pictures
from model.sources.transformers import AdoptedVision, load
from model.tap import Editor, set_head
from tests.model.adopted.families import VISION, build, pictured
from tests.model.builders import edit_json

EXACT = 1e-5
BEFORE = {"dinov2": ("[REG0]", "[REG1]"), "deit": ("[DIST]",)}
PICTURE = np.random.default_rng(5).random((12, 12), dtype=np.float32)


def opened(folder: Path) -> AdoptedVision:
    model = load(folder, "cpu")
    assert isinstance(model, AdoptedVision)
    return model


@pytest.mark.parametrize("family", VISION)
def test_a_picture_is_run_as_transformers_runs_it(family: str, tmp_path: Path) -> None:
    model = opened(pictured(tmp_path, family))
    trace = model.trace(PICTURE).trace
    mean, std = (np.reshape(x, (3, 1, 1)) for x in ([0.5, 0.4, 0.3], [0.2, 0.3, 0.4]))
    pixels = torch.tensor((np.stack([PICTURE] * 3) - mean) / std, dtype=torch.float32)[None]
    with torch.no_grad():
        expected = build(family)(pixels, output_attentions=True)
    np.testing.assert_allclose(trace.logits, expected.logits, atol=EXACT)
    for record, pattern in zip(trace.attention, expected.attentions, strict=True):
        np.testing.assert_allclose(record.pattern, pattern[0], atol=EXACT)
    before = ("[CLS]", *BEFORE.get(family, ()))
    assert trace.tokens == (*before, *(f"{row},{column}" for row in "012" for column in "012"))
    assert (trace.main.side, model.input_kind) == (3, "image")
    assert all(check.passed for check in model.check(trace))
    edits = [set_head("encoder.blocks.1.attn", 2)]
    edited = model.captured((PICTURE,), [Editor(*edits)])
    assert not np.allclose(edited.logits, trace.logits)
    assert all(check.passed for check in model.check_edited(edited, edits))


def test_a_picture_is_enlarged_as_pil_does_it(tmp_path: Path) -> None:
    found = opened(pictured(tmp_path, "vit")).trace(PICTURE[:5, :5]).trace.main.pixels
    expected = Image.fromarray(PICTURE[:5, :5]).resize((12, 12), Image.Resampling.BILINEAR)
    np.testing.assert_allclose(found, expected, atol=EXACT)


def test_where_nothing_is_said_pictures_are_those_of_vit(tmp_path: Path) -> None:
    build("vit").save_pretrained(tmp_path)
    assert opened(tmp_path).pictures == Pictures(12, 1.0, (0.5, 0.5, 0.5), (0.5, 0.5, 0.5))


@pytest.mark.parametrize(
    ("given", "line"),
    [
        ("a text", "takes a picture, not a text"),
        (PICTURE[:5], r"shape \(5, 12\); give a square one"),
        (255 * PICTURE, "beyond 0 to 1"),
        (np.full((3, 3), np.nan), "beyond 0 to 1"),
    ],
)
def test_what_is_no_picture_is_one_line(given: str | np.ndarray, line: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=line):
        opened(pictured(tmp_path, "vit")).trace(given)


def _says(file: str, **changes: object) -> Callable[[Path], None]:
    return lambda folder: edit_json(folder / file, lambda fields: fields.update(changes))


BROKEN: dict[str, tuple[Callable[[Path], None], str]] = {
    "another size": (_says(FILE, size=16), "run on pictures of 16 pixels, as its files say"),
    "no square": (_says(FILE, size={"height": 12, "width": 8}), "their size is {'height': 12"),
    "no size": (_says(FILE, size=None), "does not say how square pictures"),
    "two channels": (_says(FILE, image_mean=[0, 0]), "use the file that the model was saved with"),
    "no deviation": (_says(FILE, image_std=[1, 1, 0]), "deviation [1, 1, 0]"),
    "words": (_says(FILE, rescale_factor="much"), "could not convert string to float: 'much'"),
    "a list": (lambda folder: _write(folder / FILE, []), FILE),
    "odd patches": (_says(FILE, size=13), "13 × 13 pixels in patches of 4 make no square"),
    "too large": (_says(FILE, size=3000), "562,500 patches have 3,796,889 million weights"),
}


def _write(path: Path, content: object) -> None:
    path.write_text(json.dumps(content))


@pytest.mark.parametrize("name", BROKEN)
def test_a_folder_whose_files_lie_is_one_line(name: str, tmp_path: Path) -> None:
    change, expected = BROKEN[name]
    change(pictured(tmp_path, "vit"))
    with pytest.raises(ValueError) as caught:
        load(tmp_path, "cpu")
    line = str(caught.value)
    assert expected in line and "\n" not in line and len(line) < 800
