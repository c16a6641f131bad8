"""Protects encoder, encoder-decoder and vision model: who influences whom, and what is refused."""

import pytest
import torch

from model.config import EncoderDecoderConfig, VisionConfig
from tests.model.builders import tiny_encoder, tiny_translator, tiny_vision

IDS = torch.tensor([[3, 1, 4, 1, 5, 9, 2]])
TARGET = torch.tensor([[9, 3, 2, 3]])
VISION = {"d_model": 30, "n_layers": 1, "n_heads": 3, "n_classes": 5}


@pytest.mark.parametrize("tied", [True, False])
def test_both_sides_have_one_embedding(tied: bool) -> None:
    model = tiny_translator(tied_embeddings=tied)
    assert model.encoder.embed.weight is model.decoder.embed.weight
    assert (model.unembed.weight is model.encoder.embed.weight) == tied
    stored = set(model.state_dict()) - model.tied_weights
    assert ("unembed.weight" in stored) == (not tied)
    assert "encoder.embed.weight" in stored
    assert "decoder.embed.weight" not in stored


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
