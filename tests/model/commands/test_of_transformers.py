"""Protects the commands on folders of transformers: their numbers are those of the library."""

import math
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers as hf
from safetensors.torch import load_file, save_file

from model.commands import ablate, attribute, check, generate, patch, survey
from model.decoding.filters import GREEDY
from model.decoding.writing import write
from model.sources.transformers import load
from model.sources.untouched import check_untouched
from model.survey.stored import read_survey
from tests.model.adopted.families import saved, tokens
from tests.model.adopted.gguf_files import written
from tests.model.builders import edit_json
from tests.model.conftest import Command

TEXT, OTHER = "the red ball gave the dog", "the blue ball gave the dog"


# What a text starts with; and a file in GGUF.
@pytest.fixture(scope="module", params=[("llama", "<s>"), ("gguf", "")])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    family, start = request.param
    place = tmp_path_factory.mktemp("some")
    if family != "gguf":
        return saved(place / "mine", family, start=start)
    written(place / "mine.gguf", "llama", kind="Q8_0")
    return place / "mine.gguf"


def plain(folder: Path) -> tuple[Any, Any, torch.Tensor]:
    """The model, its tokenizer, and the ids of the text."""
    given: dict[str, Any] = {"pretrained_model_name_or_path": folder}
    if folder.is_file():
        given = {"pretrained_model_name_or_path": folder.parent, "gguf_file": folder.name}
    tokenizer = hf.AutoTokenizer.from_pretrained(**given)
    packing = hf.GgufConfig(dequantize=True) if folder.is_file() else None
    model = hf.AutoModelForCausalLM.from_pretrained(
        **given, attn_implementation="eager", quantization_config=packing
    )
    return model.requires_grad_(False), tokenizer, tokenizer(TEXT, return_tensors="pt").input_ids


def test_a_run_is_compared_with_a_model_that_nothing_is_attached_to(
    folder: Path, command: Command
) -> None:
    answer = command(check, "--checkpoint", folder, "--text", TEXT).answer
    assert any("with nothing of ours attached" in name for name in answer["checks"])
    loaded = load(folder, "cpu")
    loaded.model.token_table.data[:, 0] += 1
    (found,) = check_untouched(loaded, loaded.trace(TEXT).trace)
    assert not found.passed


def test_greedy_text_is_that_of_transformers(folder: Path, command: Command) -> None:
    model, tokenizer, ids = plain(folder)
    asked = ("--prompt", TEXT, "--greedy", "--max-new-tokens", 6)
    answer = command(generate, "--checkpoint", folder, *asked).answer
    written = model.generate(ids, do_sample=False, max_new_tokens=6)[0]
    assert TEXT + answer["continuation"] == tokenizer.decode(written, skip_special_tokens=True)
    assert answer["new_tokens"] == len(written) - ids.shape[1]


def test_that_a_window_drops_the_start_of_a_text_is_told(folder: Path, command: Command) -> None:
    asked = ("--checkpoint", folder, "--prompt", TEXT, "--max-new-tokens", 2)
    slid, stopped = (command(generate, *asked, *more) for more in (["--slide"], []))
    begins = "note: a full context drops <s> too, which begins every text of this model; "
    assert [line.startswith(begins) for line in slid.err] == [True] * folder.is_dir()
    assert (slid.code, stopped.code, stopped.err) == (0, 0, [])


@pytest.mark.parametrize("name", ["generation_config.json", "config.json"])
def test_a_text_ends_at_any_of_its_ends_as_in_transformers(
    name: str, tmp_path: Path, command: Command
) -> None:
    """Of the two files one alone names several, none of which is the tokenizer's."""
    folder = saved(tmp_path / "mine", "qwen3", eos_token_id=None)
    ids, greedy = tokens()(OTHER, return_tensors="pt").input_ids, {"do_sample": False}
    whole = plain(folder)[0].generate(ids, **greedy, max_new_tokens=4)[0].tolist()
    if name == "config.json":
        (folder / "generation_config.json").unlink()
    edit_json(folder / name, lambda fields: fields.update(eos_token_id=[299, whole[-1]]))
    assert plain(folder)[0].generate(ids, **greedy, max_new_tokens=20)[0].tolist() == whole
    for way in (("--greedy",), ("--beam-width", 1)):
        asked = ("--prompt", OTHER, *way, "--max-new-tokens", 20)
        answer = command(generate, "--checkpoint", folder, *asked).answer
        assert (answer["new_tokens"], answer["stopped"]) == (4, "end of text")
    opened = load(folder, "cpu")
    writing = write(opened.decoder, opened.end_ids, tuple(ids[0].tolist()), GREEDY)
    writing.run(20)
    writing.advance(math.inf)
    assert [step.token_id for step in writing.steps] == whole[-4:]


