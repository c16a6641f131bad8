"""Protects what is counted and timed of whole passes: every architecture, at every length."""

from pathlib import Path

import pytest
import torch

from model.analysis.cost_fit import Measured
from model.analysis.cost_timing import (
    LEAST_ROUNDS,
    PASS,
    Alive,
    counted,
    lengths_of,
    pass_over,
    time_passes,
)
from model.analysis.sizes import parameters, pass_operations, shape_of
from model.sources import checkpoint
from model.tap import NO_TAP
from tests.model.builders import (
    tiny_checkpoint,
    tiny_encoder,
    tiny_model,
    tiny_translation_checkpoint,
    tiny_translator,
    tiny_vision,
)

MADE = {
    "decoder": tiny_model,
    "grouped, gated": lambda: tiny_model(n_kv_heads=1, feedforward="swiglu", position="rope"),
    "learned, untied": lambda: tiny_model(position="learned", tied_embeddings=False, bias=True),
    "encoder": tiny_encoder,
    "translator, pre-norm": lambda: tiny_translator(norm_placement="pre", position="learned"),
    "more layers in the encoder": lambda: tiny_translator(n_encoder_layers=3),
    "vision": tiny_vision,
    "vision, no biases": lambda: tiny_vision(bias=False),
}


@pytest.mark.parametrize("make", MADE.values(), ids=list(MADE))
def test_the_sizes_say_what_torch_counts(make: object) -> None:
    model = make()  # type: ignore[operator]
    shape = shape_of(model.config)
    assert sum(parameters(shape).values()) == sum(x.numel() for x in model.parameters())
    for n in lengths_of(model):
        found = counted(model, n)
        assert found.operations == pass_operations(shape, n)
        assert found.maps == 4 * shape.n_attentions * shape.n_heads * n * n
        assert found.peak_with_maps > max(found.maps, found.peak)


def test_a_length_is_what_the_model_is_given(tmp_path: Path) -> None:
    vision = tiny_vision()
    assert [pass_over(vision, n)(NO_TAP).shape[-1] for n in lengths_of(vision)] == (
        len(lengths_of(vision)) * [vision.config.n_classes]
    )
    side = vision.config.image_size // vision.config.patch_size
    assert lengths_of(vision)[-1] == side**2 + 1 == vision.config.max_seq_len
    whole = torch.linspace(0, 1, vision.config.image_size**2)
    expected = vision(whole.reshape(1, vision.config.image_size, -1))
    torch.testing.assert_close(pass_over(vision, side**2 + 1)(NO_TAP), expected)
    decoder = checkpoint.load(tiny_checkpoint(tmp_path / "tiny"), "cpu").model
    assert pass_over(decoder, 5)(NO_TAP).shape[:2] == (1, 5)
    both = checkpoint.load(tiny_translation_checkpoint(tmp_path / "both"), "cpu").model
    assert pass_over(both, 4)(NO_TAP).shape[:2] == (1, 4)


def test_bytes_count_while_somebody_holds_them() -> None:
    with Alive() as alive:
        first = torch.ones(1000)  # 4,000 bytes
        view = first.reshape(10, 100)
        second = view * 2
        del first, view
        third = second + 1
    assert alive.peak == 8000
    assert alive.now == second.nbytes + third.nbytes == 8000
    del second
    assert alive.now == 4000


def test_the_length_left_out_comes_last() -> None:
    model = tiny_model()
    shape, lengths = shape_of(model.config), list(lengths_of(model))
    asked = lengths.pop(2)
    timings = list(time_passes(model, asked, budget_s=1e-9))
    assert [item.n_tokens for item in timings if item.way == PASS] == [
        *LEAST_ROUNDS * lengths,
        *LEAST_ROUNDS * [asked],
    ]
    progress = [item.progress for item in timings]
    assert progress == sorted(progress)
    assert 0 < progress[0] < progress[-1] == 1
    measured = Measured.of(shape, asked, timings)
    assert measured is not None
    assert measured.lengths == [*lengths, asked]
    assert list(measured.counted) == sorted(measured.lengths)
    assert {len(times) for times in measured.rounds.values()} == {LEAST_ROUNDS}
    assert measured.predicted.shape == (2, 3)
    assert Measured.of(shape, asked, timings[:-LEAST_ROUNDS]) is None


def test_a_length_that_is_none_of_them_is_refused() -> None:
    with pytest.raises(ValueError, match="9999 tokens cannot be asked for"):
        next(time_passes(tiny_model(), 9999))
