"""Protects `python -m model generate`: the text it prints, and why it stopped."""

from pathlib import Path

import pytest

from model.commands import generate
from model.decoding.beam import beam_search
from model.decoding.filters import Sampling
from model.decoding.sampling import generate as steps
from model.sources import checkpoint
from tests.model.builders import tiny_checkpoint
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
    answer = result.answer
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
    answer = run(command, folder, **options).answer
    loaded = checkpoint.load(folder)
    prompt_ids, end_id = loaded.tokenizer.encode(PROMPT), loaded.tokenizer.end_id
    *_, last = beam_search(loaded.model, prompt_ids, end_ids={end_id}, **options)
    text = loaded.tokenizer.decode([i for i in last.winner.ids if i != end_id])
    assert (answer["continuation"], answer["stopped"]) == (text, last.stopped)
    assert answer["new_tokens"] == len(last.winner.ids)


def test_sliding_goes_on_after_a_full_context(command: Command, folder: Path) -> None:
    options = {"temperature": 3, "max_new_tokens": 40}
    answers = [run(command, folder, **options, slide=True, seed=seed).answer for seed in range(9)]
    assert "context full" not in {answer["stopped"] for answer in answers}
    assert max(answer["new_tokens"] for answer in answers) > 23 - len(PROMPT)
