"""Protects the page Vision: its numbers are the model's, for test digits and for drawings."""

import base64
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from model.capture import capture_image
from model.sources import checkpoint
from model.sources.checkpoint import Checkpoint
from model.sources.handle import ModelHandle
from tests.model.builders import tiny_vision
from tests.viz.apps import faultless, lines, open_page
from tests.viz.builders import live_data
from viz import runs
from viz.frame.given import shipped_digits
from viz.frame.settings import DRAWING
from viz.runs import pictures


@pytest.fixture
def model(shelf: Path) -> Checkpoint:
    """The one model the app has, small and untrained, for pictures as they are shipped."""
    sizes = {"image_size": 28, "patch_size": 4, "n_classes": 10, "position": "learned"}
    checkpoint.save(shelf / "digits", tiny_vision(**sizes), None)
    return checkpoint.load(shelf / "digits", "cpu")


def opened(**query: str) -> AppTest:
    """The page, which must have no error; every check passes."""
    return faultless(open_page("Vision", **query))


def a_drawing() -> np.ndarray:
    """A picture that is none of the shipped ones, (28, 28) bytes."""
    return np.random.default_rng(0).integers(0, 256, (28, 28)).astype(np.uint8)


def test_a_drawing_is_what_the_model_reads(model: Checkpoint) -> None:
    pixels = a_drawing()
    sent = live_data(opened(digit="3", drawing=DRAWING.text_of(pixels.tobytes())))
    trace = capture_image(model.model, pixels / np.float32(255))
    np.testing.assert_array_equal(sent["pixels"].reshape(28, 28), pixels)
    assert trace.output is not None
    np.testing.assert_allclose(sent["logits"], trace.output[0], rtol=1e-4, atol=1e-5)


def test_what_is_asked_while_drawing_is_the_same_capture(model: Checkpoint) -> None:
    opened()
    answers = pictures.answers(_handle())
    pixels = a_drawing()
    asked = {"pixels": base64.b64encode(pixels.tobytes()).decode(), "query": 9}
    found = answers.more(asked)["arrays"]
    trace = capture_image(model.model, pixels / np.float32(255))
    rows = np.stack([record.pattern[:, 9] for record in trace.attention])
    np.testing.assert_allclose(found["rows"], rows, rtol=1e-4, atol=1e-6)
    assert found["rollout"].sum() == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({}, "the picture has 0 pixels; expected 784"),
        ({"pixels": "?"}, "the picture has 0 pixels"),
        ({"pixels": 3}, "the picture has 0 pixels"),
        ({"pixels": base64.b64encode(bytes(784)).decode(), "query": 50}, "the row is 50; give"),
        ({"pixels": base64.b64encode(bytes(784)).decode(), "query": "x"}, "the row is 'x'; give"),
    ],
)
def test_what_is_no_question_is_refused(
    model: Checkpoint, asked: dict[str, object], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        pictures.Answers(_handle()).more(asked)


def test_digits_that_the_model_gets_wrong_are_counted(model: Checkpoint) -> None:
    found = shipped_digits()
    wrong = live_data(opened())["wrong"]
    answers = [
        capture_image(model.model, image / np.float32(255)).output.argmax()
        for image in found.images[:20]
    ]
    expected = [i for i, answer in enumerate(answers) if answer != found.labels[i]]
    assert [i for i in wrong if i < 20] == expected


@pytest.mark.parametrize("drawing", ["eJwDAAAAAAE=", "ä"])
def test_a_damaged_drawing_is_left_out_with_a_line(model: Checkpoint, drawing: str) -> None:
    app = opened(drawing=drawing)
    assert lines(app, "note").count("Drawing in the address is damaged; it is left out.") == 1
    assert not live_data(app)["settings"]["drawing"]


def _handle() -> ModelHandle:
    return runs.handle_of("digits", "cpu")
