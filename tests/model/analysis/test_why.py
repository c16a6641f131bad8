"""Protects why a head looks there: sums are the scores that ran, and words are who they name."""

from collections import Counter
from copy import deepcopy
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from model import reference
from model.analysis.why.opened import in_words, with_mlps_opened
from model.analysis.why.reasons import Cell, Reasons, reasons
from model.analysis.why.row import by_side
from model.analysis.why.rule import RESTS, Rules, counted, looks_of, rules_of
from model.analysis.why.sentence import KINDS_SAID, sentence
from model.analysis.why.sides import Sum, sides_of
from model.analysis.why.tables import number_of, word_rows
from model.analysis.why.telling import Telling
from model.analysis.writers import Stretch, placed, written
from model.architectures.base import PIECES, Transformer
from model.capture import capture
from model.sources import checkpoint
from model.sources.places import SHIPPED
from model.trace import Site, Trace
from model.work import result_of
from tests.model.adopted.test_parts import FAMILIES, captured
from tests.model.analysis.test_attribution import CASES, IDS, Changes, Make, ran
from tests.model.builders import all_arrays, files_of, tiny_model, tiny_translator
from tests.viz.builders import stories, stories_trace

Array = np.ndarray
PICTURES = {"vit", "deit", "dinov2"}  # whose traces here have no picture that could be run again
EXACT = 5e-6  # of the largest score of a row


def cells_of(model: Transformer, trace: Trace) -> list[Cell]:
    """Two cells of each attention: the last query's strongest key, and an early one's first."""
    cells = []
    for record in trace.attention:
        asked, head = reasons(trace, model, record.site), record.site.layer % record.n_heads
        for query in (1, record.q.shape[1] - 1):
            seen = record.mask_of(head)[query]
            if seen.sum() > 1:
                key = int(np.where(seen, record.pattern[head][query], -1).argmax())
                cells.append(asked.cell(head, query, key))
    return cells


def check_cell(cell: Cell) -> None:
    """All ways to write one score give the one that ran."""
    of, record = cell.of, cell.of.record
    own = np.asarray(record.scores[of.head][of.query], float)
    least = EXACT * np.abs(own[of.seen]).max() + 1e-7
    query, keys = cell.writers
    for scores in (
        cell.apart.scores,
        cell.words.scores,
        query.scores,
        keys.scores,
    ):
        np.testing.assert_allclose(of.bent(scores)[of.seen], own[of.seen], rtol=0, atol=least)
    raw = cell.apart.scores
    expected = raw[cell.key] - raw[of.seen].mean()
    assert sum(cell.kinds.values()) == pytest.approx(expected, abs=4 * least)
    rest = cell.against(of.added)
    assert cell.against(cell.words.terms).sum() + rest == pytest.approx(expected, abs=4 * least)
    np.testing.assert_allclose(
        of.weights(raw), np.asarray(record.pattern[of.head])[of.query], rtol=0, atol=1e-5
    )


@pytest.mark.parametrize(("make", "changes"), CASES)
def test_sums_are_the_scores_of_our_models(make: Make, changes: Changes) -> None:
    cells = cells_of(*ran(make(**changes)))
    assert cells
    for cell in cells:
        check_cell(cell)
        assert sentence(cell)


@pytest.mark.parametrize("family", sorted({*FAMILIES} - PICTURES))
def test_sums_are_the_scores_of_models_of_others(family: str) -> None:
    model, trace = captured(family)
    for cell in cells_of(model, trace):
        check_cell(cell)
        assert sentence(cell)


# --- words, by hand -----------------------------------------------------------------------------


def held_norm(part: reference.Reader, name: str, x: Array, ran: Array) -> Array:
    """A layer norm that divides by the deviation of what ran, of a part (T, D), no offset."""
    deviation = np.sqrt(ran.var(axis=-1, keepdims=True) + part.config["norm_eps"])
    return (x - x.mean(axis=-1, keepdims=True)) / deviation * part.get(f"{name}.gain")


