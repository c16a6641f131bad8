"""Protects what tours and examples say of the shipped models: each statement, as a number."""

import tomllib
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs

import numpy as np
import pytest

from model.analysis.heads import FROM, first_token, previous_token
from model.analysis.lens import logit_lens
from model.sources.checkpoint import load, read_config
from model.sources.places import SHIPPED
from model.survey.stored import read_survey
from model.trace import Trace
from tests.model.builders import tiny_checkpoint
from tests.viz.apps import open_page
from tests.viz.builders import stories, stories_trace
from viz.figures.labels import token_labels
from viz.frame import ASSETS
from viz.frame.examples import Example, examples

SCHEMES = ("sinusoidal", "learned", "rope", "alibi", "none")
CLEAR = 0.1  # by which a weight that is asked for stands out


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
        for name in ("induction", "prefix"):
            assert surveyed[name].values[example.layer, example.head] < FROM[name]
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


# --- tours ----------------------------------------------------------------------------------------


def test_the_sink_of_the_tour() -> None:
    _, link = step_with("leave much of their weight on the first token")
    assert link["hide_first"] == "yes"
    layer, head = head_of(link)
    records = trace_of_link(link).attention
    means = np.array([first_token(record.pattern, record.mask).values for record in records])
    assert 0.4 < means[layer, head] < 0.5
    assert (means > 1 / 3).sum() > 1


def test_what_a_word_attends_to_most_is_clear_to_see() -> None:
    _, link = step_with("Point at “it”: which word does it attend to most, on average")
    trace = trace_of_link(link)
    it = token_labels(trace.tokens).index("it")
    means = np.mean([record.pattern[:, it] for record in trace.attention], axis=(0, 1))
    second, most = means.argsort()[-2:]
    assert means[most] - means[second] > CLEAR
    layer, head = head_of(step_with("The framed map has all weights of that head")[1])
    assert trace.attention[layer].pattern[head][it].argmax() != most


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


def test_a_head_of_the_token_before_and_one_of_the_first_token() -> None:
    step, link = step_with("attends mostly to the token before")
    layer, head = head_of(link)
    trace = trace_of_link(link)
    record = trace.attention[layer]
    assert previous_token(record.pattern, record.mask).values[head] > 0.5
    assert "most tokens attend to the first one more than to any other" in step["question"]
    patterns = [pattern[1:] for one in trace.attention for pattern in one.pattern]
    assert any(np.mean(pattern.argmax(axis=-1) == 0) > 0.5 for pattern in patterns)


def test_sizes_of_the_tour_are_the_model_s() -> None:
    step_with("Six layers of eight heads")
    config = stories().config
    assert (config.n_layers, config.n_heads) == (6, 8)
    card = (SHIPPED / "stories" / "card.md").read_text(encoding="utf-8")
    assert "children's stories" in card
    assert all("children's stories" in x["text"] for _, x in steps() if "trained on" in x["text"]
               and "Transformer" in x["text"])  # fmt: skip


def test_the_answer_often_appears_layers_before_the_end() -> None:
    _, link = step_with("The answer often appears layers before the end.")
    lens = logit_lens(trace_of_link(link), stories().model)
    assert (lens.rank[-3] == 0).mean() > 1 / 3, "two layers before"


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
