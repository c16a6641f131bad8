"""Protects circuits: terms add up, an edge's effect is its own run, circuits keep what they say."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
import torch

from model import reference
from model.analysis.exact import spearman
from model.analysis.metrics import Metric
from model.analysis.patching import Pair
from model.analysis.paths.circuit import Circuit
from model.analysis.paths.edges import Edges, _of_raised, effects
from model.analysis.paths.kept import Curve, Pruning, kept_only, on_ways
from model.analysis.paths.others import at_random, on_another
from model.analysis.paths.terms import (
    ANSWER,
    HEAD,
    KEY,
    KIND,
    LAYER,
    MLP,
    QUERY,
    WRITER,
    K,
    Paths,
    Q,
    V,
    paths,
)
from model.analysis.question import Both, ask
from model.reference import Array, Files, Reader
from model.sources import checkpoint
from model.sources.transformers import lent
from tests.model.adopted.families import build, tokens
from tests.model.builders import tiny_checkpoint, tiny_encoder, tiny_model

BASE, SOURCE = [3, 1, 4, 1, 5, 9, 2], [3, 1, 7, 1, 5, 6, 2]
METRIC = Metric("difference", 6, 8, 11)
KINDS = {
    "sinusoidal": {"position": "sinusoidal", "scale_embeddings": True},
    "rope": {"position": "rope", "norm": "rms", "feedforward": "swiglu", "n_kv_heads": 1},
    "prefix": {"mask": "prefix", "prefix_len": 4},
    "alibi": {"position": "alibi", "mask": "sliding_window", "window": 3, "bias": False},
}


@pytest.fixture(params=KINDS)
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A small model's files."""
    return tiny_checkpoint(tmp_path / "model", **KINDS[request.param])


def found_in(folder: Path, base: list[int] = BASE, source: list[int] = SOURCE) -> Paths:
    """Both runs of its model."""
    return paths(Pair(checkpoint.load(folder, device="cpu").model, base, source, METRIC))


def all_of(found: Paths) -> Edges:
    """Every edge, estimated."""
    edges = Edges(found)
    while edges.go_on():
        pass
    return edges


# --- by hand, in float64 from the files ---------------------------------------------------------

Arrays = Mapping[str, Array]


def terms_of(files: Files, arrays: Arrays) -> list[Array]:
    """What each writer adds, (T, D) each, in the order of a pass."""
    terms = [arrays["decoder.embed"]]
    for layer in range(files.config["n_layers"]):
        z = arrays[f"decoder.blocks.{layer}.attn.z"]  # (H, T, Dh)
        weights = files.weights[f"blocks.{layer}.attn.out_proj.weight"]  # (D, H · Dh)
        parts = np.split(weights, len(z), axis=1)
        terms += [head @ part.T for head, part in zip(z, parts, strict=True)]
        terms.append(arrays[f"decoder.blocks.{layer}.ffn_out"])
    return terms


def asked(output: Array) -> float:
    """The metric of logits (T, V)."""
    return float(output[-1, METRIC.answer] - output[-1, METRIC.other])


