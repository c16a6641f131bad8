"""Protects the objectives of the other architectures: batches, losses, and that they learn."""

import math
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from model.data.images import Images
from model.data.pairs import Pairs
from model.data.text import Corpus
from model.data.tokenizer import MASK, PADDING, START_OF_TEXT, train_characters
from model.decoding.translation import target_text, translated
from model.sources import checkpoint
from model.tap import Recorder, attach
from model.training.objectives import OBJECTIVES
from model.training.objectives.base import IGNORED, accuracy
from model.training.objectives.images import ImageClasses, whole_batches
from model.training.objectives.masked import MaskedTokens, hidden_windows, hide
from model.training.objectives.translation import Translation, examples_of
from model.training.plan import Plan, Stage
from model.training.run import train
from model.training.runs import read_frames
from tests.model.builders import (
    STACK_SIZES,
    tiny_encoder,
    tiny_translator,
    tiny_vision,
)
from tests.model.training.builders import CPU, Crash, assert_same_run, toy_recipe

LETTERS = train_characters(["abcdefg"], (START_OF_TEXT, PADDING, MASK))
SIZES = {name: x for name, x in STACK_SIZES.items() if name != "n_layers"} | {"n_layers": 1}
PLAN = Plan((Stage(steps=3, seq_len=10), Stage(steps=5, seq_len=10)), 40, 0, label_smoothing=0.1)


def reversals(n: int, seed: int = 0) -> Pairs:
    """Texts of 2 to 6 letters, and the same from their end."""
    draw = np.random.default_rng(seed)
    sources = ["".join(draw.choice(list("abcdefg"), draw.integers(2, 7))) for _ in range(n)]
    return Pairs(sources, [text[::-1] for text in sources])


def pictures(n: int, seed: int = 0) -> Images:
    """Noise with a bright half: class 0 above, 1 below, 2 left, 3 right."""
    draw = np.random.default_rng(seed)
    labels = draw.integers(0, 4, n)
    images = draw.integers(0, 60, (n, 12, 12))
    halves = [np.s_[:6], np.s_[6:], np.s_[:, :6], np.s_[:, 6:]]
    for image, label in zip(images, labels, strict=True):
        image[halves[label]] += 150
    return Images(images.astype(np.uint8), labels)


DATA: dict[str, Any] = {
    "masked": Corpus(["abcdefg" * 40], {"held": "abcdefg" * 40}),
    "translation": Pairs(reversals(60).sources, reversals(60).targets, {"held": reversals(9, 1)}),
    "images": Images(pictures(50).images, pictures(50).labels, {"held": pictures(20, 1)}),
}
MODELS: dict[str, dict[str, Any]] = {
    "masked": {"architecture": "encoder", "max_seq_len": 14},
    "translation": {"architecture": "encoder_decoder", "max_seq_len": 11},
    "images": {
        "architecture": "vision", "image_size": 12, "patch_size": 4, "n_classes": 5,
    },
}  # fmt: skip


def recipe_of(name: str, **changes: Any) -> Any:  # noqa: ANN401
    """Eight small steps of an objective, averaging the last three pairs of them."""
    fields = {
        "objective": name,
        "tokenizer": "none" if name == "images" else "characters",
        "model": SIZES | MODELS[name] | {"dropout": 0.1},
        "stages": PLAN.stages,
        "batch_tokens": 40,
        "label_smoothing": 0.1,
        "optimizer": "adam",
        "schedule": "noam",
        "initialisation": "xavier",
        "average_last": 3,
        "average_every": 2,
    }
    return toy_recipe(**fields | changes)


def trained(out: Path, name: str, **options: Any) -> list[Any]:  # noqa: ANN401
    """Train to the end, or as far as the options allow."""
    return list(train(recipe_of(name), DATA[name], out, device=CPU, **options))


@pytest.mark.parametrize("probes", ["", "abc\tcba\nbe\teeb"])
def test_of_a_translation_cross_attention_is_watched(probes: str, tmp_path: Path) -> None:
    recipe = recipe_of("translation", probes=probes)
    list(train(recipe, DATA["translation"], tmp_path, device=CPU))
    loaded = checkpoint.load(tmp_path, device="cpu")  # the mean of the last weights
    tokenizer, held_out = loaded.tokenizer, DATA["translation"].held_out["held"]
    pairs = [line.split("\t") for line in probes.splitlines()]
    pairs = pairs or [(held_out.sources[0], held_out.targets[0])]
    every = read_frames(tmp_path)
    for frames, (source, target) in zip(every, pairs, strict=True):
        source_ids = [*tokenizer.encode(source), tokenizer.end_id]
        target_ids = [tokenizer.id_of(START_OF_TEXT), *tokenizer.encode(target)]
        assert frames.text == source
        assert frames.keys == tokenizer.token_strings(source_ids)
        assert frames.queries == tokenizer.token_strings(target_ids)
        recorder = Recorder(["pattern"])
        loaded.model(
            source_ids=torch.tensor([source_ids]),
            target_ids=torch.tensor([target_ids]),
            tap=attach(recorder),
        )
        expected = recorder.values["decoder.blocks.0.cross_attn.pattern"]  # (1, H, Tq, Tk)
        np.testing.assert_allclose(frames.patterns[-1], expected.detach(), atol=6e-4)
        assert frames.mask.all()