def brought(model: Transformer, trace: Trace, word: int, layer: int) -> Array:
    """What one word's embedding becomes in the stream before a layer, (T, D), all else held."""
    files, arrays = files_of(model), {k: x.astype(float) for k, x in all_arrays(trace).items()}
    x = np.zeros_like(arrays["decoder.embed"])
    x[word] = arrays["decoder.embed"][word]
    for number in range(layer):
        part, at = reference.Reader(files).part(f"blocks.{number}"), f"decoder.blocks.{number}"
        read = held_norm(part, "attn_norm", x, arrays[f"{at}.resid_pre"])
        heads = np.split(part.get("attn.v_proj.weight") @ read.T, len(arrays[f"{at}.attn.z"]))
        pairs = zip(arrays[f"{at}.attn.pattern"], heads, strict=True)
        z = np.concatenate([pattern @ values.T for pattern, values in pairs], axis=1)
        x = x + z @ part.get("attn.out_proj.weight").T
        ran = part.norm("ffn_norm", arrays[f"{at}.resid_mid"])
        up = part.part("ffn").linear("up", ran)
        gates = reference.ACTIVATIONS[files.config["feedforward"]](up) / up
        read = held_norm(part, "ffn_norm", x, arrays[f"{at}.resid_mid"])
        x = x + (read @ part.get("ffn.up.weight").T * gates) @ part.get("ffn.down.weight").T
    part = reference.Reader(files).part(f"blocks.{layer}")
    return held_norm(part, "attn_norm", x, arrays[f"decoder.blocks.{layer}.resid_pre"])


@pytest.mark.parametrize("changes", [{}, {"feedforward": "gelu", "bias": False}])
def test_a_word_is_what_its_embedding_becomes_with_all_else_held(changes: Changes) -> None:
    model = tiny_model(**changes)
    trace = capture(model, IDS, list("abcdefg"))
    sides = result_of(sides_of(trace, model, Site("decoder", "self", 1), in_words))
    weights = reference.Reader(files_of(model)).part("blocks.1.attn")
    for word in range(len(IDS)):
        x = brought(model, trace, word, 1)
        for found, name in ((sides.q, "q_proj"), (sides.k, "k_proj")):
            expected = np.split(weights.get(f"{name}.weight") @ x.T, found.shape[1])
            number = number_of(sides.asking, word)
            np.testing.assert_allclose(
                found[number].transpose(1, 2), np.stack(expected), rtol=0, atol=2e-6
            )


@pytest.mark.parametrize("site", range(2))
def test_without_a_head_the_row_is_that_of_a_query_without_it(site: int) -> None:
    """In float64 from the weights: what it wrote, behind the norm as it was, leaves the query."""
    model = tiny_model(bias=False)
    trace = capture(model, IDS, list("abcdefg"))
    record, arrays, files = trace.attention[1], all_arrays(trace), files_of(model)
    first, own = (reference.Reader(files).part(f"blocks.{n}") for n in (0, 1))
    z = trace.attention[0].z[site].astype(float)
    size = z.shape[-1]
    wrote = z @ first.get("attn.out_proj.weight")[:, site * size : (site + 1) * size].T
    part = held_norm(own, "attn_norm", wrote, arrays["decoder.blocks.1.resid_pre"].astype(float))
    cell = reasons(trace, model, record.site).cell(2, 6, 3)
    made = result_of(sides_of(trace, model, record.site, written))
    number = [one.name for one in made.asking].index(f"L0 H{site}")
    loses = own.get("attn.q_proj.weight") @ part[6]
    q = record.q[2, 6] - np.split(loses, record.n_heads)[2]
    expected = cell.of.weights(record.scale * record.k[record.kv_head(2)].astype(float) @ q)
    query = by_side(made, cell.of)[0]
    np.testing.assert_allclose(query.without(number), expected, rtol=0, atol=1e-5)


# --- kinds, by hand -----------------------------------------------------------------------------


def test_the_four_kinds_are_made_of_the_weights_themselves() -> None:
    """In float64 from the file: what is a token's own, and what all share or their place says."""
    trace = stories_trace(
        "Mary had a red ball and John had a blue kite. "
        "When it rained, Mary took the red ball and John took the blue"
    )
    layer, head, query, key = 3, 2, 24, 19
    files = reference.Reader(reference.read(SHIPPED / "stories"))
    part, x = files.part(f"blocks.{layer}"), trace.residuals[layer].resid_pre.astype(float)
    positions = reference.position_vectors(files, len(x))
    shared = (x - positions)[1:].mean(axis=0)
    n_heads, n_seen = files.config["n_heads"], query + 1

    def made(name: str, half: Array) -> Array:
        read = held_norm(part, "attn_norm", half, x)
        return np.split(read @ part.get(f"attn.{name}.weight").T, n_heads, axis=1)[head]

    halves = {"place": shared + positions, "own": x - positions - shared}
    q, k = ({name: made(of, x) for name, x in halves.items()} for of in ("q_proj", "k_proj"))

    def kind(asking: str, asked: str) -> float:
        scores = k[asked][:n_seen] @ q[asking][query] / np.sqrt(len(q[asking][query]))
        return scores[key] - scores.mean()

    expected = {
        "place": kind("place", "place"),
        "key": kind("place", "own"),
        "query": kind("own", "place"),
        "match": kind("own", "own"),
    }
    cell = reasons(trace, stories().model, Site("decoder", "self", layer)).cell(head, query, key)
    largest = np.abs(trace.attention[layer].scores[head][query][:n_seen]).max().item()
    assert cell.kinds == pytest.approx(expected, abs=4 * EXACT * largest)


