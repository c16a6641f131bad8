"""Protects the translators: the gated unit against torch's, attention, one path and the other."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from model.architectures.encoder_decoder import EncoderDecoderTransformer
from model.architectures.recurrent import GatedUnit, Looked, Recurrent
from model.architectures.table import architecture, config_of
from model.recurrence.reading import (
    Translator,
    attended,
    cross_patterns,
    n_right,
    on_own_letter,
    write,
    written,
)
from model.recurrence.task import END, VOCAB_SIZE, answer_of, begun, examples
from model.training.objectives.base import Examples
from model.training.objectives.letters import count
from model.weights import initialise_evenly

RECURRENT = {"architecture": "recurrent", "n_embedding": 5, "n_encoder": 7, "n_decoder": 6}
SIZES = {
    "fixed": RECURRENT,
    "additive": RECURRENT | {"n_attention": 3},
    "transformer": {
        "architecture": "encoder_decoder", "d_model": 12, "n_layers": 2, "n_heads": 3, "d_ff": 10,
    },
}  # fmt: skip
ROWS = np.random.default_rng(3).integers(0, 26, (4, 9))


def tiny(name: str) -> Translator:
    """A small one with fresh weights."""
    config = config_of({"vocab_size": VOCAB_SIZE, "max_seq_len": 40, **SIZES[name]})
    model = architecture(config.architecture).build(config)
    initialise_evenly(model, seed=5)
    assert isinstance(model, Recurrent | EncoderDecoderTransformer)
    return model.requires_grad_(requires_grad=False).eval()


def test_the_gated_unit_is_torchs_where_both_are_the_same() -> None:
    """Torch's resets after its matrix, (U h) ∘ r, which is the same where U is diagonal.

    Its z says how much of the old state stays: 1 − z of the paper.
    """
    torch.manual_seed(1)
    unit, theirs = GatedUnit(3, 4), nn.GRUCell(3, 4)
    diagonal = torch.diag(torch.tensor([0.5, -1.2, 0.3, 2.0]))
    with torch.no_grad():
        unit.of_state.weight.copy_(diagonal)
        (z, r, w), (bz, br, b) = unit.of_input.weight.split(4), unit.of_input.bias.split(4)
        uz, ur = unit.of_gates.weight.split(4)
        theirs.weight_ih.copy_(torch.cat([r, -z, w]))
        theirs.weight_hh.copy_(torch.cat([ur, -uz, diagonal]))
        theirs.bias_ih.copy_(torch.cat([br, -bz, b]))
        theirs.bias_hh.zero_()
    x, h = torch.randn(6, 3), torch.randn(6, 4)
    torch.testing.assert_close(unit.step(unit.of_input(x), h), theirs(x, h))


def test_a_row_read_backwards_is_the_reversed_row_read_forwards() -> None:
    unit, x = GatedUnit(3, 4), torch.randn(2, 5, 3)
    torch.testing.assert_close(unit(x, backwards=True), unit(x.flip(1)).flip(1))
    np.testing.assert_allclose(unit(x)[:, :2].detach(), unit(x[:, :2]).detach(), atol=1e-6)


@pytest.mark.parametrize("name", SIZES)
def test_one_by_one_is_all_at_once(name: str) -> None:
    model = tiny(name)
    sources, answers = examples("reverse", ROWS)
    step = model.begin(sources)
    with torch.inference_mode():
        one_by_one = torch.stack([step(last) for last in begun(answers).unbind(1)], dim=1)
    assert one_by_one.shape == (4, 10, VOCAB_SIZE)
    torch.testing.assert_close(one_by_one, model(sources, begun(answers)), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("name", SIZES)
def test_rows_of_a_batch_do_not_meet(name: str) -> None:
    model = tiny(name)
    sources, answers = examples("copy", ROWS)
    alone = torch.cat([model(a[None], begun(b[None])) for a, b in zip(sources, answers)])  # noqa: B905
    torch.testing.assert_close(alone, model(sources, begun(answers)), atol=1e-5, rtol=1e-5)


def test_weights_are_a_softmax_and_the_context_their_mean() -> None:
    model = tiny("additive")
    assert isinstance(model, Recurrent)
    sources, _ = examples("reverse", ROWS)
    looked: list[Looked] = []
    step = model.begin(sources, looked)
    step(torch.zeros(4, dtype=torch.long))
    (found,) = looked
    annotations = model.annotate(sources)
    torch.testing.assert_close(found.weights, found.energies.softmax(-1))
    torch.testing.assert_close(
        found.context, torch.einsum("bt,btd->bd", found.weights, annotations)
    )


def test_without_attention_every_step_has_the_last_states() -> None:
    model = tiny("fixed")
    assert isinstance(model, Recurrent)
    assert model.attention is None
    looked: list[Looked] = []
    model.begin(examples("copy", ROWS)[0], looked)(torch.zeros(4, dtype=torch.long))
    assert looked == []


class _Says:
    """Writes given tokens, whatever the source."""

    def __init__(self, tokens: list[list[int]]) -> None:
        self.tokens = torch.tensor(tokens)

    def begin(self, sources: Tensor) -> Callable[[Tensor], Tensor]:
        """The given tokens, one after the other."""
        places = iter(range(self.tokens.shape[1]))
        return lambda last: nn.functional.one_hot(self.tokens[:, next(places)], VOCAB_SIZE).float()


def test_after_its_end_a_target_has_ends_alone() -> None:
    model = _Says([[1, END, 3, 4], [1, 2, END, 4]])
    assert write(model, torch.zeros(2, 4, dtype=torch.long), 9).tolist() == [
        [1, END, END],
        [1, 2, END],
    ]


def test_a_score_counts_exact_rows_and_letters_at_their_place() -> None:
    sources, answers = examples("reverse", np.array([[1, 2, 3], [4, 5, 6], [7, 8, 9]]))
    rows = Examples({"source_ids": sources}, answers)
    exact, one_wrong, too_short = [3, 2, 1, END], [6, 0, 4, END], [9, END, END, END]
    assert count(_Says([exact, one_wrong, too_short]), rows) == (1, 3 + 2 + 1)
    assert count(_Says([[3, 2, 1, 0], [6, 5, 4, END], [9, 8, 7, END]]), rows) == (2, 9)


@pytest.mark.parametrize("name", SIZES)
def test_a_row_longer_than_the_context_is_refused(name: str) -> None:
    fits, row = torch.zeros(1, 40, dtype=torch.long), torch.zeros(1, 41, dtype=torch.long)
    assert tiny(name)(fits, fits).shape == (1, 40, VOCAB_SIZE)
    for source, target in ((row, fits), (fits, row)):
        with pytest.raises(ValueError, match="41 tokens, more than the model's context of 40"):
            tiny(name)(source, target)


def test_what_a_row_attends_to() -> None:
    additive, transformer = tiny("additive"), tiny("transformer")
    assert isinstance(additive, Recurrent)
    assert isinstance(transformer, EncoderDecoderTransformer)
    letters = (3, 1, 4)
    target = written(additive, "reverse", letters)
    found = attended(additive, "reverse", letters, target)
    assert found.weights.shape == (len(target), 5)
    np.testing.assert_allclose(found.weights.sum(axis=-1), 1, atol=1e-6)
    patterns = cross_patterns(transformer, "reverse", letters, answer_of("reverse", letters))
    assert patterns.shape == (2, 3, 4, 5)
    np.testing.assert_allclose(patterns.sum(axis=-1), 1, atol=1e-5)


def test_weight_on_the_letter_that_is_due() -> None:
    right = np.zeros((4, 5))
    right[0, 3] = right[1, 2] = right[2, 1] = right[3, 4] = 1
    assert on_own_letter(right, "reverse", 3) == 1
    assert on_own_letter(right, "copy", 3) == pytest.approx(1 / 3)  # the letter in the middle
    assert n_right("reverse", (3, 1, 4), (4, 0, 3, END)) == 2
    assert n_right("copy", (3, 1, 4), (3, END)) == 1
