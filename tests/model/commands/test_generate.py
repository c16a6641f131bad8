"""Protects `python -m model generate`: the text it prints, why it stopped, and what it refuses."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from model.commands import generate
from model.decoding.beam import beam_search
from model.decoding.filters import Sampling
from model.decoding.sampling import generate as steps
from model.sources import checkpoint
from tests.model.builders import SENTENCE, tiny_checkpoint
from tests.model.conftest import Command, Result

PROMPT = "the cat"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A tiny checkpoint."""
    return tiny_checkpoint(tmp_path / "mine")


def run(command: Command, folder: Path, **options: object) -> Result:
    """Continue PROMPT; the option `max_new_tokens` is --max-new-tokens."""
    words = {"checkpoint": folder, "prompt": PROMPT} | options
    pairs = [(f"--{name.replace('_', '-')}", value) for name, value in words.items()]
    return command(generate, *(word for pair in pairs for word in pair if word is not True))


def test_prints_the_text_and_then_json(command: Command, folder: Path) -> None:
    result = run(command, folder, max_new_tokens=5, temperature=0.5, top_k=7, top_p=0.9, seed=3)
    assert (result.code, result.err) == (0, [])
    answer = json.loads(result.out[-1])
    assert "\n".join(result.out[:-1]) == PROMPT + answer["continuation"]
    assert (answer["checkpoint"], answer["prompt"], answer["seed"]) == ("mine", PROMPT, 3)
    loaded = checkpoint.load(folder)
    sampling = Sampling(temperature=0.5, top_k=7, top_p=0.9, seed=3)
    prompt_ids, end_id = loaded.tokenizer.encode(PROMPT), loaded.tokenizer.end_id
    expected = list(steps(loaded.model, prompt_ids, sampling, max_new_tokens=5, end_ids={end_id}))
    text = loaded.tokenizer.decode([s.token_id for s in expected if s.token_id != end_id])
    assert answer["continuation"] == text
    assert answer["new_tokens"] == len(expected)


def test_beams_find_the_winner_of_the_search(command: Command, folder: Path) -> None:
    options = {"beam_width": 4, "max_new_tokens": 6, "length_penalty": 0.5}
    answer = json.loads(run(command, folder, **options).out[-1])
    loaded = checkpoint.load(folder)
    prompt_ids, end_id = loaded.tokenizer.encode(PROMPT), loaded.tokenizer.end_id
    *_, last = beam_search(loaded.model, prompt_ids, end_ids={end_id}, **options)
    text = loaded.tokenizer.decode([i for i in last.winner.ids if i != end_id])
    assert (answer["continuation"], answer["stopped"]) == (text, last.stopped)
    assert answer["new_tokens"] == len(last.winner.ids)


def test_sliding_goes_on_after_a_full_context(command: Command, folder: Path) -> None:
    options = {"temperature": 3, "max_new_tokens": 40}
    answers = [
        json.loads(run(command, folder, **options, slide=True, seed=seed).out[-1])
        for seed in range(9)
    ]
    assert "context full" not in {answer["stopped"] for answer in answers}
    assert max(answer["new_tokens"] for answer in answers) > 23 - len(PROMPT)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"beam_width": 2, "slide": True}, "--beam-width goes with neither --greedy nor --slide"),
        ({"beam_width": 2, "greedy": True}, "--beam-width goes with neither --greedy nor --slide"),
        ({"greedy": True, "temperature": 0.5}, "--temperature is for sampling, not --greedy"),
        ({"beam_width": 2, "top_p": 0.5}, "--top-p is for sampling, not --beam-width"),
        ({"length_penalty": 1}, "--length-penalty is for beams; add --beam-width"),
        ({"prompt": SENTENCE + SENTENCE}, "the prompt has 42 tokens; .* between 1 and 22"),
    ],
)
def test_bad_input_gets_one_line(
    options: dict[str, Any], message: str, command: Command, folder: Path
) -> None:
    result = run(command, folder, **options)
    assert (result.code, result.out, len(result.err)) == (2, [], 1)
    assert re.match(f"error: {message}", result.err[0])