# --- what it says of models that are known ------------------------------------------------------


@pytest.fixture(scope="module")
def induction() -> checkpoint.Checkpoint:
    return checkpoint.load("induction", device="cpu")


def letters(seed: int, n: int = 12) -> list[int]:
    """A row of different letters that comes twice, as ids."""
    row = np.random.default_rng(seed).permutation(26)[:n].tolist()
    return [*row, *row]


def asked(model: Transformer, ids: list[int], layer: int = 1) -> Reasons:
    trace = capture(model, ids, [chr(97 + i) for i in ids])
    return reasons(trace, model, Site("decoder", "self", layer))


def test_an_induction_head_holds_its_own_letter_and_the_letter_before_the_key(
    induction: checkpoint.Checkpoint,
) -> None:
    """Where it looks where it should: in 226 of 229 rows of 30 texts, of which six are tried."""
    found = []
    for seed in range(6):
        why = asked(induction.model, letters(seed))
        for query in range(14, 23):
            cell = why.cell(0, query, query - 11)
            if cell.weight > 0.5:
                row = word_rows(cell, 1)[0]
                found.append((row["query_token"], row["key_token"]) == (query, query - 12))
    assert len(found) > 40
    assert sum(found) >= 0.97 * len(found)


def test_the_sentence_names_the_pair_and_who_brought_it(induction: checkpoint.Checkpoint) -> None:
    said = sentence(asked(induction.model, letters(1)).cell(0, 18, 7))
    before, now, key = (chr(97 + letters(1)[at]) for at in (6, 18, 7))
    assert said.startswith(f"L1 H0 looks from “{now}” (18) to “{key}” (7), with weight 0.")
    assert "What counts most is a match of query and key (+" in said
    assert f"The query holds its own word “{now}” (18), and the key holds “{before}” (6)," in said
    assert "the word before it, brought there by L0 H" in said


def test_the_sentence_says_where_else_it_might_look_and_where_it_hardly_does(
    induction: checkpoint.Checkpoint,
) -> None:
    why = asked(induction.model, letters(1))
    row, other = why.record.pattern[0][18], chr(97 + letters(1)[3])
    said = sentence(why.cell(0, 18, 7, other=3))
    assert f". Why there and not to “{other}” (3), weight {row[3]:.2f}? What counts most is" in said
    low = why.cell(0, 18, 3)
    most = max(low.kinds, key=lambda name: abs(low.kinds[name]) * (low.kinds[name] < 0))
    said = sentence(low)
    assert said.startswith("L1 H0 hardly looks from")
    assert f"by {-low.score:.1f}; what lowers it most is {KINDS_SAID[most]} (−" in said


def test_a_row_without_a_difference_has_no_reason(induction: checkpoint.Checkpoint) -> None:
    blind = deepcopy(induction.model)
    for parameter in blind.get_submodule("blocks.1.attn.q_proj").parameters():
        parameter.data.zero_()
    said = sentence(asked(blind, letters(1)).cell(0, 7, 3))
    assert said.endswith(", with weight 0.12. Nothing sets its score apart.")


def test_a_label_in_the_sentence_cannot_turn_it(induction: checkpoint.Checkpoint) -> None:
    ids = letters(1)
    trace = capture(induction.model, ids, ["\u202e" if i == ids[7] else "a" for i in ids])
    why = reasons(trace, induction.model, Site("decoder", "self", 1))
    assert "\u202e" not in sentence(why.cell(0, 18, 7))