def test_what_is_written_of_ids_without_a_token_has_names(tmp_path: Path, command: Command) -> None:
    folder, own = saved(tmp_path / "mine", "mixtral", eos_token_id=None), tokens()
    asked = ("--prompt", OTHER, "--greedy", "--max-new-tokens", 8)
    result = command(generate, "--checkpoint", folder, *asked)
    ids = own(OTHER, return_tensors="pt").input_ids
    written = plain(folder)[0].generate(ids, do_sample=False, max_new_tokens=8)[0, -8:].tolist()
    names = [f"⟨unused {i}⟩" for i in dict.fromkeys(written) if i >= len(own)]
    continuation = result.fields["continuation"]
    assert names and all(name in continuation for name in names)
    assert f"has no token for {len(names)} of the ids that were written" in result.err[0]


def test_a_target_ends_where_the_context_does(tmp_path: Path, command: Command) -> None:
    folder = saved(tmp_path / "mine", "marian", forced_eos_token_id=None, eos_token_id=None)
    answer = command(generate, "--checkpoint", folder, "--prompt", TEXT, "--greedy").answer
    assert (answer["new_tokens"], answer["stopped"]) == (47, "context full")


def test_rules_of_a_folder_that_choose_a_token_are_named(tmp_path: Path, command: Command) -> None:
    folder = saved(tmp_path / "mine", "t5", end="</s>")
    asked = ("--checkpoint", folder, "--prompt", TEXT, "--greedy", "--max-new-tokens", 6)
    written, rules = [], {"forced_eos_token_id": 0, "min_length": 3, "no_repeat_ngram_size": 1}
    for given in ({}, rules):
        edit_json(folder / "generation_config.json", lambda fields, new=given: fields.update(new))
        result = command(generate, *asked)
        written.append(result.fields["continuation"])
        says = [f"note: its folder sets {', '.join(given)}, by which it writes: a token"]
        of_folder = [x.partition(" need not")[0] for x in result.err if "its folder" in x]
        assert of_folder == says[: len(given)]
    assert written[0] != written[1]
    assert any(one.text in result.err[0] for one in load(folder, "cpu").report)


def test_a_patch_is_asked_for_words_without_special_tokens(folder: Path, command: Command) -> None:
    asked = ("--text", TEXT, "--second", OTHER, "--answer", "ball", "--against", "dog")
    answer = command(patch, "--checkpoint", folder, *asked).answer
    assert (answer["answer"], answer["against"]) == (" ball", " dog")
    model, tokenizer, ids = plain(folder)
    ball, dog = (tokenizer(f" {word}", add_special_tokens=False).input_ids for word in asked[5::2])
    logits = model(ids).logits[0, -1]
    assert answer["of_source"] == pytest.approx(float(logits[ball] - logits[dog]), abs=1e-4)
    place = answer["first"].index(" red")
    assert answer["put_back"]["resid_pre"][0][place] == pytest.approx(1, abs=1e-4)


def test_a_survey_lies_where_it_is_asked_for(
    folder: Path, tmp_path: Path, command: Command
) -> None:
    (tmp_path / "a.txt").write_text(TEXT)
    before, given = sorted(folder.parent.rglob("*")), ("--checkpoint", folder, "--text-file")
    result = command(survey, *given, tmp_path / "a.txt")
    where = "beside a file in GGUF" if folder.is_file() else "into a folder of transformers"
    assert result.code == 2 and f"written {where} unasked; give --out FILE" in result.err[0]
    assert command(survey, *given, tmp_path / "a.txt", "--out", tmp_path / "survey.json").answer
    assert sorted(folder.parent.rglob("*")) == before
    found = read_survey(tmp_path)
    assert found is not None and found.groups["decoder.attn"].strongest[0][0].text == TEXT


def test_what_is_off_with_a_model_is_said_beside_its_numbers(
    tmp_path: Path, command: Command
) -> None:
    saved(tmp_path / "mine", "gpt2")
    stored = load_file(tmp_path / "mine" / "model.safetensors")
    for name in [name for name in stored if ".h.2.mlp." in name or ".h.2.attn.c_proj" in name]:
        del stored[name]
    save_file(stored, tmp_path / "mine" / "model.safetensors", {"format": "pt"})
    result = command(attribute, "--checkpoint", tmp_path / "mine", "--text", TEXT)
    assert result.err[0].startswith("note: its files do not have transformer.h.2.attn.c_proj.bias")
    assert "not a plain sum" in result.err[-1], "zeros are made by any matrix"


def test_a_mean_that_stands_in_is_said_to_be_without_special_tokens(
    folder: Path, command: Command
) -> None:
    """Whatever stands in the first token, which is one where a text starts with `<s>`."""
    off = ("--text", TEXT, "--way", "mean", "--off", "decoder.ffn.0")
    answer = command(ablate, "--checkpoint", folder, *off).answer
    model, _, ids = plain(folder)
    n = ids.shape[1]
    start = int(folder.is_dir())
    words = f"{n - 1} of {n} tokens, without special ones" if start else f"all {n} tokens"
    assert answer["mean_over"] == words
    model.model.layers[0].mlp.register_forward_hook(
        lambda module, given, out: out[:, start:].mean(dim=1, keepdim=True).expand_as(out)
    )
    losses = torch.nn.functional.cross_entropy(model(ids).logits[0, :-1], ids[0, 1:])
    assert answer["loss_off"] == pytest.approx(float(losses), rel=1e-4)