def test_of_an_encoder_all_tokens_are_watched(tmp_path: Path) -> None:
    list(train(recipe_of("masked"), DATA["masked"], tmp_path, device=CPU))
    (frames,) = read_frames(tmp_path)
    loaded = checkpoint.load(tmp_path, device="cpu")  # the mean of the last weights
    text = DATA["masked"].held_out["held"][:14]
    (layer,) = loaded.trace(text).trace.attention
    np.testing.assert_allclose(frames.patterns[-1], layer.pattern[None], atol=6e-4)
    assert frames.mask.all()


@pytest.mark.parametrize("probes", ["abc", "abc\t ", "abc\t" + "a" * 12])
def test_a_probe_that_is_no_pair_is_refused(probes: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="of probes"):
        list(train(recipe_of("translation", probes=probes), DATA["translation"], tmp_path))


@pytest.mark.parametrize("name", DATA)
def test_batches_after_some_steps_are_those_that_were_still_to_come(name: str) -> None:
    objective = OBJECTIVES[name](None if name == "images" else LETTERS, DATA[name], PLAN)
    batches = list(objective.batches(0))
    assert len(batches) == 8
    for steps_done in (1, 3, 7, 8):
        rest = list(objective.batches(steps_done))
        for batch, expected in zip(rest, batches[steps_done:], strict=True):
            assert torch.equal(batch.targets, expected.targets)
            for key, value in expected.inputs.items():
                assert torch.equal(batch.inputs[key], value)
    assert not torch.equal(batches[0].targets, batches[1].targets)
    counts = [objective.tokens_until(step) for step in range(9)]
    assert counts == sorted(set(counts))


@pytest.mark.parametrize("name", DATA)
def test_resuming_is_bit_for_bit(name: str, tmp_path: Path) -> None:
    """Dropout, hidden tokens, jitter and the sums of weights to be averaged go on as they would."""
    trained(tmp_path / "whole", name)
    with pytest.raises(RuntimeError, match="a crash"):
        trained(tmp_path / "again", name, observers=[Crash(7)])
    trained(tmp_path / "again", name, resume=True)
    assert_same_run(tmp_path / "again", tmp_path / "whole")


def test_the_checkpoint_is_the_mean_of_the_last_weights(tmp_path: Path) -> None:
    """After steps 4, 6 and 8, of eight."""
    kept = {}
    for steps in (4, 6, 8):
        recipe = recipe_of("images", stages=(Stage(steps=steps, seq_len=10),), average_last=0)
        list(train(recipe, DATA["images"], tmp_path / str(steps), device=CPU))
        kept[steps] = checkpoint.load(tmp_path / str(steps)).model.state_dict()
    recipe = recipe_of("images", stages=(Stage(steps=8, seq_len=10),))
    list(train(recipe, DATA["images"], tmp_path / "mean", device=CPU))
    for name, weight in checkpoint.load(tmp_path / "mean").model.state_dict().items():
        mean = sum(weights[name] for weights in kept.values()) / 3
        torch.testing.assert_close(weight, mean, atol=2e-3, rtol=0)
        assert name != "unembed.weight" or not torch.equal(weight, kept[8][name])


def test_fifteen_percent_are_chosen_and_most_of_them_hidden() -> None:
    ids = torch.randint(
        5, LETTERS.vocab_size, (400, 50), generator=torch.Generator().manual_seed(0)
    )
    ids[:, 0] = LETTERS.end_id
    batch = hide(ids, LETTERS, torch.Generator().manual_seed(1))
    given, chosen = batch.inputs["ids"], batch.targets != IGNORED
    assert not chosen[:, 0].any(), "the end of a text is no token to guess"
    assert chosen[:, 1:].float().mean() == pytest.approx(0.15, abs=0.01)
    assert torch.equal(batch.targets[chosen], ids[chosen])
    assert torch.equal(given[~chosen], ids[~chosen])
    hidden = (given == LETTERS.id_of(MASK))[chosen].float().mean()
    kept = (given == ids)[chosen].float().mean()
    n_others = LETTERS.vocab_size - 4  # special tokens are never put in
    assert hidden == pytest.approx(0.8, abs=0.02)
    assert kept == pytest.approx(0.1 + 0.1 / n_others, abs=0.02)
    swapped = given[chosen][(given != ids)[chosen] & (given != LETTERS.id_of(MASK))[chosen]]
    assert not any(LETTERS.is_added(i) for i in swapped.tolist())
    assert len(Counter(swapped.tolist())) == n_others


