"""Protects files in GGUF: they open as folders do, or one line says why not, before any weight."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import tokenizers
import torch
import transformers as hf
from safetensors.torch import load_file, save

from headlight import opening
from model.__main__ import main
from model.files import GGUF
from model.sources import converted, gguf, places, table
from model.sources.folder import refuse_unopenable
from model.sources.places import HOME, WHERE
from model.sources.table import open_named, open_runnable
from model.sources.transformers import get_ready
from tests.model.adopted.families import packed

TEXT = "the red ball gave a dog"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    packed(tmp_path / "little.Q8_0.gguf")
    return tmp_path / "little.Q8_0.gguf"


@pytest.mark.parametrize("kind", ["Q8_0", "Q4_1", "BF16"])
def test_logits_are_those_of_the_model_that_was_written(kind: str, tmp_path: Path) -> None:
    expected = packed(tmp_path / "little.gguf", kind)
    model = open_runnable(str(tmp_path / "little.gguf"), "cpu")
    assert model.off == ()
    trace = model.trace(TEXT).trace
    given = {"pretrained_model_name_or_path": tmp_path, "gguf_file": "little.gguf"}
    theirs = hf.AutoModelForCausalLM.from_pretrained(**given, dtype=torch.float32).state_dict()
    ours = model.model.inner.state_dict()
    assert all(torch.equal(theirs[name], weight) for name, weight in ours.items())
    own = hf.AutoTokenizer.from_pretrained(**given)
    assert trace.ids.tolist() == own(TEXT)["input_ids"] and "".join(trace.tokens) == TEXT
    with torch.inference_mode():
        found = expected(torch.tensor([trace.ids.tolist()]), output_attentions=True)
    np.testing.assert_allclose(trace.logits, found.logits[0], atol=1e-5)
    patterns = [record.pattern for record in trace.groups[0].records]
    np.testing.assert_allclose(patterns, torch.cat(found.attentions), atol=1e-6)


def test_a_header_is_read_once_and_no_tokenizer_is_copied(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, written, header = [], [], gguf._Header
    monkeypatch.setattr(gguf, "_Header", lambda place: (read.append(place), header(place))[1])
    copy = tokenizers.Tokenizer.to_str
    monkeypatch.setattr(
        "tokenizers.Tokenizer.to_str", lambda *given: (written.append(1), copy(*given))[1]
    )
    open_named(str(file), "cpu")
    assert (read, written) == ([str(file)], [])


def test_a_file_is_offered_and_opens_by_its_name(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(HOME, str(file.parent / "home"))
    imported: list[str] = []
    monkeypatch.setattr("model.sources.transformers.import_module", imported.append)
    get_ready()
    assert imported == []  # nobody needs the library
    monkeypatch.setenv(WHERE, str(file.parent))
    get_ready()
    assert "transformers.modeling_utils" in imported
    handle = table.handle_of("little.Q8_0.gguf", "cpu")
    assert (handle.source, table.architecture_of(handle)) == ("transformers", "decoder")
    said = ("llama", "0.0 M", "2 × 4", "weights of Q8_0, dequantised")
    assert table.described(handle)[::3] == said[::3] and table.described(handle)[2] == said[2]
    report = [one.text for one in table.open_model(handle).report]
    assert any(text.startswith(f"{said[3]}: its tensors are 16 Q8_0, 5 F32") for text in report)
    blob = file.rename(file.parent / "sha256-0a1b")  # as Ollama calls it
    monkeypatch.delenv(WHERE)
    assert opening.address(str(blob), None) == {"model": "sha256-0a1b"}
    assert places.remembered() == [blob] and open_named(str(blob), "cpu").offers >= {"decoder"}
    assert table.handle_of("sha256-0a1b", "cpu").revision != handle.revision


def test_a_copy_is_kept_where_it_is_wanted_and_gives_the_same(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(HOME, str(home := file.parent / "home"))
    first = open_runnable(str(file), "cpu")
    expected = first.trace(TEXT).trace
    assert not home.exists()  # nothing is written unasked
    opening.address(str(file), None, keep=True)
    copy = converted.kept(file)
    assert copy is not None and [copy] == list((home / "converted").iterdir())
    monkeypatch.setattr(gguf, "dequantize", None)  # it is not called
    again = open_runnable(str(file), "cpu")
    found = again.trace(TEXT).trace
    assert (found.tokens, again.report) == (expected.tokens, first.report)
    np.testing.assert_array_equal(found.logits, expected.logits)
    monkeypatch.undo()
    monkeypatch.setenv(HOME, str(home))
    own = load_file(weights := copy / "model.safetensors")
    cut = save({**own, "model.norm.weight": torch.ones(3)}, {"format": "pt"})
    for damaged in (b"cut", cut):
        weights.write_bytes(damaged)
        report = open_named(str(file), "cpu").report
        (said,) = {x.text for x in report} - {x.text for x in first.report}
        assert said.startswith("its converted copy could not be read") and not copy.exists()
        converted.keep(first)
    packed(file, "Q4_1")
    assert converted.kept(file) is None  # it is of another file
    copy.with_name(f"{copy.name}.7.new").mkdir()  # of a process that was killed
    converted.keep(open_runnable(str(file), "cpu"))
    assert [converted.kept(file)] == list((home / "converted").iterdir())
    with pytest.raises(SystemExit):
        main([])
    n_bytes = sum(path.stat().st_size for path in places.copies().glob("*/*"))
    assert f"{n_bytes / 1e6:.1f} MB in {places.copies()} are" in capsys.readouterr().out


def test_no_copy_is_begun_that_has_no_room(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(HOME, str(file.parent / "home"))
    monkeypatch.setattr("shutil.disk_usage", lambda place: SimpleNamespace(free=5e6))
    with pytest.raises(ValueError, match=r"a copy needs 100 MB in .*, and 5 MB are free"):
        converted.keep(open_named(str(file), "cpu"))
    assert list((file.parent / "home" / "converted").iterdir()) == []
    monkeypatch.setenv(HOME, str(file))
    with pytest.raises(ValueError, match=r"^cannot write .*converted: Not a directory; choose"):
        converted.keep(open_named(str(file), "cpu"))


def _said(**more: object) -> Callable[[Path], object]:
    return lambda file: packed(file, **more)


def _bytes(change: Callable[[bytes], bytes]) -> Callable[[Path], object]:
    return lambda file: file.write_bytes(change(file.read_bytes()))


BROKEN: dict[str, tuple[Callable[[Path], object], str]] = {
    "empty": (_bytes(lambda x: b""), "does not begin as GGUF does; copy it again"),
    "Git LFS": (
        _bytes(lambda x: b"version https://git-lfs.github.com/spec/v1\nsize 98362432\n"),
        "pointer of Git LFS to a file of 98 MB; run git lfs pull",
    ),
    "cut": (_bytes(lambda x: x[:-100]), "it may be cut, copy it again"),
    "cut in its header": (_bytes(lambda x: x[:700]), "it may be cut, copy it again"),
    "cut in its tokens": (_bytes(lambda x: x[:3000]), "it may be cut, copy it again"),
    "far too many": (_bytes(lambda x: x[:16] + bytes([255] * 8) + x[24:]), "it may be cut, copy"),
    "version": (_bytes(lambda x: GGUF + bytes([1, 0, 0, 0]) + x[8:]), "of version 1 of GGUF, and"),
    "family": (_said(architecture="zork"), "zork is not supported yet.; open the model that it"),
    "part": (_said(**{"split.count": 3}), "one of 3 parts; join them and open what you get: ll"),
    "adapter": (_said(**{"general.type": "adapter"}), "holds no model but its adapter; open the"),
    "too deep": (_said(**{"llama.block_count": 10**6}), "1,000,000 layers, and its weights are 21"),
}


@pytest.mark.parametrize("name", [*BROKEN, "too large"])
def test_a_broken_file_is_one_line_and_no_weight_is_read(
    name: str, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    change, expected = BROKEN.get(name, (Path.exists, "GB in float32 while they are dequantised"))
    change(file)
    free = 1e5 if name == "too large" else 1e9
    monkeypatch.setattr("model.sources.transformers.free_on", lambda device: free)
    monkeypatch.delattr("model.sources.transformers.as_transformers_reads")
    lines = []
    for way in (open_named, lambda place: refuse_unopenable(places.given_folder(place), free)):
        with pytest.raises(ValueError) as caught:
            way(str(file))
        lines.append(str(caught.value))
    assert expected in lines[0] and lines[0] == lines[1]
    assert "\n" not in lines[0] and len(lines[0]) < 500


def test_without_its_packages_one_line_says_how_to_get_them(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("model.sources.folder.find_spec", lambda name: None)
    line = r"pip install transformers==5\.23\.0 gguf==0\.19\.0 accelerate==1\.15\.0$"
    with pytest.raises(ValueError, match=line):
        open_named(str(file), "cpu")