def read_by(files: Files, arrays: Arrays, edge: list[int], stream: Array) -> Array:
    """What the reader of an edge makes of another stream (D,): q, k or v, or ffn_out (D,)."""
    layer, kind, head, _, token, _ = edge
    part, at = Reader(files).part(f"blocks.{layer}"), f"decoder.blocks.{layer}"
    streams = arrays[f"{at}.{'resid_mid' if kind == MLP else 'resid_pre'}"].copy()
    streams[token] = stream
    if kind == MLP:
        return reference.feed_forward(part.part("ffn"), part.norm("ffn_norm", streams))[token]
    normed = part.norm("attn_norm", streams)
    read, _ = reference.attention(part.part("attn"), normed, normed, arrays[f"{at}.attn.mask"])
    own = read["qkv"[kind]]
    return own[head * len(own) // len(read["q"]), token]


def z_by(
    arrays: Arrays, layer: int, head: int, query: int, read: dict[tuple[int, int], Array]
) -> Array:
    """z of a head at a query, where some of its q, k, v, by kind and token, are as given. (Dh,)."""
    at = f"decoder.blocks.{layer}.attn"
    q, k, v = (arrays[f"{at}.{name}"] for name in "qkv")
    group = head * len(k) // len(q)
    q, k, v = q[head, query], k[group].copy(), v[group].copy()
    for (kind, token), value in read.items():
        q = value if kind == Q else q
        if kind != Q:
            (k if kind == K else v)[token] = value
    bias = arrays.get(f"{at}.bias")
    scores = k @ q / np.sqrt(len(q)) + (0 if bias is None else bias[head, query])
    return reference.softmax(np.where(arrays[f"{at}.mask"][query], scores, -np.inf)) @ v


def answered(files: Files, stream: Array) -> float:
    """The metric of a last stream (D,)."""
    model = Reader(files)
    return asked(reference.unembedded(model, model.norm("final_norm", stream[None]), "embed"))


def with_stream(files: Files, arrays: Arrays, edge: list[int], stream: Array) -> float:
    """The metric where one reader is given another stream (D,) at its token."""
    layer, kind, head, query, key, _ = edge
    if kind == ANSWER:
        return answered(files, stream)
    made = read_by(files, arrays, edge, stream)
    place, index = f"blocks.{layer}.ffn_out", (query,)
    if kind != MLP:
        made = z_by(arrays, layer, head, query, {(kind, key): made})
        place, index = f"blocks.{layer}.attn.z", (head, query)

    def change(here: str, array: Array) -> Array:
        if here == place:
            array = array.copy()
            array[index] = made
        return array

    changed = Files(files.config, files.weights, change)
    return asked(dict(reference.arrays(changed, BASE))["output"])


def read_at(arrays: Arrays, edge: list[int]) -> Array:
    """The stream that the reader of an edge reads, (D,)."""
    layer, kind, _, _, token, _ = edge
    before = {ANSWER: f"{layer - 1}.resid_post", MLP: f"{layer}.resid_mid"}
    return arrays[f"decoder.blocks.{before.get(kind, f'{layer}.resid_pre')}"][token]


def by_hand(folder: Path, edges: np.ndarray) -> np.ndarray:
    """What the answer loses when each edge alone carries the other text's term, (N,)."""
    files = reference.read(folder)
    base, source = (dict(reference.arrays(files, ids)) for ids in (BASE, SOURCE))
    own, other = terms_of(files, base), terms_of(files, source)
    found = []
    for edge in edges.tolist():
        term = edge[WRITER], edge[KEY]
        moved = read_at(base, edge) + other[term[0]][term[1]] - own[term[0]][term[1]]
        found.append(asked(base["output"]) - with_stream(files, base, edge, moved))
    return np.array(found)


def circuit_by_hand(folder: Path, edges: np.ndarray) -> float:
    """The metric where these edges alone carry what runs in BASE, reader by reader."""
    files = reference.read(folder)
    base, source = (dict(reference.arrays(files, ids)) for ids in (BASE, SOURCE))
    other = terms_of(files, source)
    now = [base["decoder.embed"], *(x.copy() for x in other[1:])]
    readers: dict[tuple[int, ...], list[int]] = {}
    for edge in edges.tolist():
        readers.setdefault(tuple(edge[:WRITER]), []).append(edge[WRITER])
    n_heads, answer = files.config["n_heads"], read_at(source, [2, ANSWER, 0, 6, 6, 0])

    def given(reader: tuple[int, ...]) -> Array:
        token = reader[KEY]
        moved = [now[w][token] - other[w][token] for w in readers[reader]]
        return read_at(source, [*reader, 0]) + sum(moved)

    for layer, kind, head, query in sorted({reader[:KEY] for reader in readers}, key=in_turn):
        mine = [r for r in readers if r[:KEY] == (layer, kind, head, query)]
        writer = 1 + layer * (n_heads + 1) + (head if kind < MLP else n_heads)
        if kind == ANSWER:
            answer = given(mine[0])
        elif kind == MLP:
            now[writer][query] = read_by(files, source, [*mine[0], 0], given(mine[0]))
        else:
            every = [
                r
                for r in readers
                if (r[LAYER], r[HEAD], r[QUERY]) == (layer, head, query) and r[KIND] < MLP
            ]
            read = {(r[KIND], r[KEY]): read_by(files, source, [*r, 0], given(r)) for r in every}
            weights = files.weights[f"blocks.{layer}.attn.out_proj.weight"]
            part = np.split(weights, n_heads, axis=1)[head]
            now[writer][query] = z_by(source, layer, head, query, read) @ part.T
    return answered(files, answer)


def in_turn(reader: tuple[int, ...]) -> tuple[int, bool]:
    """Layer by layer, attention before the feed-forward."""
    return reader[LAYER], reader[KIND] >= MLP


# --- the tests ----------------------------------------------------------------------------------


def test_terms_add_up_to_the_stream_of_every_reader(folder: Path) -> None:
    found = found_in(folder)
    for layer in range(2):
        for kind, streams in ((Q, "resid_pre"), (MLP, "resid_mid")):
            before, after = (getattr(x, streams)[layer] for x in (found.base, found.source))
            moved = found.moved[: found.n_writers(layer, kind)].sum(dim=0)
            np.testing.assert_allclose(moved, after - before, atol=1e-5 * after.abs().max())
    np.testing.assert_allclose(
        found.moved.sum(dim=0), found.source.last - found.base.last, atol=1e-4
    )


def test_every_edge_has_the_effect_of_a_run_of_its_own(folder: Path) -> None:
    edges = all_of(found_in(folder)).edges
    chosen = np.random.default_rng(0).permutation(edges)[:60]
    assert {*chosen[:, KIND].tolist()} == {Q, K, V, MLP, ANSWER}
    np.testing.assert_allclose(
        effects(found_in(folder), chosen), by_hand(folder, chosen), atol=1e-5
    )


def test_all_edges_into_a_reader_are_its_input_replaced(folder: Path) -> None:
    found, files = found_in(folder), reference.read(folder)
    base, source = (dict(reference.arrays(files, ids)) for ids in (BASE, SOURCE))
    edge = [1, K, 2, 6, 5, 0]
    stream = source["decoder.blocks.1.resid_pre"][5]
    replaced = asked(base["output"]) - with_stream(files, base, edge, stream)
    found.moved[0, 5] = found.moved[: found.n_writers(1), 5].sum(dim=0)
    np.testing.assert_allclose(effects(found, np.array([edge])), [replaced], atol=1e-5)


def test_edges_are_all_that_carry_something_and_are_read(folder: Path) -> None:
    found = all_of(found_in(folder))
    assert len(found.edges) == found.n_all == len(np.unique(found.edges, axis=0))
    live = found.paths.moved.abs().sum(dim=-1).numpy() > 0
    mask = dict(reference.arrays(reference.read(folder), BASE))["decoder.blocks.0.attn.mask"]
    n, expected = len(BASE), 0
    for layer in range(2):
        queries = range(n) if layer == 0 else [n - 1]
        for query in queries:
            before = live[: found.paths.n_writers(layer)].sum(axis=0)
            expected += 3 * (before[query] + 2 * before[mask[query]].sum())
            expected += live[: found.paths.n_writers(layer, MLP), query].sum()
    assert found.n_all == expected + live[:, -1].sum()
    assert mask[found.edges[:, QUERY], found.edges[:, KEY]].all()
    assert (np.diff(np.abs(found.estimates)) <= 0).all(), "the strongest first"


def test_the_estimate_orders_edges_as_their_effects_do(folder: Path) -> None:
    found = all_of(found_in(folder))
    exact = effects(found.paths, found.edges)
    is_answer = found.edges[:, KIND] == ANSWER
    np.testing.assert_allclose(exact[is_answer], found.estimates[is_answer], atol=1e-6)
    strong = np.abs(exact) > 0.02 * np.abs(exact).max()
    assert spearman(exact[strong], found.estimates[strong]) > 0.8


def test_of_a_thousandth_of_the_difference_the_estimate_is_exact(folder: Path) -> None:
    """What follows the reader is of first order; the rest is computed."""
    found = found_in(folder)
    found.moved.mul_(1e-3)
    edges = all_of(found)
    some = edges.edges[:: max(1, len(edges.edges) // 80)]
    exact = effects(found, some)
    guess = edges.estimates[:: max(1, len(edges.edges) // 80)]
    np.testing.assert_allclose(guess, exact, rtol=0.05, atol=2e-5)


def test_every_edge_keeps_all_and_none_keeps_nothing(folder: Path) -> None:
    found = found_in(folder)
    edges = all_of(found).edges
    assert found.share(kept_only(found, edges[:0])) == pytest.approx(0, abs=1e-5)
    assert found.share(kept_only(found, edges)) == pytest.approx(1, abs=1e-4)


@pytest.mark.parametrize("n", [20, 60])
def test_a_circuit_is_what_its_readers_make_of_what_is_kept(folder: Path, n: int) -> None:
    found = found_in(folder)
    edges = all_of(found).edges[:n]
    assert on_ways(edges, 3).any()
    np.testing.assert_allclose(kept_only(found, edges), circuit_by_hand(folder, edges), atol=1e-5)


def test_what_is_not_read_or_reads_nothing_is_no_part_of_a_circuit() -> None:
    embed_to_head = [0, V, 1, 6, 2, 0]
    head_to_mlp = [0, MLP, 0, 6, 6, 2]
    mlp_to_answer = [1, ANSWER, 0, 6, 6, 4]
    unread = [0, V, 0, 6, 2, 0]
    unfed = [1, ANSWER, 0, 6, 6, 3]
    edges = np.array([embed_to_head, head_to_mlp, mlp_to_answer, unread, unfed])
    assert edges[on_ways(edges, 3)].tolist() == [embed_to_head, head_to_mlp, mlp_to_answer]
    assert not on_ways(edges[[0, 1]], 3).any()


def test_a_curve_ends_with_all_and_pruning_keeps_the_difference(folder: Path) -> None:
    found = found_in(folder)
    edges = all_of(found).edges
    curve = Curve(found, edges)
    curve.advance(1e9)
    assert curve.sizes == sorted({*curve.sizes})
    assert (curve.sizes[0], curve.sizes[-1]) == (1, len(edges))
    assert curve.shares[-1] == pytest.approx(1, abs=1e-4)
    assert 0.9 <= curve.shares[curve.sizes.index(curve.enough)] <= 1.1
    pruning = Pruning(found, edges)
    pruning.advance(1e9)
    assert pruning.is_done
    assert len(pruning.edges) < len(edges) / 2
    assert 0.9 <= pruning.share <= 1.1
    assert pruning.share == found.share(kept_only(found, pruning.edges))
    assert on_ways(pruning.edges, 3).all()


def test_a_circuit_comes_in_part_by_part_and_is_pruned_on_request(folder: Path) -> None:
    found = found_in(folder)
    circuit, edges = Circuit(found, 9), all_of(found)
    (first,) = np.unique(circuit.strongest.edges[:, KIND])
    assert first == ANSWER and not circuit.strongest.is_known.any()
    circuit.finish()
    strongest = circuit.strongest
    assert strongest.edges.tolist() == edges.edges[:9].tolist()
    np.testing.assert_allclose(strongest.exact, effects(found, edges.edges[:9]), atol=1e-6)
    assert (circuit.curve.sizes[-1], len(circuit.pruned.edges)) == (edges.n_all, 0)
    circuit.prune()
    assert not circuit.is_done
    assert len(circuit.pruned.edges) > 0
    circuit.finish()
    assert circuit.share == found.share(kept_only(found, circuit.pruned.edges))
    assert circuit.pruned.is_done
    np.testing.assert_allclose(
        circuit.pruned.exact, effects(found, circuit.pruned.edges), atol=1e-6
    )


def test_what_edges_keep_elsewhere_is_a_circuit_of_the_other_texts(folder: Path) -> None:
    """The same words are exchanged in the other text; its answers are its own."""
    found = found_in(folder)
    edges = all_of(found).edges
    ids, exchanged = [3, 1, 4, 8, 5, 9, 0], [3, 1, 7, 8, 5, 6, 0]
    pair = found.pair
    question = ask(pair.model, Both(tuple(ids), tuple(exchanged), 6))
    other, metric = paths(question.of(pair.model)), question.metric
    kept = on_another(found, edges[:40], ids)
    assert (kept.answer, kept.against) == (metric.answer, metric.other)
    assert kept.share == pytest.approx(other.share(kept_only(other, edges[:40])))
    assert on_another(found, edges, ids).share == pytest.approx(1, abs=1e-3)
    with pytest.raises(ValueError, match="2 tokens; the first text has 7: take as many"):
        on_another(found, edges, [3, 1])
    few = [at_random(found, edges, 5, seed) for seed in range(4)]
    assert few == [at_random(found, edges, 5, seed) for seed in range(4)]
    assert at_random(found, edges, len(edges) + 9) == pytest.approx(1, abs=1e-3)


def test_what_is_likely_with_and_without_an_edge_is_what_its_effect_is_of(folder: Path) -> None:
    found = found_in(folder)
    circuit = Circuit(found, 20)
    circuit.finish()
    logits = found.pair.model.read_out(found.base.last[-1]).detach()
    whole = logits.softmax(dim=-1).numpy()
    for number, cut in circuit.strongest.cuts.items():
        answer, other = (cut.ids.index(token) for token in (METRIC.answer, METRIC.other))
        np.testing.assert_allclose(cut.before, whole[cut.ids], atol=1e-6)
        before, after = (np.log(row[answer] / row[other]) for row in (cut.before, cut.after))
        assert before - after == pytest.approx(circuit.strongest.exact[number], abs=1e-4)
        assert whole.argmax() in cut.ids


def test_of_a_sharp_head_each_key_is_estimated_as_it_runs() -> None:
    """Also where a weight rounds to one, and where a key stands alone."""
    scores = torch.tensor([[[0.0, -torch.inf], [0.0, -40.0], [0.0, -3.0], [90.0, 0.0]]])
    says, raised = torch.tensor([[[2.0, -1.0]]]).expand(1, 4, 2), torch.full((1, 1, 4, 2), -60.0)
    found = _of_raised(scores.softmax(dim=-1), says, raised)
    whole = scores.double().softmax(dim=-1)
    for key in range(2):
        bent = scores.double().clone()
        bent[..., key] -= 60
        lost = ((whole - bent.softmax(dim=-1)) * says).sum(dim=-1)
        np.testing.assert_allclose(found[0, ..., key], lost, atol=1e-6)


@pytest.mark.parametrize(
    ("base", "source", "message"),
    [
        (BASE, BASE, "both texts are the same"),
        (BASE, SOURCE[:5], "7 and 5 tokens"),
        (BASE[:4], SOURCE[:4], "at token 6, not at the last of 4"),
    ],
)
def test_two_texts_without_a_circuit_are_one_line(
    base: list[int], source: list[int], message: str
) -> None:
    with pytest.raises(ValueError, match=message) as told:
        paths(Pair(tiny_model(), base, source, METRIC))
    assert "\n" not in str(told.value)


def test_a_difference_that_the_model_does_not_make_is_one_line() -> None:
    model = tiny_model()
    model.unembed.weight[METRIC.answer] = model.unembed.weight[METRIC.other]
    with pytest.raises(ValueError, match="makes no difference"):
        paths(Pair(model, BASE, SOURCE, METRIC))


def test_a_difference_of_rounding_is_one_line() -> None:
    """Of one that is only small every edge keeps all, as in float64."""
    for change in (0.01, 1e-5):
        model = tiny_model()
        rows = model.embed.weight
        rows[7], rows[6] = rows[4] + change * rows[0], rows[9] + change * rows[8]
        pair = Pair(model, BASE, SOURCE, METRIC)
        if change == 0.01:
            found = paths(pair)
            assert found.share(kept_only(found, all_of(found).edges)) == pytest.approx(1, abs=1e-3)
    with pytest.raises(ValueError, match=r"makes no difference .* that is more than rounding"):
        paths(pair)


@pytest.mark.parametrize("model", [tiny_model(norm_placement="post"), tiny_encoder()])
def test_a_model_whose_heads_do_not_add_up_is_refused(model: object) -> None:
    with pytest.raises(ValueError, match="a circuit needs a decoder"):
        paths(Pair(model, BASE, SOURCE, METRIC))


def test_texts_that_are_too_long_say_how_long_they_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("model.analysis.paths.edges.MOST_CELLS", 9 * 3 * 5 * 5)
    with pytest.raises(ValueError, match=r"have 7 tokens; .* up to 5: shorten them"):
        Edges(paths(Pair(tiny_model(), BASE, SOURCE, METRIC)))


def lent_pair(family: str) -> Pair:
    """Two texts for a small model of transformers."""
    model = lent(build(family), tokens()).model
    return ask(model, Both(tuple(BASE), tuple(SOURCE), 6)).of(model)


@pytest.mark.parametrize("family", ["gpt2", "llama", "mistral", "qwen3"])
def test_of_models_of_others_every_edge_keeps_all_too(family: str) -> None:
    assert "sums" in lent(build(family), tokens()).offers
    found = paths(lent_pair(family))
    edges = all_of(found)
    assert len(edges.edges) == edges.n_all
    assert found.share(kept_only(found, edges.edges)) == pytest.approx(1, abs=1e-4)
    assert found.share(kept_only(found, edges.edges[:0])) == pytest.approx(0, abs=1e-5)
    exact = effects(found, edges.edges)
    strong = np.abs(exact) > 0.02 * np.abs(exact).max()
    assert spearman(exact[strong], edges.estimates[strong]) > 0.8


@pytest.mark.parametrize(
    ("family", "message"),
    [
        ("gemma2", "a norm follows"),
        ("gpt_neox", "both read one stream"),
        ("gpt_oss", "sinks"),
        ("bert", "needs a decoder"),
        ("t5", "needs a decoder"),
    ],
)
def test_a_family_with_other_terms_is_refused_in_a_line(family: str, message: str) -> None:
    loaded = lent(build(family), tokens())
    with pytest.raises(ValueError, match=message) as told:
        paths(Pair(loaded.model, BASE, SOURCE, METRIC))
    assert "\n" not in str(told.value)
    if "stream" in message or "norm" in message:  # the page is marked as not for it
        assert "sums" not in loaded.offers
