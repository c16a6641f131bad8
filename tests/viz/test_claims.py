"""Protects what lessons and examples say of the shipped models: each statement, as a number."""

import tomllib
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs

import numpy as np
import pytest

from model.analysis.heads import first_token, previous_token
from model.analysis.measures import MEASURES
from model.analysis.probabilities import distribution
from model.analysis.similarity import nearest
from model.analysis.why.reasons import reasons
from model.analysis.why.rule import counted
from model.analysis.why.sentence import sentence
from model.analysis.why.tables import word_rows
from model.decoding.filters import Sampling
from model.decoding.translation import Way
from model.sources.checkpoint import load, read_config
from model.sources.places import SHIPPED
from model.survey.stored import read_survey
from model.trace import Site, Trace
from tests.model.builders import tiny_checkpoint
from tests.viz.apps import open_page
from tests.viz.builders import stories, stories_trace
from viz.frame import ASSETS
from viz.frame.examples import Example, examples
from viz.labels import token_labels
from viz.runs import handle_of, run_translation
from viz.runs.blanks import run_blanked
from viz.runs.translating import written

SCHEMES = ("sinusoidal", "learned", "rope", "alibi", "none")


def steps() -> Iterator[tuple[str, dict[str, str]]]:
    """Every step of every tour."""
    for path in sorted((ASSETS / "lessons").glob("*.toml")):
        for step in tomllib.loads(path.read_text(encoding="utf-8"))["step"]:
            yield path.stem, step


def step_with(words: str) -> tuple[dict[str, str], dict[str, str]]:
    """The one step that says some words, and what its link says."""
    (step,) = [step for _, step in steps() if words in step["text"] + step.get("question", "")]
    return step, {name: values[0] for name, values in parse_qs(step["link"]).items()}


def trace_of_link(link: dict[str, str]) -> Trace:
    """The run a link opens: without a model, of the first."""
    assert link.get("model", "stories") == "stories"
    return stories_trace(link.get("sentence", examples()[0].sentence))


def head_of(link: dict[str, str]) -> tuple[int, int]:
    """The head a link opens."""
    first = examples()[0]
    return int(link.get("layer", first.layer)), int(link.get("head", first.head))


# --- examples -------------------------------------------------------------------------------------


@pytest.mark.parametrize("example", examples(), ids=lambda example: example.title)
def test_an_example_shows_what_it_says(example: Example) -> None:
    trace = stories_trace(example.sentence)
    pattern = trace.attention[example.layer].pattern[example.head]
    labels = token_labels(trace.tokens)
    query, key = map(int, example.cell.split("-"))
    assert pattern[query].argmax() == key
    assert pattern[query, key] > 0.5
    quoted = [word.strip("“”") for word in example.shows.split() if word.startswith("“")]
    if quoted[:2]:
        assert quoted[0].rstrip("”,") in (labels[query], labels[key])
        assert {labels[query], labels[key]} >= {word.rstrip("”,") for word in quoted[:2]} - {""}
    if "most tokens" in example.shows:
        previous = [int(row.argmax()) == i for i, row in enumerate(pattern[1:])]
        assert np.mean(previous) > 0.5
    if "the second “ball”" in example.shows:
        balls = [i for i, label in enumerate(labels) if label == "ball"]
        assert (query, key) == (balls[1], balls[0] + 1)
        surveyed = read_survey(stories().folder).measured("decoder.attn")
        for trait in (MEASURES["induction"].large, MEASURES["prefix"].large):
            assert not trait.holds(surveyed[trait.measure].values[example.layer, example.head])
    if "most other words too" in example.shows:
        assert np.mean(pattern[np.arange(len(labels)) != query].argmax(axis=-1) == key) > 0.5
        assert not trace.attention[example.layer].mask[query, labels.index("tired")]
    if "“park” still more" in example.shows:
        assert pattern[labels.index("park"), key] > pattern[query, key]


def test_another_model_of_the_name_is_not_said_to_show_it(shelf: Path) -> None:
    tiny_checkpoint(shelf / "stories", max_seq_len=99, n_layers=6, d_model=64, n_heads=8)
    app = open_page("Attention", sentence=examples()[0].sentence)
    said = " ".join(x.value for x in app.markdown)
    assert "Each head decides" in said
    assert "Try: " not in said


# --- lessons --------------------------------------------------------------------------------------


def test_neighbours_of_red_are_colours() -> None:
    step_with("Of the story writer’s “red”, the nine nearest are all colours")
    table, tokenizer = stories().model.state_dict()["embed.weight"].numpy(), stories().tokenizer
    (red,) = tokenizer.encode("red")
    every = np.ones(len(table), bool)
    found = [tokenizer.name(i).strip() for i in nearest(table, every, red, 10, "cosine").ids]
    colours = {"blue", "green", "white", "yellow", "pink", "brown", "black", "purple", "gray"}
    assert set(found) == {"red", *colours}


