"""Protects encoder, encoder-decoder and vision model: who influences whom, and what is refused."""

import pytest
import torch

from model.config import EncoderDecoderConfig, VisionConfig
from model.positions import POSITIONS
from tests.model.builders import normal, tiny_encoder, tiny_translator, tiny_vision

IDS = torch.tensor([[3, 1, 4, 1, 5, 9, 2]])
TARGET = torch.tensor([[9, 3, 2, 3]])
VISION = {"d_model": 30, "n_layers": 1, "n_heads": 3, "n_classes": 5}


def changed_places(before: torch.Tensor, after: torch.Tensor) -> list[int]:
    """Positions whose logits differ. Both (1, T, V)."""
    return ((before - after).abs().amax(dim=-1)[0] > 1e-4).nonzero()[:, 0].tolist()


@pytest.mark.parametrize("position", POSITIONS)
def test_every_token_of_an_encoder_influences_every_place(position: str) -> None:
    model = tiny_encoder(position=position)
    for place in (0, 3, 6):
        other = IDS.clone()
        other[0, place] = 16
        assert changed_places(model(IDS), model(other)) == list(range(7))


def test_without_positions_an_encoder_sees_a_set() -> None:
    model, order = tiny_encoder(position="none"), torch.tensor([4, 0, 6, 2, 5, 1, 3])
    torch.testing.assert_close(model(IDS[:, order]), model(IDS)[:, order], atol=1e-5, rtol=1e-5)
    with_waves = tiny_encoder()
    assert changed_places(with_waves(IDS[:, order]), with_waves(IDS)[:, order])


def test_a_target_sees_its_past_and_all_of_the_source() -> None:
    model = tiny_translator()
    before = model(IDS, TARGET)
    for place in range(4):
        other = TARGET.clone()
        other[0, place] = 16
        assert changed_places(before, model(IDS, other)) == list(range(place, 4))
    for place in (0, 6):
        other = IDS.clone()
        other[0, place] = 16
        assert changed_places(before, model(other, TARGET)) == list(range(4))


@pytest.mark.parametrize("tied", [True, False])
def test_both_sides_have_one_embedding(tied: bool) -> None:
    model = tiny_translator(tied_embeddings=tied)
    assert model.encoder.embed.weight is model.decoder.embed.weight
    assert (model.unembed.weight is model.encoder.embed.weight) == tied
    stored = set(model.state_dict()) - model.tied_weights
    assert ("unembed.weight" in stored) == (not tied)
    assert "encoder.embed.weight" in stored
    assert "decoder.embed.weight" not in stored


def test_the_class_depends_on_every_patch_and_on_where_it_is() -> None:
    model, images = tiny_vision(), normal(1, 12, 12)
    before = model(images)
    assert before.shape == (1, 5)
    for row in range(3):
        for column in range(3):
            other = images.clone()
            other[0, 4 * row : 4 * row + 4, 4 * column : 4 * column + 4] += 1
            assert (model(other) - before).abs().max() > 1e-3
    shuffled = torch.cat([images[:, 4:8], images[:, :4], images[:, 8:]], dim=1)
    assert (model(shuffled) - before).abs().max() > 1e-3
    blind = tiny_vision(position="none")
    torch.testing.assert_close(blind(shuffled), blind(images), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("shape", [(1, 12), (2, 12, 11), (2, 1, 12, 12)])
def test_pictures_of_another_size_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"pictures have shape .*; expected \(B, 12, 12\)"):
        tiny_vision()(torch.zeros(shape))


def test_texts_beyond_the_context_are_refused_on_both_sides() -> None:
    long = torch.zeros(1, 12, dtype=torch.long)
    for ids in (long, long[:, :0]):
        with pytest.raises(ValueError, match=f"the text has {ids.shape[1]} tokens"):
            tiny_encoder()(ids)
        with pytest.raises(ValueError, match=f"the text has {ids.shape[1]} tokens"):
            tiny_translator()(ids, TARGET)
        with pytest.raises(ValueError, match=f"the text has {ids.shape[1]} tokens"):
            tiny_translator()(IDS, ids)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"image_size": 10}, "image_size 10 is not a multiple of patch_size 4"),
        ({"patch_size": 0}, "patch_size is 0; it must be a whole number of pixels"),
        ({"image_size": "12"}, "image_size is '12'; it must be a whole number"),
        ({"max_seq_len": 9}, "max_seq_len is 9 but there are 9 patches and a class token"),
        ({"position": "rope"}, "position is 'rope'; choose one of sinusoidal, learned, none"),
        ({"n_classes": 0}, "n_classes is 0"),
    ],
)
def test_impossible_pictures_are_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        VisionConfig(**VISION | {"image_size": 12, "patch_size": 4} | change)


def test_both_depths_of_an_encoder_decoder_are_known() -> None:
    sizes = {"vocab_size": 17, "d_model": 30, "n_layers": 2, "n_heads": 3, "max_seq_len": 11}
    assert EncoderDecoderConfig(**sizes).n_encoder_layers == 2
    assert len(tiny_translator().encoder.blocks) == 3
    assert len(tiny_translator().decoder.blocks) == 2
    with pytest.raises(ValueError, match="n_encoder_layers is 0"):
        EncoderDecoderConfig(**sizes, n_encoder_layers=0)
    with pytest.raises(ValueError, match="position is 'alibi'"):
        EncoderDecoderConfig(**sizes, position="alibi")
