"""Protects surveys: the numbers, and that neither processes nor interruptions change a bit."""

import dataclasses
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from model import reference
from model.analysis import exchanged
from model.data.text import read_text
from model.sources import checkpoint
from model.sources.transformers import lent
from model.survey import work
from model.survey.samples import Asked, random_repeats, samples_of
from model.survey.stored import STORED, Survey, read_survey
from model.survey.work import Job, survey
from tests.model.adopted.families import build, tokens
from tests.model.builders import SENTENCE, tiny_checkpoint, tiny_translation_checkpoint

ROOT = Path(__file__).parents[3]
GROUP = "decoder.attn"


@pytest.fixture
def job(tmp_path: Path) -> Job:
    """A small decoder, and a text of 21 windows of 11 tokens in two files: three parts."""
    folder = tiny_checkpoint(tmp_path / "tiny")
    letters = np.array(list(SENTENCE))
    paths = []
    for number, n in enumerate((150, 75)):
        drawn = np.random.default_rng(number).choice(letters, n)
        paths.append(tmp_path / f"{number}.txt")
        paths[-1].write_text("".join(drawn))
    asked = Asked(texts=tuple(paths), window=11)
    return Job(folder, "cpu", asked, tmp_path / "out" / STORED)


def to(job: Job, name: str) -> Job:
    """The same survey to another file."""
    return dataclasses.replace(job, out=job.out.parent / name)


def test_files_of_one_name_are_counted_by_themselves(job: Job, tmp_path: Path) -> None:
    alike = [tmp_path / folder / "valid.txt" for folder in ("en", "de")]
    for path, text in zip(alike, job.asked.texts, strict=True):
        path.parent.mkdir()
        path.write_bytes(text.read_bytes())
    asked = dataclasses.replace(job.asked, texts=tuple(alike))
    parts = samples_of(checkpoint.load(job.folder, "cpu"), asked).parts
    assert parts == {"en/valid.txt": 150, "de/valid.txt": 75}


def test_the_averages_are_those_of_single_runs(job: Job) -> None:
    found = survey(job, 1)
    loaded = checkpoint.load(job.folder, "cpu")
    measured = found.measured(GROUP)
    ids = [loaded.tokenizer.encode_documents(read_text(path)) for path in job.asked.texts]
    windows = [row[i : i + 11] for row in ids for i in range(0, len(row), 11)]
    assert found.tokens == sum(map(len, windows)) == sum(map(len, ids))
    assert found.inputs == len(windows) == len(samples_of(loaded, job.asked))
    runs = [dict(reference.arrays(loaded.files, window)) for window in windows]
    for layer in range(2):
        patterns = [run[f"decoder.blocks.{layer}.attn.pattern"] for run in runs]
        n = sum(len(window) - 1 for window in windows)
        for name, of_rows in MEASURES.items():
            expected = sum(of_rows(pattern).sum(axis=1) for pattern in patterns) / n
            assert measured[name].values[layer] == pytest.approx(expected, rel=1e-5), name
        z = np.concatenate([run[f"decoder.blocks.{layer}.attn.z"] for run in runs], axis=1)
        mean_z = np.array(found.groups[GROUP].mean_z)[layer]
        assert mean_z == pytest.approx(z.mean(axis=1), abs=1e-5)
    assert set(measured) >= {"prefix", "copying"}
    assert "next" not in measured, "under a causal mask no token may attend to the next"


def _distances(pattern: np.ndarray) -> np.ndarray:
    i, j = np.indices(pattern.shape[1:])
    return (pattern * np.abs(i - j)).sum(axis=-1)[:, 1:]


# Of the queries that have a choice, (H, T − 1); what tests of the measures themselves say more of.
MEASURES = {"largest": lambda pattern: pattern.max(axis=-1)[:, 1:], "distance": _distances}


def test_the_strongest_arrow_is_that_of_its_text(job: Job) -> None:
    found = survey(job, 1)
    loaded = checkpoint.load(job.folder, "cpu")
    weights = loaded.files.weights
    for layer, heads in enumerate(found.groups[GROUP].strongest):
        for head, one in enumerate(heads):
            run = dict(reference.arrays(loaded.files, loaded.tokenizer.encode(one.text)))
            pattern = run[f"decoder.blocks.{layer}.attn.pattern"][head]
            v = run[f"decoder.blocks.{layer}.attn.v"][head]
            w_o = weights[f"blocks.{layer}.attn.out_proj.weight"][:, head * 10 : head * 10 + 10]
            moved = pattern[1:] * np.linalg.norm(v @ w_o.T, axis=-1)
            assert moved.max() == pytest.approx(one.norm, rel=1e-4)
            assert np.argmax(moved) == (one.query - 1) * moved.shape[1] + one.key
            assert pattern[one.query, one.key] == pytest.approx(one.weight, abs=1e-5)


def test_two_processes_give_what_one_gives_bit_for_bit(job: Job) -> None:
    survey(job, 1)
    both = to(job, "both.json")
    survey(both, 2)
    assert both.out.read_bytes() == job.out.read_bytes()
    assert sorted(path.name for path in job.out.parent.iterdir()) == ["both.json", STORED]