def test_one_cell_from_product_to_weight() -> None:
    _, link = step_with("“ball” times the key of “and” is 66.8; divided by √32, that makes a score")
    record, (query, key) = trace_of_link(link).attention[3], map(int, link["cell"].split("-"))
    product = record.q[2, query] @ record.k[record.kv_head(2), key]
    assert f"{product:.1f} {record.scores[2, query, key]:.1f}" == "66.8 11.8"
    assert record.scores[2, query, : query + 1].argmax() == key
    step_with("Three quarters of what “ball” takes with it")
    assert record.pattern[2, query, key] == pytest.approx(0.75, abs=0.005)


def test_the_sink_of_a_lesson() -> None:
    _, link = step_with("leaves nearly half of its weight on the first token")
    assert link["hide_first"] == "yes"
    layer, head = head_of(link)
    record = trace_of_link(link).attention[layer]
    assert 0.4 < first_token(record.pattern, record.mask).values[head] < 0.5


def test_a_head_of_it_is_one_of_other_words_too() -> None:
    _, link = step_with("“it” attends to “animal” with 0.63")
    (layer, head), trace = head_of(link), trace_of_link(link)
    rows, labels = trace.attention[layer].pattern[head], token_labels(trace.tokens)
    assert f"{rows[labels.index('it'), labels.index('animal')]:.2f}" == "0.63"
    for word in ("it", "was", "too"):
        assert rows[labels.index(word)].argmax() == labels.index("animal")


def test_why_it_looks_at_animal_and_by_which_rule_the_head_does() -> None:
    step, link = step_with(
        "“animal” lies 3.4 above the mean of the keys, and +1.9 of that is the key, whoever asks"
    )
    layer, head = head_of(link)
    why = reasons(trace_of_link(link), stories().model, Site("decoder", "self", layer))
    cell = why.cell(head, *map(int, link["cell"].split("-")))
    numbers = (cell.kinds["key"], cell.kinds["match"], cell.score)
    assert [f"{x:.1f}" for x in numbers] == ["1.9", "1.5", "3.4"]
    assert "makes a match of +1.5" in step["text"]
    assert "(+1.9; all four kinds add up to +3.4). The key’s own embedding gives" in sentence(cell)
    assert "weight 0.63" in sentence(cell) and sentence(cell).endswith("the weight is 0.20.")
    assert "In 10 of its 11 looks" in step["notes"]
    looks = counted(why, head)
    assert (looks.rules["the key’s own word, whoever asks"], looks.rules.total()) == (10, 11)


def test_a_dot_product_of_sums_is_a_sum_of_dot_products() -> None:
    _, link = step_with("“ball” in the query with “and” in the key gives +1.6")
    layer, head = head_of(link)
    why = reasons(trace_of_link(link), stories().model, Site("decoder", "self", layer))
    query, key = map(int, link["cell"].split("-"))
    first = word_rows(why.cell(head, query, key), 1)[0]
    assert (first["query_token"], first["key_token"]) == (query, key)
    assert f"{first['score']:.1f} {first['weight_without']:.2f}" == "1.6 0.36"


def test_the_rule_of_a_head_as_it_forms() -> None:
    _, link = step_with("for all 12 letters of the second round")
    found = {}
    for step in ("/step-000000", "/step-000078", ""):
        loaded = load(f"induction{step}", "cpu")
        trace = loaded.trace(link["sentence"]).trace
        found[step] = counted(reasons(trace, loaded.model, Site("decoder", "self", 1)), 0)
        if not step:
            assert trace.attention[1].pattern[0][12:].argmax(axis=-1).tolist() == [*range(1, 13)]
    first, middle, last = found.values()
    assert (first.rules.total(), first.holds) == (5, "")
    assert (middle.kinds["place"], middle.kinds.total()) == (13, 18)
    assert middle.holds == "place alone: a token far before"
    assert middle.rules[middle.holds] == 12
    assert last.holds == "the query’s own word with the word before the key, the same word"
    assert last.rules[last.holds] == 12


def test_a_later_word_changes_a_row_of_the_encoder_alone() -> None:
    _, link = step_with("this head’s weight from “it” to “street” rises from 0.24 to 0.67")
    texts, (layer, head) = (link["sentence"], link["second"]), head_of(link)
    one, other = (load(link["model"], "cpu").trace(text).trace for text in texts)
    it, street = map(token_labels(one.tokens).index, ("it", "street"))
    before, after = (run.attention[layer].pattern[head][it] for run in (one, other))
    assert (f"{before[street]:.2f}", f"{after[street]:.2f}") == ("0.24", "0.67")
    assert after.argmax() == street
    assert sum(len(record.pattern) for record in one.attention) == 48
    for record, twin in zip(*(stories_trace(text).attention for text in texts), strict=True):
        np.testing.assert_array_equal(record.pattern[:, it], twin.pattern[:, it])


