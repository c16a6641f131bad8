"""Protects what the sampler's numbers are compared with: worked out anew, it is what is drawn."""

from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
import torch

from model.decoding.filters import DEFAULT_ORDER, Sampling, entropy, filter_logits
from model.sources import checkpoint
from model.verify.independent import IndependentRun
from model.verify.sampled import STEPS
from tests.model.builders import SENTENCE, tiny_checkpoint

ROW = 3
DIGITS = {name: digit for digit, name in STEPS.items()}
SETTINGS = [
    {},
    {"temperature": 0.7, "top_k": 12, "top_p": 0.6, "min_p": 0.05},
    {"temperature": 2.5, "top_k": 1},
    {"temperature": 0.001},
    {"top_p": 0.999999, "min_p": 0.5},
    {"top_k": 10_000},
]


def address(sampling: Sampling, what: str = "") -> str:
    """As viz/live/core/sampling.js spells it."""
    order = "".join(DIGITS[name] for name in sampling.order)
    t, p, m = (round(1e6 * x) for x in (sampling.temperature, sampling.top_p, sampling.min_p))
    return f"sampled{what}.{ROW}.{order}.{t}.{sampling.top_k or 0}.{p}.{m}"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> IndependentRun:
    """The independent run of a small model."""
    folder: Path = tmp_path_factory.mktemp("sampled") / "tiny"
    found = checkpoint.load(tiny_checkpoint(folder), "cpu")
    return IndependentRun(found.files, found.trace(SENTENCE).trace.ids)


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_what_is_drawn_from_is_the_samplers(run: IndependentRun, settings: dict) -> None:
    logits = torch.from_numpy(run.array("output")[ROW])
    for order in permutations(DEFAULT_ORDER):
        sampling = Sampling(order=order, **settings)
        filtered = filter_logits(logits, sampling)
        probs, n_left = filtered.softmax(dim=0), (filtered > -torch.inf).sum()
        found = run.array(address(sampling))
        assert found == pytest.approx(probs.numpy(), abs=1e-9)
        assert run.array(address(sampling, ".entropy")) == pytest.approx(entropy(probs), abs=1e-9)
        assert run.array(address(sampling, ".left"))[-1] == n_left
        assert run.array(address(sampling, ".perplexity")) == pytest.approx(np.exp(entropy(probs)))


def test_each_step_says_what_it_leaves(run: IndependentRun) -> None:
    sampling = Sampling(top_k=5, top_p=0.5, temperature=0.8)
    left, mass = (run.array(address(sampling, what)) for what in (".left", ".mass"))
    falling = np.sort(run.array("output")[ROW])[::-1]
    shares = np.exp(falling / 0.8)
    assert left[0] == len(falling)
    assert left[1] == 5
    assert mass[1] == pytest.approx(shares[:5].sum() / shares.sum())
    assert mass[2] == pytest.approx(shares[: int(left[2])].sum() / shares[:5].sum())
    assert left[3] == left[2]


@pytest.mark.parametrize("end", ["3", "3.1234", "3.1235.1.0.1.0", "3.1234.0.0.1000000.0"])
def test_settings_that_are_none_have_no_array(run: IndependentRun, end: str) -> None:
    with pytest.raises(ValueError, match=r"has no array|numbers after"):
        run.array(f"sampled.{end}")