def test_a_batch_always_has_something_to_predict() -> None:
    """Of 8 tokens none is chosen in 27 % of the draws."""
    ids = torch.full((1, 8), LETTERS.encode("a")[-1])
    for seed in range(50):
        assert (hide(ids, LETTERS, torch.Generator().manual_seed(seed)).targets != IGNORED).any()
    with pytest.raises(ValueError, match="8 tokens has no token but the end of a text"):
        hide(torch.full((1, 8), LETTERS.end_id), LETTERS, torch.Generator())


def test_a_text_is_scored_behind_masks_alone_and_always_the_same_ones() -> None:
    one, two = (list(hidden_windows(LETTERS, "abcdefg" * 20, 14)) for _ in range(2))
    for batch, again in zip(one, two, strict=True):
        assert torch.equal(batch.targets, again.targets)
        chosen = batch.targets != IGNORED
        assert (batch.inputs["ids"][chosen] == LETTERS.id_of(MASK)).all()


def test_loss_of_the_masked_is_that_of_all_logits() -> None:
    model = tiny_encoder(vocab_size=LETTERS.vocab_size, max_seq_len=14)
    objective = MaskedTokens(LETTERS, DATA["masked"], PLAN)
    batch = next(objective.batches(0))
    logits = model(**batch.inputs)
    expected = F.cross_entropy(
        logits.flatten(0, 1), batch.targets.flatten(), ignore_index=IGNORED, label_smoothing=0.1
    )
    torch.testing.assert_close(objective.loss(model, batch), expected)


def test_loss_of_a_translation_leaves_padding_out() -> None:
    model = tiny_translator(vocab_size=LETTERS.vocab_size)
    objective = Translation(LETTERS, DATA["translation"], PLAN)
    pairs = objective.stages[0][1].pairs
    batch = examples_of(pairs, [0, 1, 2])
    losses = []
    for row in range(3):
        source = torch.tensor([pairs.sources[row]])
        target = torch.tensor([pairs.targets[row]])
        log_probs = model(source, target[:, :-1])[0].log_softmax(dim=-1)
        right = log_probs[range(target.shape[1] - 1), target[0, 1:]]
        losses += (-0.9 * right - 0.1 * log_probs.mean(dim=-1)).tolist()
    assert objective.loss(model, batch).item() == pytest.approx(sum(losses) / len(losses), abs=1e-4)


def test_accuracy_counts_what_is_right() -> None:
    model, data = tiny_vision(), pictures(30)
    images, labels = data.tensors()
    right = (model(images).argmax(dim=-1) == labels).float().mean().item()
    found = accuracy(model, whole_batches(data, batch_size=7))
    assert (found.accuracy, found.targets) == (pytest.approx(right), 30)
    assert found.loss == pytest.approx(F.cross_entropy(model(images), labels).item(), abs=1e-5)


def test_each_picture_comes_once_per_epoch() -> None:
    data = pictures(50)
    data.labels[:] = np.arange(50)
    objective = ImageClasses(None, data, Plan((Stage(steps=25, seq_len=10),), 40, seed=0))
    seen = [batch.targets.tolist() for batch in objective.batches(0)]
    flat = [label for labels in seen for label in labels]
    assert sorted(flat[:50]) == sorted(flat[50:]) == list(range(50))
    assert flat[:50] != flat[50:]


LEARNERS = {
    "masked": {"steps": 250, "needed": 0.85},
    "translation": {"steps": 400, "needed": 0.85},
    "images": {"steps": 150, "needed": 0.9},
}


@pytest.mark.nightly
@pytest.mark.parametrize("name", LEARNERS)
def test_a_toy_is_learnt(name: str, tmp_path: Path) -> None:
    """What comes next in a circle of letters, a word from its end, and which half is bright."""
    data = DATA[name]
    if name == "translation":
        some = reversals(2000)
        data = Pairs(some.sources, some.targets, {"held": reversals(100, 1)})
    recipe = recipe_of(
        name,
        model=SIZES | MODELS[name] | {"d_model": 36, "d_ff": 72},
        stages=(Stage(steps=LEARNERS[name]["steps"], seq_len=10),),
        batch_tokens=400,
        label_smoothing=0.0,
        matrix_lr=0.01,
        other_lr=0.01,
        warmup_steps=50,
        log_every=50,
        evaluate_every=500,
        average_every=5,
        save_every=500,
    )
    *_, last = train(recipe, data, tmp_path, device=CPU)
    assert last.held_out["held"].accuracy >= LEARNERS[name]["needed"]
    if name == "translation":
        loaded = checkpoint.load(tmp_path)
        texts = reversals(20, 2).sources
        found = [translated(loaded.model, loaded.tokenizer, x, beam_width=2) for x in texts]
        right = [
            target_text(loaded.tokenizer, y) == x[::-1] for x, y in zip(texts, found, strict=True)
        ]
        assert sum(right) >= 10


