"""Protects models of pictures from folders: what they are given, what is refused."""

from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from model.adopted.pictures import FILE
from model.sources.transformers import load
from model.tap import Editor
from tests.model.adopted.families import VISION, build, pictured
from tests.model.builders import edit_json, set_head

EXACT = 1e-5
BEFORE = {"dinov2": ("[REG0]", "[REG1]"), "deit": ("[DIST]",)}
PICTURE = np.random.default_rng(5).random((12, 12), dtype=np.float32)


@pytest.mark.parametrize("family", VISION)
def test_a_picture_is_run_as_transformers_runs_it(family: str, tmp_path: Path) -> None:
    model = load(pictured(tmp_path, family), "cpu")
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


def test_pictures_are_enlarged_as_pil_does_it_and_usual_where_nothing_is_said(
    tmp_path: Path,
) -> None:
    build("vit").save_pretrained(tmp_path)
    model = load(tmp_path, "cpu")
    found, pictures = model.trace(PICTURE[:5, :5]).trace.main.pixels, model.model.pictures
    expected = Image.fromarray(PICTURE[:5, :5]).resize((12, 12), Image.Resampling.BILINEAR)
    np.testing.assert_allclose(found, expected, atol=EXACT)
    assert pictures and (pictures.scale, pictures.mean, pictures.std) == (1, (0.5,) * 3, (0.5,) * 3)
    for given in (PICTURE[:5], 255 * PICTURE, np.full((3, 3), np.nan)):
        with pytest.raises(ValueError, match="no square of numbers from 0 to 1"):
            model.trace(given)
    with pytest.raises(ValueError, match="takes a picture alone"):
        model.trace("a text")


@pytest.mark.parametrize(
    ("said", "line"),
    [
        ({"size": 16}, r"image size \(16\*16\) doesn't match model \(12\*12\)"),
        ({"size": {"height": 12, "width": 8}}, "its pictures cannot be made ready: "),
        ({"image_mean": [0, 0]}, "its pictures cannot be made ready: "),
        ({"image_std": [1, 1, 0]}, r"deviation \[1.0, 1.0, 0.0\]"),
        ({"rescale_factor": "much"}, "could not convert string to float: 'much'"),
        ({"size": 13}, "13 pixels in patches of 4 make no square"),
        ({"size": 3000}, "562,500 patches have 3,796,889 million weights"),
    ],
)
def test_a_folder_whose_files_lie_is_one_line(said: dict, line: str, tmp_path: Path) -> None:
    edit_json(pictured(tmp_path, "vit") / FILE, lambda fields: fields.update(said))
    with pytest.raises(ValueError, match=line) as caught:
        load(tmp_path, "cpu")
    assert "\n" not in str(caught.value)
