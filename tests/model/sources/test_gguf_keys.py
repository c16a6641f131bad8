"""Protects the sense of a header: of all keys that llama.cpp has, none is passed over."""

import itertools
from pathlib import Path

import pytest
import torch

from model.sources.gguf.reading import read
from model.sources.gguf.tokenizer import READ
from model.sources.table import open_runnable
from tests.model.adopted.gguf_families import GGUF_FAMILIES
from tests.model.adopted.gguf_files import written
from tests.model.adopted.gguf_keys import (
    OF_ONE,
    PAGE,
    WITHOUT,
    all_files,
    changed,
    effects,
    other_value,
    page,
)

# Fields that need not change a number of a run, and why.
QUIET = {
    **dict.fromkeys(("max_position_embeddings", "n_positions"), "how long a text may be"),
    **dict.fromkeys(
        (x + "original_max_position_embeddings" for x in ("", "rope_parameters.")),
        "with yarn what lies between two whole numbers is one, with factors a length",
    ),
    "rope_parameters.beta_fast": "the same",
    "rope_parameters.beta_slow": "the same",
    "decoder_start_token_id": "what a text is begun with when it is written",
}
DENSE = (
    "qwen2moe.feed_forward_length",
    "qwen3moe.feed_forward_length",
)  # of layers without experts


@pytest.fixture
def file(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    written(tmp_path / "little.gguf", request.param)
    return tmp_path / "little.gguf"


@pytest.mark.parametrize("file", GGUF_FAMILIES, indirect=True)
def test_each_key_changes_the_config_or_is_named_refused_or_known(file: Path) -> None:
    architecture = read(file).said["general.architecture"]
    found = {key.partition(".")[2]: effect for key, effect in effects(file).items()}
    silent = {key for key, effect in found.items() if effect == "nothing"}
    known = {key for of, key in OF_ONE if of == architecture}
    assert silent <= {*WITHOUT, *known, "rope.scaling.finetuned"}
    assert len(found) > 90 and sum(effect == "named" for effect in found.values()) > 50


ODD = (0, -1, 3, 10**12, 1e30, float("nan"), True, "odd", "", [], [1, 2], [0.5] * 7)


@pytest.mark.parametrize("file", GGUF_FAMILIES, indirect=True)
def test_an_odd_value_of_any_key_is_taken_or_one_line(file: Path) -> None:
    about, lines = read(file), set()
    own = [key for key in about.said if key.startswith(about.said["general.architecture"])]
    for key, value in itertools.product((*own, *READ, "llama.rope.scaling.factor"), ODD):
        try:
            changed(about, key, value)
        except ValueError as error:
            lines.add(str(error))
    assert lines and all("\n" not in line and len(line) < 300 for line in lines)


@pytest.mark.parametrize(
    ("family", "key", "value"),
    [
        ("gemma2", "attn_logit_softcapping", ""),
        ("gemma3", "final_logit_softcapping", False),
        ("gemma3", "attention.sliding_window", []),
        ("gemma4", "attention.sliding_window_pattern", [0.5] * 7),
        ("gemma4", "attention.sliding_window_pattern", -1),
        ("gemma4", "attention.head_count_kv", [0.5] * 7),
        ("lfm2", "attention.head_count_kv", [2, 0]),
        ("llama yarn", "rope.scaling.factor", ""),
        ("qwen35", "feed_forward_length", "odd"),
        ("qwen35", "rope.dimension_sections", [1, 2]),
        ("t5", "decoder_start_token_id", "odd"),
    ],
)
def test_what_a_key_cannot_mean_is_refused_by_its_name(
    family: str, key: str, value: object, tmp_path: Path
) -> None:
    written(tmp_path / "little.gguf", family)
    about = read(tmp_path / "little.gguf")
    name = f"{about.said['general.architecture']}.{key}"
    with pytest.raises(ValueError) as caught:
        changed(about, name, value)
    assert name in str(caught.value) and str(value) in str(caught.value)


def test_what_says_nothing_is_not_mixed_up_with_its_kind(tmp_path: Path) -> None:
    written(tmp_path / "little.gguf", "llama", header={"llama.attention.causal": True})
    about = read(tmp_path / "little.gguf")
    assert about.odd == ()
    for key, value in (("attention.causal", 1), ("logit_scale", True)):
        assert changed(about, f"llama.{key}", value)[1], "one is no truth, a truth is no number"


def test_the_page_of_keys_says_what_the_code_does(tmp_path: Path) -> None:
    assert PAGE.read_text("utf-8") == page(all_files(tmp_path))


@pytest.mark.nightly
@pytest.mark.parametrize("name", GGUF_FAMILIES)
def test_what_changes_the_config_changes_the_run(name: str, tmp_path: Path) -> None:
    written(file := tmp_path / "little.gguf", name)
    about, before = read(file), _logits(file)
    silent = []
    for key, effect in effects(file).items():
        fields = effect.split(", ")
        if effect in ("nothing", "named", "refused") or key in DENSE or set(fields) <= QUIET.keys():
            continue
        value = other_value(about.said.get(key))
        written(other := tmp_path / "other.gguf", name, header={key: value})
        after = _logits(other)
        if after is not None and after.shape == before.shape and torch.equal(after, before):
            silent.append(f"{key}: {effect}")
    assert silent == []


def _logits(file: Path) -> torch.Tensor | None:
    """Of a text longer than any window; None where the file is refused, or its badge is red."""
    try:
        model = open_runnable(str(file), "cpu")
    except ValueError as error:
        assert "\n" not in str(error)
        return None
    if model.off:
        return None
    ids = torch.arange(40)[None] * 7 % 270
    given = (ids, ids[:, :20]) if model.model.inner.config.is_encoder_decoder else ids
    with torch.inference_mode():
        return model.model(given)
