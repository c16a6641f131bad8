"""Protects the optimizers and schedules: which weights decay, and how fast each of them learns."""

import math

import pytest
import torch

from model.architectures.encoder_decoder import EncoderDecoderTransformer
from model.training.muon import Muon, orthogonalised
from model.training.optimizers import OPTIMIZERS, split_parameters
from model.training.plan import Stage
from model.weights import initialise_evenly
from tests.model.builders import normal, tiny_ids, tiny_model, tiny_translator
from tests.model.training.builders import toy_recipe, toy_trainer, toy_windows


def test_learning_rate_by_hand() -> None:
    """Up over 4 steps, then half a cosine over 8 down to a tenth."""
    stages = (Stage(steps=7, seq_len=7), Stage(steps=5, seq_len=11))
    recipe = toy_recipe(stages=stages, warmup_steps=4, final_lr_share=0.1)
    shares = [recipe.lr_share(step) for step in (0, 1, 2, 3, 4, 6, 8, 12, 99)]
    quarter = 0.1 + 0.9 * (1 + math.sqrt(0.5)) / 2
    assert shares == pytest.approx([0.25, 0.5, 0.75, 1, 1, quarter, 0.55, 0.1, 0.1])
    assert toy_recipe(warmup_steps=0).lr_share(0) == 1
    constant = toy_recipe(schedule="constant", warmup_steps=4)
    assert [constant.lr_share(step) for step in (0, 2, 3, 99)] == [0.25, 0.75, 1, 1]


def test_learning_rate_of_nanogpt_by_hand() -> None:
    """Its get_lr: (step + 1) / (warmup + 1), and the cosine begins where the warm-up would end."""
    recipe = toy_recipe(
        warmup_steps=100, schedule="cosine_from_peak", stages=(Stage(steps=200, seq_len=7),)
    )
    shares = [recipe.lr_share(step) for step in (0, 99, 100, 150, 200)]
    assert shares == pytest.approx([1 / 101, 100 / 101, 1, 0.5, 0])


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_each_group_follows_the_schedule_from_its_own_peak(optimizer: str) -> None:
    trainer = toy_trainer(optimizer=optimizer, matrix_lr=0.3, other_lr=0.1)
    for step in range(8):
        rates = [group["lr"] for opt in trainer.optimizers for group in opt.param_groups]
        share = trainer.recipe.lr_share(step)
        assert rates == pytest.approx([0.3 * share, 0.1 * share])
        trainer.step(toy_windows())


def test_hidden_matrices_are_the_projections_of_the_blocks() -> None:
    model = tiny_model(position="learned", feedforward="swiglu", tied_embeddings=False)
    matrices, others = split_parameters(model)
    names = {id(weight): name for name, weight in model.named_parameters()}
    projections = ("q_proj", "k_proj", "v_proj", "out_proj", "up", "down", "gate")
    found = {names[id(weight)] for weight in matrices}
    places = [f"attn.{p}" if p.endswith("proj") else f"ffn.{p}" for p in projections]
    assert found == {f"blocks.{layer}.{place}.weight" for layer in range(2) for place in places}
    rest = {names[id(weight)] for weight in others}
    assert {"embed.weight", "unembed.weight", "position.table.weight", "final_norm.gain"} <= rest
    assert len(found) + len(rest) == len(names)


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_weight_decay_shrinks_matrices_only(optimizer: str) -> None:
    model = tiny_model().requires_grad_(True)
    before = {name: weight.detach().clone() for name, weight in model.named_parameters()}
    for weight in model.parameters():
        weight.grad = torch.zeros_like(weight)
    rates = {"matrix_lr": 0.5, "other_lr": 0.5, "weight_decay": 0.1}
    for opt in OPTIMIZERS[optimizer](*split_parameters(model), **rates):
        opt.step()
    for name, weight in model.named_parameters():
        is_hidden = name.startswith("blocks.") and weight.ndim == 2
        decays = is_hidden or (optimizer == "adamw_all" and weight.ndim == 2)
        expected = before[name] * (1 - 0.5 * 0.1 if decays else 1)
        torch.testing.assert_close(weight.detach(), expected, atol=1e-6, rtol=0)


@pytest.mark.parametrize("shape", [(7, 13), (13, 7)])
def test_muon_in_float32_is_torch_s_in_bfloat16(shape: tuple[int, int]) -> None:
    """To the two digits that bfloat16 has: the updates of three steps, each some 0.1 large."""
    ours, theirs = (torch.nn.Parameter(normal(*shape)) for _ in range(2))
    muon = Muon([ours], lr=0.1, weight_decay=0.05)
    reference = torch.optim.Muon(
        [theirs], lr=0.1, weight_decay=0.05, adjust_lr_fn="match_rms_adamw"
    )
    for step in range(1, 4):
        for weight, optimizer in ((ours, muon), (theirs, reference)):
            weight.grad = normal(*shape, seed=step)
            optimizer.step()
    assert (ours - normal(*shape)).abs().max() > 0.1
    torch.testing.assert_close(ours, theirs, atol=0.013, rtol=0)  # seen: 0.003


def test_orthogonalised_matrices_have_singular_values_near_one() -> None:
    before, after = normal(9, 14), orthogonalised(normal(9, 14))
    values = torch.linalg.svdvals(after)
    assert ((values > 0.6) & (values < 1.3)).all()
    u, _, v = torch.linalg.svd(before, full_matrices=False)
    assert ((u.T @ after @ v.T).diagonal() > 0.6).all(), "in the same directions"


def test_glorot_keeps_the_scale_of_signals_and_a_seed_its_weights() -> None:
    model, again, other = (tiny_translator() for _ in range(3))
    for one, seed in ((model, 1), (again, 1), (other, 2)):
        initialise_evenly(one, seed)
    weight = model.decoder.blocks[1].ffn.up.weight
    assert weight.abs().max() <= math.sqrt(6 / sum(weight.shape))
    assert weight.std() == pytest.approx(math.sqrt(2 / sum(weight.shape)), rel=0.1)
    assert model.encoder.embed.weight.std() == pytest.approx(30**-0.5, rel=0.1)
    assert model.unembed.weight is model.encoder.embed.weight
    assert (model.encoder.blocks[0].attn.q_proj.bias == 0).all()
    same = [torch.equal(x, y) for x, y in zip(model.parameters(), again.parameters(), strict=True)]
    assert all(same)
    assert not torch.equal(weight, other.decoder.blocks[1].ffn.up.weight)


def test_where_little_is_written_a_fresh_encoder_tells_tokens_apart() -> None:
    """Cross-attention learns nothing of tokens that come out alike: `translate` once stayed so."""
    sizes = {"d_model": 60, "n_layers": 4, "n_encoder_layers": 4, "max_seq_len": 32}
    config = tiny_translator(norm_placement="post", scale_embeddings=True, **sizes).config
    model = EncoderDecoderTransformer(config)
    spread = {}
    for writes_little in (False, True):
        initialise_evenly(model, 0, writes_little=writes_little)
        with torch.inference_mode():
            encoded = model.encode(tiny_ids(seq_len=20)).states[0]  # (T, D), rows of norm √D
        spread[writes_little] = encoded.std(dim=0).mean().item()
    assert spread[True] > 0.7 > 1.5 * spread[False]
