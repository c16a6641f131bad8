"""Protects what more figures and the printed numbers are compared with: analyses say the same."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from model.analysis import cost, mask_kinds, masking, order, padding, positions
from model.analysis.cosine import cosine_similarity
from model.analysis.merges import merge_forest, walk
from model.decoding.beam import beam_search
from model.sources import checkpoint
from model.sources.checkpoint import Checkpoint
from model.trace import Trace
from model.verify.counted import KINDS, LENGTHS
from model.verify.independent import IndependentRun
from model.verify.searched import IndependentTexts, Tree
from model.verify.texts import texts_of
from tests.model.builders import GROUPED, SENTENCE, tiny_checkpoint
from tests.viz.builders import stories

SITE = "decoder.blocks.1.attn"
Opened = tuple[Checkpoint, Trace, IndependentRun]
Open = Callable[..., Opened]


@pytest.fixture
def opened(tmp_path: Path) -> Open:
    """Opens a small checkpoint of some config: it, a run of it, and the independent one."""

    def make(**config: object) -> Opened:
        found = checkpoint.load(tiny_checkpoint(tmp_path / "tiny", **config), "cpu")
        trace = found.trace(SENTENCE).trace
        return found, trace, IndependentRun(found.files, trace.ids)

    return make


@pytest.mark.parametrize("more", [GROUPED, {"norm_placement": "post"}])
def test_rope_before_it_rotates_and_moved(opened: Open, more: dict[str, object]) -> None:
    found, trace, run = opened(position="rope", **more)
    q, k = positions.before_rotation(trace, found.decoder, 1)
    assert run.array(f"{SITE}.unrotated_q") == pytest.approx(q, abs=1e-5)
    assert run.array(f"{SITE}.unrotated_k") == pytest.approx(k, abs=1e-5)
    base, head = found.config.position_base, len(q) - 1
    moved = positions.rope_scores(q[head, [4]], k[-1, [2]], [9], [3], base)
    assert run.array(f"{SITE}.moved_scores.9.3.4.2[{head}]") == pytest.approx(moved[0, 0], abs=1e-5)
    shares = run.array(f"{SITE}.moved_shares.4.2.4.2")
    assert shares.sum(axis=-1) == pytest.approx(trace.attention[1].scores[:, 4, 2], abs=1e-5)
    speeds = positions.rotation_speeds(q.shape[-1], base)
    assert run.array("rope.turns")[7] == pytest.approx(7 * speeds / (2 * np.pi) % 1)
    assert run.array("rope.wavelengths") == pytest.approx(2 * np.pi / speeds)


def test_waves_of_a_model_that_has_others(opened: Open) -> None:
    found, trace, run = opened(position="learned")
    config = found.config
    table = positions.wave_table(config.max_seq_len, config.d_model, config.position_base)
    assert run.array("waves.cosines") == pytest.approx(cosine_similarity(table), abs=1e-6)
    assert run.array("waves.product.5.2") == pytest.approx(table[5] @ table[2], abs=1e-5)
    assert run.array("positions.neighbours") == pytest.approx(
        np.diagonal(cosine_similarity(run.array("positions.table")), 1).mean()
    )
    assert run.array("size.positions") == pytest.approx(np.sqrt((trace.positions**2).mean()))
    assert run.array("positions.parameters").tolist() == [
        found.decoder.position.table.weight.numel(),
        sum(x.numel() for x in found.decoder.parameters()),
    ]


def test_patterns_without_their_bias(opened: Open) -> None:
    _, trace, run = opened(position="alibi")
    record = trace.attention[1]
    plain = np.stack([order.without_bias(record, head) for head in range(len(record.q))])
    shown = run.array(f"{SITE}.unmasked_unbiased")
    assert shown[:, record.mask] == pytest.approx(plain[:, record.mask], abs=1e-6)
    assert np.isnan(shown[:, ~record.mask]).all()
    effect = run.array(f"{SITE}.bias_effect")[:, record.mask]
    assert effect == pytest.approx((record.pattern - plain)[:, record.mask], abs=1e-6)
    for count in (1, 3, 12):
        assert run.array(f"alibi.slopes.{count}") == pytest.approx(positions.head_slopes(count))


@pytest.mark.parametrize("scheme", ["none", "rope", "sinusoidal"])
def test_other_orders_and_shifts(opened: Open, scheme: str) -> None:
    found, trace, run = opened(position=scheme)
    ids = trace.ids.tolist()
    places = [*range(len(ids))]
    places[1], places[4] = 4, 1
    for is_masked, name in ((True, ""), (False, "open_")):
        expected = order.reordered(found.decoder, ids, places, is_masked)
        assert run.array(f"order.{name}outputs") == pytest.approx(expected.first, abs=2e-5)
        assert run.array(f"order.{name}swapped.1.4") == pytest.approx(expected.second, abs=2e-5)
        changed = run.array(f"order.{name}changed.1.4")
        assert changed == pytest.approx(expected.difference, abs=5e-5)
        error = float(run.array(f"order.{name}relative.1.4"))
        assert error == pytest.approx(expected.error, abs=2e-5)
    moved = order.change_when_moved(trace, found.decoder, 2)
    assert float(run.array("positions.moved.2")) == pytest.approx(moved, abs=1e-5)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("is_causal", [True, False])
def test_every_kind_of_mask_and_its_pairs(opened: Open, kind: str, is_causal: bool) -> None:
    _, trace, run = opened()
    sizes = mask_kinds.MaskSizes(3, 2, 2, 1, is_causal)
    address = f"{kind}.3.2.2.1.{int(is_causal)}"
    mask = mask_kinds.mask_of_kind(kind, sizes, len(trace.ids))
    assert (~np.isnan(run.array(f"masks.{address}")) == mask).all()
    pairs = [mask_kinds.n_pairs(kind, sizes, n) for n in LENGTHS]
    assert run.array(f"pairs.{address}").tolist() == pairs


def test_what_a_token_learns_of_and_what_leaks(opened: Open) -> None:
    found, trace, run = opened(mask="sliding_window", window=2)
    layers = masking.layers_to_reach(trace.attention[0].mask)
    last = layers[-1]
    known = run.array(f"mask.known.{len(layers) - 1}")
    assert known.tolist() == [int(((last >= 0) & (last <= n)).sum()) for n in range(len(known))]
    assert len(known) > max(last)
    everything = np.ones((len(layers),) * 2, bool)
    open_run = IndependentRun(found.files, trace.ids, everything)
    other = [*trace.ids[:-1].tolist(), 3]
    before, after = (
        IndependentRun(found.files, np.array(ids), everything).array("output")
        for ids in (trace.ids, other)
    )
    expected = masking.largest_changes(before, after)
    assert open_run.array("past.changes.3") == pytest.approx(expected, abs=1e-6)
    assert float(run.array("past.largest.3")) == 0


def test_sums_over_visible_cells(opened: Open) -> None:
    _, trace, run = opened()
    record = trace.attention[1]
    for how, weights in masking.masking_alternatives(record.scores[1], record.mask).items():
        sums = np.where(record.mask, weights, 0).sum(axis=-1)
        assert run.array(f"{SITE}.kept_{how}[1]") == pytest.approx(sums, abs=1e-6)


def test_shares_on_pad_tokens(opened: Open) -> None:
    found, trace, _ = opened()
    ids, end = trace.ids.tolist(), 0
    how = padding.Padding(pad_id=end, left=False, is_masked=False)
    batch = padding.run_padded(
        found.decoder, (tuple(ids), tuple(ids[:3])), how, lambda ids: [""] * len(ids)
    )
    short = batch.traces[batch.short]
    run = IndependentRun(found.files, short.ids)
    own = ~batch.is_pad
    shares = [
        record.pattern[:, own][:, :, batch.is_pad].sum(axis=(1, 2)) / own.sum()
        for record in short.attention
    ]
    pads = f"3.{len(ids)}"
    assert run.array(f"pads.shares.{pads}") == pytest.approx(np.array(shares), abs=1e-6)
    assert float(run.array(f"pads.change.{pads}")) == pytest.approx(batch.alone, abs=1e-5)


def test_bytes_of_known_models(opened: Open) -> None:
    found, trace, run = opened(**GROUPED)
    k = trace.attention[0].k
    per_token = 2 * 4 * found.config.n_layers * k.shape[0] * k.shape[-1]
    assert float(run.array("cache.bytes.7")) == 7 * per_token
    table = run.array("known.bytes.2048")
    sizes = cost.KnownModel(
        name="", n_layers=96, n_heads=96, n_kv_heads=96, d_head=128, max_seq_len=2048, source=""
    )
    assert [*cost.cache_variants(sizes, 2048).values()] in table.tolist()


@pytest.mark.parametrize("text", ["The cat sat.", "strawberry 😀 مرحبا aaaa", "x"])
def test_merges_of_tokens_are_those_of_the_tokenizer(text: str) -> None:
    found = stories()
    trace = found.trace(text).trace
    forest = merge_forest(found.tokenizer, found.tokenizer.merges(), text)
    nodes = walk([token for pre_token in forest for token in pre_token])
    run = IndependentRun(found.files, trace.ids, None, texts_of(found.folder))
    of_all = f"0.{len(trace.ids)}"
    ranks = [node.rank + 1 for node in nodes if node.rank is not None]
    assert run.array(f"merges.ranks.{of_all}").tolist() == ranks
    content = [node.bytes[0] for node in nodes if not node.parts]
    assert run.array(f"merges.bytes.{of_all}").tolist() == content


def test_texts_of_a_beam_have_their_log_probabilities(opened: Open) -> None:
    found, trace, _ = opened()
    ids = tuple(trace.ids.tolist())
    steps = [*beam_search(found.decoder, ids, beam_width=2, max_new_tokens=3, length_penalty=0.7)]
    looked_at = [candidate for step in steps for candidate in step.candidates]
    texts = tuple(candidate.ids for candidate in looked_at)
    run = IndependentTexts(found.files, ids, Tree(texts), 0.7, texts_of(found.folder))
    for name, field in (("last", "log_prob"), ("totals", "total"), ("scores", "score")):
        expected = [getattr(candidate, field) for candidate in looked_at]
        assert run.array(f"texts.{name}") == pytest.approx(expected, abs=1e-5)
    assert run.array("texts.totals[1:3]").tolist() == run.array("texts.totals").tolist()[1:3]
    for wrong in ("texts.nothing", "texts.totals[99]", "texts.totals[x]"):
        with pytest.raises(ValueError, match="texts"):
            run.array(wrong)


def test_addresses_with_other_numbers_are_refused(opened: Open) -> None:
    _, _, run = opened()
    for wrong in (
        "waves.shares.1", "order.swapped.0.99", "mask.known.99", "alibi.slopes.99999",
        "masks.causal.1", f"{SITE}.moved_scores.1.2", "losses.1", "nothing.1",
    ):  # fmt: skip
        with pytest.raises(ValueError, match=r"number|no array|heads|sizes|moved"):
            run.array(wrong)