def test_where_heads_wrote_for_each_other_one_of_them_is_named_first(
    induction: checkpoint.Checkpoint,
) -> None:
    """W_O of both heads of layer 0 exchanged: the writer whose term changes most is one of them."""
    spoiled = deepcopy(induction.model)
    weights = spoiled.get_submodule("blocks.0.attn.out_proj").weight.data
    weights[:] = torch.cat(weights.chunk(2, dim=1)[::-1], dim=1)
    for seed in range(8):
        ids, query = letters(seed), 14 + seed
        changes = []
        for model in (induction.model, spoiled):
            cell = asked(model, ids).cell(0, query, query - 11)
            changes.append([cell.against(side.terms) for side in cell.writers])
        moved = [np.abs(a - b) for a, b in zip(*changes, strict=True)]
        most = max(moved, key=np.max).argmax()
        assert cell.writers[0].writers[most].name in ("L0 H0", "L0 H1")


# --- rules --------------------------------------------------------------------------------------

COPIES = "the query’s own word with the word before the key, the same word"


@pytest.mark.parametrize(("make", "changes"), CASES)
def test_looks_are_the_strongest_keys_with_the_kinds_of_their_cells(
    make: Make, changes: Changes
) -> None:
    model, trace = ran(make(**changes))
    n_looks = 0
    for record in trace.attention:
        if record.site.kind == "cross" or trace.stream(record.site.stack).kind != "text":
            continue
        asked = reasons(trace, model, record.site)
        for head in range(record.n_heads):
            wanted = {}
            for query, row in enumerate(np.asarray(record.pattern[head])):
                if record.mask_of(head)[query].sum() > 1 and row.max() >= RESTS:
                    cell = asked.cell(head, query, int(row.argmax()))
                    wanted[query] = (cell.key, cell.kind, pytest.approx(cell.score, abs=1e-6))
            looks = looks_of(asked, head)
            parts = (looks.key.tolist(), looks.kind.tolist(), looks.score.tolist())
            found = dict(zip(looks.query.tolist(), zip(*parts, strict=True), strict=True))
            assert found == wanted
            n_looks += len(found)
            assert counted(asked, head).rules.total() == len(found)
    assert n_looks or trace.main.kind == "patches"


def test_the_rule_of_an_induction_head_is_counted_over_its_texts(
    induction: checkpoint.Checkpoint,
) -> None:
    texts = [asked(induction.model, letters(seed)).trace for seed in range(5)]
    rules = Rules(induction.model, "decoder.attn", [lambda text=text: text for text in texts])
    rules.finish()
    assert rules.is_done and rules.progress == 1
    assert rules.heads[1, 0].holds == COPIES
    assert rules.heads[0, 1].holds == "place alone: the token before"
    for (layer, head), found in rules.heads.items():
        own = [
            counted(reasons(x, induction.model, Site("decoder", "self", layer)), head)
            for x in texts
        ]
        assert found.rules == sum((one.rules for one in own), Counter())
        assert found.kinds == sum((one.kinds for one in own), Counter())
    assert not counted(asked(induction.model, letters(0)[:3]), 0).holds, "few looks"


def test_a_key_is_looked_at_for_the_word_that_gives_most_with_the_query_s_place() -> None:
    """Each such look of a layer of the story writer, word by word."""
    text = "The animal didn't cross the street because it was too tired."
    loaded = checkpoint.load("stories", "cpu")
    why = reasons(loaded.trace(text).trace, loaded.model, Site("decoder", "self", 3))
    of_words, of_place = result_of(why.words()), result_of(why.placed())
    words, found = [one.kind == "word" for one in of_words.asked], []
    for head in range(8):
        looks = looks_of(why, head)
        rules = rules_of(why, looks, of_words)
        for query, key, score, kind, rule in zip(*looks[1:], rules, strict=True):
            if kind == "key":
                q, k = of_place.q[1, head, query], of_words.k[words][:, head, : query + 1]
                given = (k[:, key] - k.mean(dim=1)) @ q * why.record.scale
                place = int(given.argmax()) - int(key)
                said = {0: "the key’s own word", -1: "the word before the key"}.get(place, "")
                is_there = given.max() >= 0.3 * score
                assert rule.startswith(said) if is_there else rule.endswith("no words stand out")
                found.append(rule)
    assert len(found) > 20 and len(set(found)) > 2


# --- in steps -----------------------------------------------------------------------------------


