"""Protects the commands' refusals: exit code 2, and one line that says why."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from model.commands import (
    ablate,
    attribute,
    check,
    circuit,
    evaluate,
    generate,
    patch,
    survey,
    trace,
    why,
)
from tests.model.adopted.families import build, tokens
from tests.model.adopted.families import saved as of_family
from tests.model.builders import SENTENCE, tiny_checkpoint
from tests.model.conftest import Command
from tests.model.sources.test_architectures import saved

TEXT, OTHER = "the red ball gave the dog", "the blue ball gave the dog"


def _broken(folder: Path) -> None:
    folder.mkdir()
    (folder / "config.json").write_text("{")


# Models that are made in a place; one that is not among them comes with the app.
OURS: dict[str, Callable[[Path], object]] = {
    "decoder": tiny_checkpoint,
    "encoder": lambda place: saved(place, "encoder"),
    "translator": lambda place: saved(place, "encoder_decoder"),
    "vision": lambda place: saved(place, "vision"),
    "a file": Path.touch,
    "empty": Path.mkdir,
    "broken": _broken,
}
OF_OTHERS: dict[str, Callable[[Path], object]] = {
    "bert": lambda place: of_family(place, "bert"),
    "t5": lambda place: of_family(place, "t5"),
    "bart": lambda place: of_family(place, "bart", forced_eos_token_id=None),
    "few rows": lambda place: tokens().save_pretrained(of_family(place, vocab_size=200)),
    "without tokenizer": lambda place: build("gpt2").save_pretrained(place),
}
BEAMS_ALONE = "--beam-width goes with neither --greedy nor --slide"
FEW_ROWS = "and the model has only 200; use the tokenizer that it was trained with"
NO_MODEL = "give a folder with config.json, or one of "
DIGITS = ("--image", "assets/digits.npz")
THE_CAT = ("--prompt", "the cat")
A_CAT, A_DOG = ("--text", "A cat."), ("--second", "A dog.")
CELL = ("--layer", 1, "--head", 6)
Refusal = tuple[Any, str, tuple[object, ...], str]  # command, model, its words, and what is said
REFUSALS: list[Refusal] = [
    # two inputs
    (patch, "digits", ("--second", "1"), "give it --image FILE.npz"),
    (
        patch, "digits", (*DIGITS, "--second", "1", "--answer", "seven"),
        "'seven' is not one token of digits; give one, or its id",
    ),
    (patch, "stories", ("--second", "A cat."), "takes a text; give it --text"),
    (patch, "stories", A_CAT, "give --second"),
    (patch, "stories", (*A_CAT, "--second", "A"), "and the end"),
    (patch, "stories", (*A_CAT, *A_DOG, "--answer", "cats and"), "'cats and' is not one token of"),
    (
        patch, "translate", ("--text", "A man.", "--second", "A big man."),
        "they part at “man” and “big”",
    ),
    (
        patch, "blank", (*A_CAT, *A_DOG, "--blank", 9),
        "token 9 is to be a blank but the text has 3 tokens",
    ),
    (circuit, "stories", (*A_CAT, "--second", "A cat."), "both texts are the same"),
    (circuit, "stories", (*A_CAT, "--second", "A big cat."), "they part at"),
    (circuit, "stories", (*A_CAT, *A_DOG, "--edges", 0), "--edges is 0"),
    (circuit, "stories", ("--text", "A"), "there is nothing to compare with; give --second"),
    (
        circuit, "stories", (*A_CAT, *A_DOG, "--answer", "ball", "--against", "ball"),
        "are one token",
    ),
    *((circuit, name, (*A_CAT, *A_DOG), f"this does not apply to {name}") for name in
      ("translate", "blank", "digits")),
    # parts that are off, shares of a logit
    (
        ablate, "decoder", ("--text", SENTENCE, "--way", "survey"),
        "no survey is stored with mine; python -m model survey",
    ),
    (ablate, "decoder", ("--text", SENTENCE, "--way", "other"), "--way other needs --other TEXT"),
    (
        ablate, "decoder", ("--text", SENTENCE, "--way", "other", "--other", "cat"),
        "has 21 tokens, the second 3; they part",
    ),
    (ablate, "stories", (*A_CAT, "--blank", 1), "stories is no encoder: it has no"),
    (
        attribute, "decoder", ("--text", SENTENCE, "--token", "cat"),
        "'cat' is not one token of mine; give one, or its id as a",
    ),
    # why a head looks
    (why, "stories", (*A_CAT, *CELL, "--query", 0, "--key", 0), "may attend to one key alone"),
    (why, "stories", (*A_CAT, *CELL, "--query", 0, "--key", 1), "key 1, which comes later"),
    (why, "stories", (*A_CAT, *CELL, "--query", 1, "--key", 9), "there is no key 9 of"),
    (
        why, "stories", (*A_CAT, *CELL, "--query", 1, "--key", 0, "--other", 0),
        "key 0 is compared with itself; give another",
    ),
    (
        why, "stories", (*A_CAT, "--layer", 6, "--head", 0, "--query", 1, "--key", 0),
        "there is no layer 6 of 6; give 0 to 5",
    ),
    (
        why, "translate", (*A_CAT, *CELL, "--query", 1, "--key", 0),
        "attends in 3 ways; give a group of",
    ),
    # a text that is written
    (generate, "decoder", (*THE_CAT, "--beam-width", 2, "--slide"), BEAMS_ALONE),
    (generate, "decoder", (*THE_CAT, "--beam-width", 2, "--greedy"), BEAMS_ALONE),
    (
        generate, "decoder", (*THE_CAT, "--greedy", "--temperature", 0.5),
        "^error: --temperature is for sampling, not --greedy",
    ),
    (
        generate, "decoder", (*THE_CAT, "--beam-width", 2, "--top-p", 0.5),
        "^error: --top-p is for sampling, not --beam-width",
    ),
    (
        generate, "decoder", (*THE_CAT, "--length-penalty", 1),
        "^error: --length-penalty is for beams; add --beam-width",
    ),
    (
        generate, "decoder", ("--prompt", SENTENCE + SENTENCE),
        "^error: the prompt has 42 tokens; .* between 1 and 22",
    ),
    (
        generate, "encoder", ("--prompt", "a"),
        "of the architecture 'encoder'; this needs a decoder",
    ),
    (generate, "vision", ("--prompt", "a"), "takes pictures, not text"),
    (generate, "translator", ("--prompt", "a", "--slide"), "a translation ends"),
    (
        generate, "translator", ("--prompt", "the cat " * 4),
        "33 tokens, more than the model's context of 23",
    ),
    # scores
    (evaluate, "encoder", (), "of the architecture 'encoder'; give it --text-file"),
    (evaluate, "encoder", ("--window", 99), "give it --text-file"),
    (evaluate, "translator", ("--text-file", "a"), "give it --reference-file"),
    (evaluate, "vision", ("--text-file", "a"), "of the architecture 'vision'; give it --images"),
    (evaluate, "vision", ("--images", "nothing.npz"), "holds no pictures to use"),
    (evaluate, "decoder", ("--text-file", "nothing.txt"), "No such file"),
    # a run and its checks
    (trace, "decoder", ("--text", "", "--out", "x.npz"), "the text is empty; give a sentence"),
    (
        trace, "decoder", ("--text", 24 * "a", "--out", "x.npz"),
        "24 tokens, more than the model's context of 23 tokens; shorten it",
    ),
    (
        trace, "decoder", ("--text", SENTENCE, "--out", "missing/t.npz"),
        "cannot write .*missing/t.npz: No such file",
    ),
    (check, "vision", (), "takes a picture; give it --image"),
    (check, "vision", (*DIGITS, "--number", 99999), r"there are pictures 0 to \d+; 99999 is none"),
    (trace, "encoder", ("--out", "x.npz"), "takes a text; give it --text"),
    # folders of others
    (generate, "bert", ("--prompt", TEXT), "is no decoder: it does not say how a text goes on"),
    (
        attribute, "bert", (),
        "its logits are not a plain sum of what its heads and sublayers write",
    ),
    (patch, "t5", ("--second", OTHER), "its residual stream could not be followed"),
    (generate, "t5", ("--prompt", TEXT), "most likely token here; add --greedy"),
    (generate, "t5", ("--prompt", "", "--greedy"), "the text has 0 tokens; give at least 1"),
    (generate, "t5", ("--prompt", TEXT, "--greedy", "--max-new-tokens", -2), "at least 1"),
    (
        generate, "bart", ("--prompt", 9 * TEXT, "--greedy"),
        "the model's context of 48 tokens; short",
    ),
    (survey, "t5", ("--out", "x.json"), "mine does not read one text alone, and of such"),
    (generate, "few rows", ("--prompt", TEXT), FEW_ROWS),
    (patch, "few rows", ("--text", TEXT, "--second", OTHER), FEW_ROWS),
    (survey, "few rows", ("--out", "x.json", "--text-file", __file__), FEW_ROWS),
    (patch, "without tokenizer", ("--second", OTHER), "has no tokenizer; put its tokenizer"),
    (ablate, "a file", (), NO_MODEL),
    (check, "empty", (), NO_MODEL),
    (trace, "broken", ("--out", "x.npz"), "config.json is not valid JSON"),
]  # fmt: skip


@pytest.mark.parametrize("refusal", REFUSALS, ids=lambda row: f"{row[0].__name__[15:]}, {row[1]}")
def test_what_cannot_be_done_is_one_line(
    refusal: Refusal, tmp_path: Path, command: Command
) -> None:
    """Before it, of models of others, notes of what is off with them."""
    module, model, words, said = refusal
    if make := {**OURS, **OF_OTHERS}.get(model):
        make(tmp_path / "mine")
    result = command(module, "--checkpoint", tmp_path / "mine" if make else model, *words)
    *notes, line = result.err
    assert (result.code, result.out) == (2, [])
    assert re.search(said, line)
    assert all(model in OF_OTHERS and note.startswith("note: ") for note in notes)
