"""Protects the fitted lens: least squares, on texts the model wrote, measured on others of them."""

import numpy as np
import pytest
import torch

from model.analysis import fitted_lens
from model.analysis.fitted_lens import Fitting, Sums, Texts, begins
from model.analysis.lens import logit_lens
from model.analysis.turning import turning
from model.capture import capture
from model.device import one_thread
from model.trace import Trace
from tests.viz.builders import stories, stories_trace


def test_maps_are_those_of_lstsq_whatever_is_added_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a large offset, which float32 sums of squares would not survive."""
    monkeypatch.setattr(fitted_lens, "RIDGE", 0.0)
    rng = np.random.default_rng(3)
    drawn = rng.normal(size=(3, 60, 5)) * [0.1, 1, 3, 10, 1] + [300, 0, -1, 2, 0]
    streams = drawn.astype(np.float32).astype(float)
    sums, all_at_once = Sums(), Sums()
    for piece in np.array_split(streams, 7, axis=1):
        sums.add(torch.tensor(piece, dtype=torch.float32))
    all_at_once.add(torch.tensor(streams, dtype=torch.float32))
    for layer in range(2):
        with_one = np.column_stack([streams[layer], np.ones(60)])
        expected, *_ = np.linalg.lstsq(with_one, streams[2], rcond=None)
        for one in (sums, all_at_once):
            weight, offset = one.solved(layer)
            moved = streams[layer] @ weight.double().numpy() + offset.double().numpy()
            np.testing.assert_allclose(moved, with_one @ expected, atol=5e-4)
    assert (sums.n, all_at_once.n) == (60, 60)


@pytest.fixture(scope="module")
def written() -> tuple[Texts, list[torch.Tensor]]:
    """Fewer and shorter texts than a lens is fitted to, and the streams of each of their tokens."""
    with pytest.MonkeyPatch.context() as patch, one_thread():
        patch.setattr(fitted_lens, "ROWS", 24)
        patch.setattr(fitted_lens, "LENGTH", 12)
        texts = Texts(stories().decoder, begins(stories()), seed=5)
        return texts, list(texts.written())


def test_what_is_measured_on_comes_after_other_tokens_than_what_is_fitted_on(
    written: tuple[Texts, list[torch.Tensor]],
) -> None:
    texts, streams = written
    is_held = np.arange(24) % fitted_lens.EACH_HELD == 0
    for one in streams:
        texts.keep(one[:, is_held])
    held = texts.held(is_held, 10**6)
    fitted = torch.cat([one[:, ~is_held] for one in streams], dim=1)
    nearest = torch.cdist(held[3], fitted[3]).amin(dim=1)
    assert nearest.min() > 1e-2  # the streams of one text alone are equal but for rounding
    left_out = len(streams) * is_held.sum() - held.shape[1]
    assert left_out > 0  # stories begin alike


def test_texts_are_read_as_they_are_written(written: tuple[Texts, list[torch.Tensor]]) -> None:
    """Streams over the cache are those of the text by itself, from its second token on."""
    texts, streams = written[0], torch.stack(written[1], dim=2)  # (L + 1, B, T, D)
    ids = texts.ids[7].tolist()
    assert not stories().tokenizer.special_ids.intersection(ids[:1])
    trace = capture(stories().decoder, ids[:-1], ids[:-1])
    np.testing.assert_allclose(streams[-1, 7], trace.residuals[-1].resid_post[1:], atol=2e-3)
    np.testing.assert_allclose(streams[0, 7], trace.residuals[0].resid_pre[1:], atol=1e-4)
    assert streams.shape[1:3] == (24, 11)


@pytest.fixture(scope="module")
def found() -> fitted_lens.FittedLens:
    work = Fitting(stories())
    shares = []
    while not work.is_done:
        work.advance(0)
        shares.append(work.progress)
    assert shares == sorted(shares) and shares[-1] == 1
    assert work.found is not None
    return work.found


def test_it_is_nearer_to_the_end_than_the_logit_lens_in_every_row(
    found: fitted_lens.FittedLens,
) -> None:
    assert (found.fitted.kl[:-1] < found.plain.kl[:-1]).all()
    assert (found.fitted.top1[:-1] > found.plain.top1[:-1]).all()
    assert found.fitted.kl[3] <= 0.8 and found.fitted.top1[3] >= 0.48, "L2"
    assert found.plain.kl[3] > 2
    assert found.fitted.kl[-1] == found.plain.kl[-1] == 0


def test_the_lens_reads_what_is_moved_and_the_last_row_as_it_is(
    found: fitted_lens.FittedLens,
) -> None:
    trace, model = stories_trace("One day a fox ran up the"), stories().decoder
    lens = logit_lens(trace, model, k=3, fitted=found)
    stream = trace.residuals[2].resid_post.astype(float)
    moved = stream @ found.maps[3].astype(float) + found.offsets[3].astype(float)
    with torch.inference_mode():
        expected = model.read_out(torch.tensor(moved, dtype=torch.float32)).softmax(dim=-1)
    top = expected.topk(3)
    assert lens.ids[3].tolist() == top.indices.tolist()
    np.testing.assert_allclose(lens.probs[3], top.values, atol=1e-4)
    assert lens.error < 1e-5


def test_what_cannot_be_fitted_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fitted_lens, "MOST_BYTES", 10_000)
    with pytest.raises(ValueError, match=r"0\.0 GB for sums.*smaller model"):
        Fitting(stories())


def test_a_stream_turns_the_answer_as_a_run_by_hand_has_it() -> None:
    """By an edited run of the whole model for each layer; the last is the second text's own."""
    model = stories().decoder
    first, second = map(
        stories_trace, ("The girl lost the ball, so", "The two boys lost the ball, so")
    )
    found = turning(model, first, second)
    found.filling.finish()
    n = len(first.residuals)
    by_hand = []
    for layer in range(n):
        trace = _patched(layer, first, second)
        by_hand.append(float(trace[found.other] - trace[found.answer]))
    np.testing.assert_allclose(found.filling.exact, by_hand, atol=1e-3)
    assert found.error < 1e-3 and found.full > 0 > found.before
    at = found.turns_at
    assert at is not None
    assert all(x > 0 for x in by_hand[at:]) and (at == 0 or by_hand[at - 1] <= 0)


def _patched(layer: int, first: Trace, second: Trace) -> np.ndarray:
    """Logits (V,) at the end of the first text with one stream of the second."""

    def change(module: object, inputs: object, output: torch.Tensor) -> torch.Tensor:
        changed = output.clone()
        changed[:, -1] = torch.tensor(second.residuals[layer].resid_post[-1])
        return changed

    model = stories().decoder
    hook = model.blocks[layer].register_forward_hook(change)
    try:
        with torch.inference_mode():
            return model(torch.tensor(first.ids)[None])[0, -1].numpy()
    finally:
        hook.remove()


def test_the_same_answer_turns_nothing() -> None:
    trace = stories_trace("One day a fox ran up the")
    with pytest.raises(ValueError, match="same most likely"):
        turning(stories().decoder, trace, trace)