def test_what_stands_after_a_blank_gives_it_away() -> None:
    step, link = step_with("“barked”, which comes after the blank, gives it away: “dog”, 95 %")
    assert "only look back" in step["question"]
    blank, place = load("blank", "cpu"), int(link["blanks"])
    ids = blank.tokenizer.encode(link["sentence"])
    (dog,) = blank.tokenizer.encode("dog")
    assert ids[place] == dog
    handle = handle_of("blank", "cpu")
    found = [
        distribution(
            run_blanked(handle, link["sentence"], (place,), is_causal).trace.logits[place],
            Sampling(),
        ).before[dog]
        for is_causal in (False, True)
    ]
    assert [f"{p:.3f}" for p in found] == ["0.950", "0.003"]


def test_german_words_attend_to_their_english_ones() -> None:
    _, link = step_with("“Strand” to “beach” with 1.00")
    handle = handle_of("translate", "cpu")
    ids = written(handle, link["source"], Way()).ids
    trace = run_translation(handle, link["source"], ids).trace
    german, english = (list(trace.stream(name).labels) for name in ("decoder", "encoder"))
    pattern = trace.group("decoder.cross_attn").records[0].pattern[1]
    query, key = map(int, link["cell"].split("-"))
    assert (german[query].strip(), english[key].strip()) == ("Strand", "beach")
    assert f"{pattern[query, key]:.2f}" == "1.00"
    same = [1, 2, 3, 4, 5, 6, 7]  # Zwei Kinder spielen mit einem roten Ball, in English order
    assert [pattern[i].argmax() for i in same] == [i - 1 for i in same]


def test_odds_of_the_next_token() -> None:
    for words, temperature, top_p, wanted in (
        ("“girl” 0.46, “boy” 0.26", 1.0, 1.0, "0.46 0.26"),
        ("“girl” rises from 0.46 to 0.88", 0.3, 1.0, "0.88 0.12"),
        ("Two are left: “girl” and “boy”", 1.0, 0.5, "0.64 0.36"),
        ("“girl” rises from 0.46 to 0.88", 2.0, 1.0, "0.05 0.04"),  # what its question shows
    ):
        _, link = step_with(words)
        spread = distribution(
            trace_of_link(link).logits[-1], Sampling(temperature=temperature, top_p=top_p)
        )
        first, second = np.argsort(-spread.after)[:2]
        assert [stories().tokenizer.name(i) for i in (first, second)] == [" girl", " boy"]
        assert f"{spread.after[first]:.2f} {spread.after[second]:.2f}" == wanted
        assert spread.kept.sum() == (2 if top_p < 1 else 4096)


def test_a_head_of_the_token_before_and_one_of_the_first_token() -> None:
    step, link = step_with("attends mostly to the token before")
    layer, head = head_of(link)
    trace = trace_of_link(link)
    record = trace.attention[layer]
    assert previous_token(record.pattern, record.mask).values[head] > 0.5
    assert "most tokens attend to the first one more than to any other" in step["question"]
    shown = {name: values[0] for name, values in parse_qs(step["show"]).items()}
    layer, head = head_of(shown)
    pattern = trace_of_link(shown).attention[layer].pattern[head]
    assert np.mean(pattern[1:].argmax(axis=-1) == 0) > 0.5


def test_sizes_of_a_lesson_are_the_model_s() -> None:
    step_with("Six layers of eight heads")
    config = stories().config
    assert (config.n_layers, config.n_heads) == (6, 8)


# --- cards, which the badge shows -----------------------------------------------------------------


@pytest.mark.parametrize("name", ["stories", *(f"positions-{scheme}" for scheme in SCHEMES)])
def test_a_card_has_the_sizes_and_variants_of_its_config(name: str) -> None:
    config = read_config(SHIPPED / name / "config.json")
    card = (SHIPPED / name / "card.md").read_text(encoding="utf-8")
    norm, activation = (
        {"layer": "LayerNorm", "rms": "RMSNorm"},
        {"gelu": "GELU", "swiglu": "SwiGLU"},
    )
    for words in (
        f"| {config.n_layers} × {config.n_heads}, d_model {config.d_model}, "
        f"d_head {config.d_head}, d_ff {config.d_ff}",
        f"| context | {config.max_seq_len} tokens",
        f"{config.norm_placement}-norm {norm[config.norm]}, {activation[config.feedforward]}, "
        f"{'biases' if config.bias else 'no biases'}",
        f"{config.vocab_size:,} byte-level BPE tokens",
        f"embedding and unembedding {'tied' if config.tied_embeddings else 'apart'}",
    ):
        assert words in card, words
    assert "nothing but how they know positions" not in card
