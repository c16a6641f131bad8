"""Protects the other architectures: equal weights give what torch and Hugging Face give."""

import torch
from torch import Tensor
from transformers import (
    BertConfig,
    BertModel,
    MarianConfig,
    MarianMTModel,
    ViTConfig,
    ViTForImageClassification,
)

from model.masks import padding
from model.tap import Recorder, attach
from tests.model.builders import normal, randomise, tiny_encoder, tiny_translator, tiny_vision
from tests.model.peers import bert_weights, marian_weights, vit_weights

LENGTHS = torch.tensor([7, 4])  # the second sentence is padded
SOURCE, TARGET = (
    torch.tensor([[3, 1, 4, 1, 5, 9, 2], [6, 5, 3, 5, 8, 9, 7]]),
    torch.tensor([[9, 3, 2, 3], [8, 4, 6, 2]]),
)
MASK = padding(LENGTHS, 7)
TORCH = {"feedforward": "relu", "scale_embeddings": True}


def close(actual: Tensor, expected: Tensor) -> None:
    """Equal to 1e-5 of values that are not all small."""
    assert expected.abs().max() > 0.1
    torch.testing.assert_close(actual, expected, atol=1e-5, rtol=1e-5)


def test_bert_gives_the_same_stream_and_patterns() -> None:
    """Its blocks behind its own embeddings, whose norm and kinds of sentence we do not have."""
    config = BertConfig(
        vocab_size=17, hidden_size=30, num_hidden_layers=2, num_attention_heads=3,
        intermediate_size=13, max_position_embeddings=11, layer_norm_eps=1e-5,
        attn_implementation="eager",
    )  # fmt: skip
    theirs = randomise(BertModel(config, add_pooling_layer=False), seed=1)
    ours = tiny_encoder(position="none", norm_placement="post")
    ours.load_state_dict(bert_weights(theirs.state_dict(), list(ours.state_dict())), strict=False)
    ours.embed = theirs.embeddings
    found = theirs(SOURCE, attention_mask=MASK[:, 0, 0].long(), output_attentions=True)
    recorder = Recorder({"pattern"})
    stream = ours.stream(SOURCE, mask=MASK, tap=attach(recorder))
    for row, length in enumerate(LENGTHS):
        close(stream[row, :length], found.last_hidden_state[row, :length])
        for pattern, expected in zip(recorder.values.values(), found.attentions, strict=True):
            close(pattern[row, :, :length], expected[row, :, :length])


def test_marian_gives_the_same_logits_and_all_three_kinds_of_pattern() -> None:
    config = MarianConfig(
        vocab_size=17, d_model=30, encoder_layers=3, decoder_layers=2, encoder_attention_heads=3,
        decoder_attention_heads=3, encoder_ffn_dim=13, decoder_ffn_dim=13,
        activation_function="relu", scale_embedding=True, max_position_embeddings=11,
        pad_token_id=0, decoder_start_token_id=1, eos_token_id=2, attn_implementation="eager",
    )  # fmt: skip
    theirs = randomise(MarianMTModel(config), seed=1)
    theirs.tie_weights()
    ours = tiny_translator(position="learned", norm_placement="post", **TORCH)
    names = [name for name in ours.state_dict() if name not in ours.tied_weights]
    tables = [f"{stack}.position.table.weight" for stack in ("encoder", "decoder")]
    weights = marian_weights(theirs.state_dict(), [*names, "decoder.embed.weight"])
    assert set(tables) <= weights.keys()
    ours.load_state_dict(weights)
    found = theirs(
        input_ids=SOURCE, attention_mask=MASK[:, 0, 0].long(), decoder_input_ids=TARGET,
        output_attentions=True,
    )  # fmt: skip
    recorder = Recorder({"pattern"})
    close(ours(SOURCE, TARGET, source_mask=MASK, tap=attach(recorder)), found.logits)
    groups = {
        "encoder.blocks.{}.attn": found.encoder_attentions,
        "decoder.blocks.{}.attn": found.decoder_attentions,
        "decoder.blocks.{}.cross_attn": found.cross_attentions,
    }
    for address, patterns in groups.items():
        for layer, expected in enumerate(patterns):
            pattern = recorder.values[f"{address.format(layer)}.pattern"]
            close(pattern[0], expected[0])


def test_vit_gives_the_same_classes_and_patterns() -> None:
    config = ViTConfig(
        image_size=12, patch_size=4, num_channels=1, hidden_size=30, num_hidden_layers=2,
        num_attention_heads=3, intermediate_size=13, num_labels=5, layer_norm_eps=1e-5,
        attn_implementation="eager",
    )  # fmt: skip
    theirs = randomise(ViTForImageClassification(config), seed=1)
    ours = tiny_vision()
    ours.load_state_dict(vit_weights(theirs.state_dict(), list(ours.state_dict())))
    images, recorder = normal(3, 12, 12), Recorder({"pattern"})
    found = theirs(images[:, None], output_attentions=True)
    close(ours(images, tap=attach(recorder)), found.logits)
    for pattern, expected in zip(recorder.values.values(), found.attentions, strict=True):
        close(pattern, expected)
