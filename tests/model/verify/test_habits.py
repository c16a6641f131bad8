"""Protects what the page Heads is compared with: worked out by other code, the same numbers."""

from pathlib import Path

import numpy as np
import pytest

from model.analysis.circuits import copying_scores
from model.analysis.exchanged import exchanged
from model.analysis.heads import MEASURES
from model.sources import checkpoint
from model.survey.measured import measured, traces_of
from model.survey.samples import Asked, Sample, samples_of
from model.survey.stored import STORED
from model.survey.work import Job, survey
from model.verify.independent import IndependentRun
from tests.model.builders import GROUPED, SENTENCE, tiny_checkpoint, tiny_translation_checkpoint

VARIANTS = {
    "causal": {},
    "grouped": GROUPED,
    "rms": {"norm": "rms", "position": "rope"},
    "post-norm": {"norm_placement": "post"},
    "untied": {"tied_embeddings": False, "position": "alibi"},
}


@pytest.mark.parametrize("changes", VARIANTS.values(), ids=list(VARIANTS))
def test_all_measures_are_the_models(tmp_path: Path, changes: dict[str, object]) -> None:
    loaded = checkpoint.load(tiny_checkpoint(tmp_path / "tiny", **changes), "cpu")
    tokenizer = loaded.tokenizer
    ids = tokenizer.encode(SENTENCE)
    both = [(x, tokenizer.token_strings(x)) for x in (ids, exchanged(ids, tokenizer.special_ids))]
    trace, other = traces_of(Sample(both[0], both[1], (ids,), 0), loaded.model)
    found = measured(trace, other, loaded.model)["decoder.attn"]
    run = IndependentRun(loaded.files, trace.given)
    assert set(found) == set(MEASURES)
    for name, averages in found.items():
        expected = run.array(f"decoder.attn.all_{name}")
        assert averages.values.ravel() == pytest.approx(expected, abs=2e-5, nan_ok=True), name
    scores = copying_scores(loaded.model)
    assert scores == pytest.approx(run.array("decoder.attn.copying"), abs=1e-5)


def test_both_streams_of_a_translation(tmp_path: Path) -> None:
    loaded = checkpoint.load(tiny_translation_checkpoint(tmp_path / "tiny"), "cpu")
    source, target = tmp_path / "a.en", tmp_path / "a.de"
    source.write_text("A dog runs.")
    target.write_text("Ein Hund rennt.")
    sample = samples_of(loaded, Asked(texts=(source,), references=(target,))).make(0)
    trace, other = traces_of(sample, loaded.model)
    run = IndependentRun(loaded.files, trace.given)
    for group, found in measured(trace, other, loaded.model).items():
        for name, averages in found.items():
            expected = run.array(f"{group}.all_{name}")
            assert averages.values.ravel() == pytest.approx(expected, abs=1e-5, nan_ok=True), name


def test_a_stored_survey_by_address(tmp_path: Path) -> None:
    folder, text = tiny_checkpoint(tmp_path / "tiny"), tmp_path / "a.txt"
    text.write_text(SENTENCE)
    ids = np.array(checkpoint.load(folder, "cpu").tokenizer.encode(SENTENCE))
    run = IndependentRun(checkpoint.load(folder, "cpu").files, ids)
    with pytest.raises(ValueError, match="has no array"):
        run.array("decoder.attn.survey_near")
    found = survey(Job(folder, "cpu", Asked(texts=(text,)), folder / STORED), 1)
    run = IndependentRun(checkpoint.load(folder, "cpu").files, ids)
    for name, averages in found.measured("decoder.attn").items():
        values = run.array(f"decoder.attn.survey_{name}")
        assert values.tolist() == pytest.approx(averages.values.ravel().tolist(), nan_ok=True)
    near = found.measured("decoder.attn")["near"].values
    assert run.array("decoder.attn.survey_many_near") == (near >= 0.5).sum()
    copying = found.measured("decoder.attn")["copying"].values
    assert run.array("decoder.attn.survey_few_copying") == (copying <= -0.5).sum()