@pytest.mark.parametrize(
    ("name", "changes", "message"),
    [
        ("images", {"tokenizer": "bpe"}, "tokenizer is 'bpe'; the objective 'images' reads none"),
        ("masked", {"tokenizer": "none"}, "tokenizer is 'none'; the objective 'masked' reads text"),
        ("masked", {"model": SIZES | {"max_seq_len": 14}},
         "'masked' trains the architecture 'encoder', but .model. is a 'decoder'"),
        ("images", {"model": SIZES | MODELS["images"] | {"n_classes": 2}},
         "a picture is of class [23] but the model has n_classes 2; raise it"),
        ("images", {"model": SIZES | MODELS["images"] | {"image_size": 16}},
         r"shape \(4, 12, 12\); expected \(B, 16, 16\)"),
        ("translation", {"stages": (Stage(steps=5, seq_len=5),)}, "the stage has seq_len 5"),
    ],
)  # fmt: skip
def test_recipes_that_do_not_fit_are_refused(
    name: str, changes: dict[str, Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=message):
        list(train(recipe_of(name, **changes), DATA[name], tmp_path, device=CPU))


def test_noam_rises_and_falls_as_a_root() -> None:
    recipe = recipe_of("masked", warmup_steps=4)
    shares = [recipe.lr_share(step) for step in (0, 1, 3, 15, 399)]
    assert shares == pytest.approx([0.25, 0.5, 1, math.sqrt(4 / 16), 0.1])


def test_a_tokenizer_of_a_checkpoint_keeps_its_ids(tmp_path: Path) -> None:
    recipe = recipe_of("masked", tokenizer="bpe", tokenizer_of="stories", average_last=0)
    data = Corpus(["Once upon a time, there was a little cat. " * 20], {"held": "the cat " * 20})
    list(train(recipe, data, tmp_path, device=CPU))
    ours, stories = checkpoint.load(tmp_path).tokenizer, checkpoint.load("stories").tokenizer
    text = "The cat sat on the mat, didn't it? <|endoftext|> [MASK]"
    assert ours.encode(text) == stories.encode(text), "and what looks like a mask is text"
    assert (ours.vocab_size, ours.id_of(MASK)) == (4097, 4096)
    with pytest.raises(ValueError, match=r"has no \[MASK\] token"):
        stories.id_of(MASK)


def test_a_run_begins_with_the_weights_of_a_checkpoint(tmp_path: Path) -> None:
    """An encoder with those of a decoder of its sizes: one more row for [MASK], the rest equal."""
    sizes = checkpoint.load("stories").config.to_dict()
    ours = {name: sizes[name] for name in ("d_model", "n_layers", "n_heads", "d_ff", "position")}
    model = ours | {"architecture": "encoder", "max_seq_len": 32, "tied_embeddings": True}
    recipe = recipe_of(
        "masked",
        tokenizer="bpe",
        tokenizer_of="stories",
        weights_of="stories",
        average_last=0,
        model=model | {"bias": False, "feedforward": "gelu", "norm": "layer"},
        matrix_lr=1e-9,
        other_lr=1e-9,
        stages=(Stage(steps=1, seq_len=10),),
    )
    data = Corpus(["Once upon a time, there was a little cat. " * 20], {"held": "the cat " * 20})
    list(train(recipe, data, tmp_path, device=CPU))
    found = dict(checkpoint.load(tmp_path).model.named_parameters())
    given = dict(checkpoint.load("stories").model.named_parameters())
    assert given.keys() == found.keys()
    for name, weight in given.items():
        torch.testing.assert_close(found[name][: len(weight)], weight, rtol=1e-3, atol=1e-5)
    assert len(found["embed.weight"]) == 4097


def test_weights_of_other_sizes_are_refused(tmp_path: Path) -> None:
    recipe = recipe_of("masked", tokenizer="bpe", tokenizer_of="stories", weights_of="stories")
    data = Corpus(["Once upon a time, there was a little cat. " * 20], {"held": "the cat " * 20})
    with pytest.raises(ValueError, match=r"weights_of: .* has shape .* there; give a checkpoint"):
        list(train(recipe, data, tmp_path, device=CPU))


def test_weights_without_their_tokenizer_are_refused() -> None:
    with pytest.raises(ValueError, match="weights_of is 'stories' but tokenizer_of is ''"):
        recipe_of("masked", tokenizer="bpe", weights_of="stories")