def test_a_resumed_survey_is_the_uninterrupted_one(
    job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    survey(job, 1)
    broken = to(job, "broken.json")
    measured: list[int] = []
    real = work.sums_of

    def interrupted(sample, model):  # noqa: ANN001, ANN202  as the function it stands for
        measured.append(sample.number)
        if len(measured) == 11:
            raise KeyboardInterrupt
        return real(sample, model)

    monkeypatch.setattr(work, "sums_of", interrupted)
    with pytest.raises(KeyboardInterrupt):
        survey(broken, 1)
    assert not broken.out.exists()
    done: list[tuple[int, int]] = []
    survey(broken, 1, lambda n, total: done.append((n, total)))
    assert done[0] == (1, 3), "one part of three was kept"
    assert measured[11:] == list(range(8, 21)), "nothing of it is measured again"
    assert broken.out.read_bytes() == job.out.read_bytes()


def test_parts_of_another_text_are_not_taken_over(
    job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(sample, model):  # noqa: ANN001, ANN202
        raise KeyboardInterrupt

    whole = survey(job, 1)
    other = dataclasses.replace(job, asked=dataclasses.replace(job.asked, window=9))
    with monkeypatch.context() as patch:
        patch.setattr(work, "sums_of", stopped)
        with pytest.raises(KeyboardInterrupt):
            survey(other, 1)
    found = survey(job, 1)
    assert found == whole


@pytest.mark.nightly
def test_torchrun_gives_the_same(job: Job) -> None:
    survey(job, 1)
    both = to(job, "both.json")
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc_per_node", "2"]
    command += ["--master_port", "29611", "-m", "model", "survey", "--checkpoint", job.folder]
    command += ["--text-file", *job.asked.texts, "--window", "11", "--out", both.out]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, done.stderr[-2000:]
    answers = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert {"tokens", "parts"} <= {key for answer in answers for key in answer}
    assert both.out.read_bytes() == job.out.read_bytes()


def test_the_survey_ends_after_so_many_tokens(job: Job) -> None:
    found = survey(dataclasses.replace(job, asked=dataclasses.replace(job.asked, most=160)), 1)
    assert found.texts == {"0.txt": 150, "1.txt": 11}
    assert found.tokens == 161


def test_what_is_stored_is_read_again(job: Job) -> None:
    found = survey(dataclasses.replace(job, out=job.folder / STORED), 1)
    assert read_survey(job.folder, found.weights) == found
    assert isinstance(found, Survey)
    with pytest.raises(ValueError, match=r"is of the weights .* make it again: python -m model"):
        read_survey(job.folder, "0" * 64)
    assert read_survey(job.folder.parent) is None


@pytest.mark.parametrize("seed", [0, 5])  # the first ones of 5 would join in stories
@pytest.mark.parametrize("name", ["stories", "induction", "shakespeare"])
def test_random_repeats_are_tokens_of_text_said_twice(
    name: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = checkpoint.load(name, "cpu")
    monkeypatch.setattr(exchanged, "SEED", seed)
    found = random_repeats(loaded)
    assert found == random_repeats(loaded), "the same each time"
    assert found.n == 24 == len(set(found.ids[:24]))
    assert found.ids[24:] == found.ids[:24]
    strings = loaded.tokenizer.token_strings(found.ids)
    assert all(
        one.strip() and one.isprintable() and "\N{REPLACEMENT CHARACTER}" not in one
        for one in strings
    )
    assert loaded.tokenizer.encode(found.text) == found.ids


def test_random_repeats_fit_the_context(tmp_path: Path) -> None:
    loaded = checkpoint.load(tiny_checkpoint(tmp_path / "tiny", max_seq_len=9), "cpu")
    found = random_repeats(loaded)
    assert (found.n, len(found.ids)) == (4, 8)
    assert loaded.captured((found.ids, 8 * [""])).attention[0].pattern.shape[-1] == 8
    short = checkpoint.load(tiny_checkpoint(tmp_path / "short", max_seq_len=3), "cpu")
    with pytest.raises(ValueError, match="a context of 3 tokens and a vocabulary of 10"):
        random_repeats(short)
    other = checkpoint.load(tiny_translation_checkpoint(tmp_path / "translator"), "cpu")
    with pytest.raises(ValueError, match="is no decoder"):
        random_repeats(other)


@pytest.mark.parametrize(("start", "end"), [("<s>", ""), ("", "</s>")])
def test_what_begins_every_text_begins_random_repeats(start: str, end: str) -> None:
    own = tokens(start=start, end=end)
    loaded = lent(build("llama", vocab_size=400), own)
    found = random_repeats(loaded)
    first = found.ids[: -2 * found.n]
    assert first == own.convert_tokens_to_ids([start] if start else [])
    assert found.ids[-24:] == found.ids[len(first) : -24]
    assert not set(found.ids[-24:]) & {*own.all_special_ids, *range(len(own), 400)}
    assert loaded.tokenizer.decode(found.ids[-24:]).isprintable(), (
        "though a tenth of these tokens are not"
    )
    read = own(found.text)["input_ids"]
    assert read == found.ids if start else found.text == "", "an end would follow them"