def test_a_cell_is_told_layer_by_layer(
    induction: checkpoint.Checkpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Words and writers, of both stacks where there are two; in the end all is there to be said."""
    translator, trace = ran(tiny_translator())
    cross = reasons(trace, translator, Site("decoder", "cross", 1)).cell(0, 2, 1)
    for cell, n_read in ((cross, 4 + 4), (asked(induction.model, letters(1)).cell(0, 18, 7), 2)):
        work, seen = Telling(cell), [0.0]
        while not work.is_done:
            work.advance(0)
            seen.append(work.progress)
        assert seen == sorted(set(seen))
        assert seen[-1] == 1
        assert len(seen) > 2 * (n_read + PIECES)
        with monkeypatch.context() as patch:
            patch.setattr("model.analysis.why.reasons.sides_of", None)
            assert sentence(cell)


@pytest.mark.parametrize("way", [placed, in_words, with_mlps_opened, written])
def test_a_stream_gives_way_after_each_of_its_sublayers(way: Sum) -> None:
    translator, trace = ran(tiny_translator())
    for n, place in ((0, (0, "attn_out")), (4, (1, "cross_out")), (6, None)):
        found = [*way(Stretch(trace, translator, "decoder", place))]
        assert len(found) == n + (way in (in_words, with_mlps_opened)), "these begin with a step"


# --- refusals -----------------------------------------------------------------------------------


def test_where_nothing_can_be_said_a_line_says_why(
    induction: checkpoint.Checkpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    why = asked(induction.model, letters(0))
    refused: dict[str, tuple[Any, ...]] = {
        "query 3 may not attend to key 5, which comes later: nothing was scored": (0, 3, 5),
        "query 0 may attend to one key alone: there is nothing to compare it with": (0, 0, 0),
        "there is no key 24 of 24; give 0 to 23": (0, 3, 24),
        "there is no query -1 of 24": (0, -1, 0),
        "key 2 is compared with itself": (0, 3, 2, 2),
    }
    for line, cell in refused.items():
        with pytest.raises(ValueError, match=line):
            why.cell(*cell)
    translator = checkpoint.load("translate", "cpu")
    whole = translator.trace("Two dogs run.").trace
    with pytest.raises(ValueError, match="rules are counted where the words of one text attend"):
        counted(reasons(whole, translator.model, Site("decoder", "cross", 0)), 0)
    monkeypatch.setattr("model.analysis.why.reasons.MOST_TOKENS", 20)
    with pytest.raises(ValueError, match=r"there are 24 tokens; why a head looks .* up to 20"):
        asked(induction.model, letters(0))
    monkeypatch.undo()
    with pytest.raises(ValueError, match="99 is no writer there; give the number of a token"):
        number_of(why.cell(0, 3, 2).words.asking, 99)
    trace = why.trace
    bare = Trace(trace.facts, (replace(trace.main, residuals=()),), trace.attention)
    with pytest.raises(ValueError, match="what the parts of this model write was not found"):
        reasons(bare, why.model, why.site)
    padded = replace(trace.attention[1], mask=trace.attention[1].mask & (np.arange(24) > 1))
    of_pads = Reasons(Trace(trace.facts, trace.streams, (padded,)), why.model, why.site)
    for cell in ((0, 5, 0), (0, 1, 1)):
        with pytest.raises(ValueError, match=r"may not attend to key [01]: nothing was scored"):
            of_pads.cell(*cell)
    spoiled = deepcopy(induction.model)
    spoiled.get_submodule("blocks.1").attn_norm = torch.nn.Tanh()
    with pytest.raises(ValueError, match="a Tanh is no norm"):
        _ = reasons(trace, spoiled, why.site).cell(0, 3, 2).apart
    further = replace(trace.attention[1], further=("edited",))
    with pytest.raises(ValueError, match=r"the scores of decoder\.blocks\.1\.attn are edited"):
        reasons(Trace(trace.facts, trace.streams, (further,)), why.model, why.site)


@pytest.mark.parametrize("factor", [1.01, 0.0])
def test_a_sum_that_misses_is_not_shown(induction: checkpoint.Checkpoint, factor: float) -> None:
    """One head of layer 0 writes a hundredth more than ran, or nothing."""
    why = asked(induction.model, letters(3))
    spoiled = deepcopy(induction.model)
    spoiled.get_submodule("blocks.0.attn.out_proj").weight.data[:, :32] *= factor
    cell = reasons(why.trace, spoiled, why.site).cell(0, 15, 4)
    with pytest.raises(ValueError, match=r"add up to a score that is .* off what ran"):
        _ = cell.writers
    with pytest.raises(ValueError, match=r"add up to a score that is .* off what ran"):
        counted(reasons(why.trace, spoiled, why.site), 0)
