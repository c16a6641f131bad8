"""Protects what is counted and timed of whole passes: every architecture, at every length."""

from pathlib import Path

import pytest
import torch

from model.analysis import cost_timing
from model.analysis.cost_measured import Measured
from model.analysis.cost_timing import (
    ASKED,
    PASS,
    Alive,
    Counted,
    counted,
    lengths_of,
    pass_over,
    rounds,
    time_passes,
)
from model.analysis.sizes import parameters, pass_operations, shape_of
from model.analysis.timing import Timing
from model.architectures.base import Transformer
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


def counts(model: Transformer, n_tokens: int) -> Counted:
    """What torch counts of one pass."""
    (found,) = (item for item in counted(model, n_tokens) if isinstance(item, Counted))
    return found


@pytest.mark.parametrize("make", MADE.values(), ids=list(MADE))
def test_the_sizes_say_what_torch_counts(make: object) -> None:
    model = make()  # type: ignore[operator]
    shape = shape_of(model.config)
    assert sum(parameters(shape).values()) == sum(x.numel() for x in model.parameters())
    for n in lengths_of(model):
        found = counts(model, n)
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


def test_the_length_left_out_comes_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cost_timing, "ROUNDS", 6)
    model = tiny_model()
    lengths = lengths_of(model)
    asked = lengths[2]
    timings = list(time_passes(model, asked))
    assert [item.progress for item in timings] == sorted(item.progress for item in timings)
    assert timings[-1].progress == pytest.approx(1)
    ways = [item.way for item in timings]
    assert ways.index(ASKED) > max(at for at, way in enumerate(ways) if way == PASS)
    found = rounds(timings, PASS)
    assert list(found) == [n for n in lengths if n != asked]
    assert {len(times) for times in found.values()} == {6}
    assert {n: len(times) for n, times in rounds(timings, ASKED).items()} == {asked: 6}
    measured = Measured.of(shape_of(model.config), timings)
    assert measured is not None
    assert measured.lengths == [*found, asked]
    assert measured.predicted.shape == (2, 3)
    assert Measured.of(shape_of(model.config), timings[:-6]) is None


@pytest.mark.parametrize("budget_s", [1e-9, 1e9])
def test_progress_rises_to_one_whatever_the_passes_take(
    budget_s: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cost_timing, "ROUNDS", 7)
    model = tiny_model()
    timings = list(time_passes(model, lengths_of(model)[-1], budget_s=budget_s))
    progress = [item.progress for item in timings]
    assert progress == sorted(progress)
    assert 0 < progress[0] < progress[-1] == pytest.approx(1)
    n_rounds = {len(times) for times in rounds(timings, PASS).values()}
    if budget_s < 1e-8:
        assert n_rounds == {cost_timing.LEAST_ROUNDS}
    if budget_s > 1:
        assert n_rounds == {7}


def test_a_length_that_is_none_of_them_is_refused() -> None:
    with pytest.raises(ValueError, match="9999 tokens cannot be asked for"):
        next(time_passes(tiny_model(), 9999))


def test_a_round_that_was_cut_short_does_not_count() -> None:
    timings = [Timing(PASS, n, 1.0) for n in (4, 8, 4)]
    assert rounds(timings, PASS) == {4: [1.0], 8: [1.0]}
    assert rounds(timings, ASKED) == {}
