"""Protects folders of transformers: they open, or one line says why not and what to do."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers as hf
from safetensors.torch import save_file

from model.given import Blanked
from model.sources import table
from model.sources.adopted import Adopted
from model.sources.places import ADAPTER, WHERE
from model.sources.table import open_named
from model.sources.transformers import load
from tests.model.adopted.families import RESIDUES, build, published, saved, tokens, words
from tests.model.builders import edit_json
from tests.model.sources.damages import Damage, cut, remove, replace_by, write

TEXT = "the red ball gave a dog"


@pytest.fixture(scope="module")
def gpt2(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return saved(tmp_path_factory.mktemp("models") / "little-gpt2")


def test_a_folder_is_offered_and_opens_by_its_name(
    gpt2: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(WHERE, str(gpt2.parent))
    assert "little-gpt2" in table.model_names()
    handle = table.handle_of("little-gpt2", "cpu")
    assert (handle.source, handle.spelled) == ("transformers", "little-gpt2")
    assert table.described(handle)[0] == "gpt2" and table.described(handle)[2] == "3 × 4"
    assert table.architecture_of(handle) == "decoder"
    model = table.open_model(handle)
    assert isinstance(model, Adopted)
    assert model.offers >= {"text", "vocabulary", "decoder", "readout", "mask"}
    trace, n_cut, reads = model.trace(TEXT)
    assert (n_cut, reads, "".join(trace.tokens)) == (0, None, TEXT)
    assert trace.offers == {"logits", "residuals"}
    assert all(check.passed for check in model.check(trace))
    edit_json(gpt2 / "generation_config.json", lambda fields: fields.update(top_k=3))
    assert table.handle_of("little-gpt2", "cpu").revision != handle.revision


def test_logits_are_those_of_transformers(gpt2: Path) -> None:
    model = load(gpt2, "cpu")
    trace = model.trace(TEXT).trace
    with torch.no_grad():
        expected = build("gpt2", vocab_size=300)(torch.tensor([trace.ids.tolist()])).logits[0]
    np.testing.assert_allclose(trace.logits, expected, atol=1e-5)
    np.testing.assert_allclose(model.independent_logits(trace.ids), expected, atol=1e-5)


def test_a_state_space_model_that_was_saved_opens(tmp_path: Path) -> None:
    folder = saved(tmp_path, "falcon_h1")
    assert "__float__" in (folder / "config.json").read_text()  # infinity, which JSON lacks
    assert load(folder, "cpu").offers & {"decoder", "cache"} == {"decoder"}


def test_an_encoder_without_a_head_shows_its_stream(tmp_path: Path) -> None:
    hf.BertModel(build("bert", vocab_size=12).config).save_pretrained(tmp_path)
    words().save_pretrained(tmp_path)
    model = load(tmp_path, "cpu")
    trace = model.trace(Blanked("the red dog", (2,))).trace
    assert trace.tokens == ("[CLS]", "the", "[MASK]", " dog", "[SEP]")
    assert trace.output is None and "blanks" not in model.offers
    assert all(check.passed for check in model.check(trace))


def _copy(folder: Path, to: Path) -> Path:
    for file in folder.iterdir():
        (to / file.name).write_bytes(file.read_bytes())
    return to


def _config(**changes: object) -> Callable[[Path], None]:
    return lambda folder: edit_json(folder / "config.json", lambda fields: fields.update(changes))


def _pickled(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(b"\x80\x04cos\nsystem\n(S'false'\ntR.")


def _huge(folder: Path) -> None:
    header = {"w": {"dtype": "F32", "shape": [2**20, 2**20], "data_offsets": [0, 2**42]}}
    content = json.dumps(header).encode()
    (folder / "model.safetensors").write_bytes(len(content).to_bytes(8, "little") + content)


def _shard_missing(folder: Path) -> None:
    (folder / "model.safetensors").rename(folder / "model-00001-of-00002.safetensors")
    names = {"a": "model-00001-of-00002.safetensors", "b": "model-00002-of-00002.safetensors"}
    index = {"weight_map": names}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))


def _index(names: object) -> Callable[[Path], None]:
    content = json.dumps({"weight_map": names})

    def damage(folder: Path) -> None:
        remove("model.safetensors")(folder)
        write("model.safetensors.index.json", content)(folder)

    return damage


def _high_token(folder: Path) -> None:
    def add(fields: dict[str, Any]) -> None:
        fields["model"]["vocab"]["zork"] = 4_000_000_000

    edit_json(folder / "tokenizer.json", add)


def _stored(name: str, dtype: torch.dtype) -> Callable[[Path], None]:
    weight = {name: torch.zeros(2, 3, dtype=dtype)}
    return lambda folder: save_file(weight, folder / "model.safetensors", {"format": "pt"})


CODE = {"auto_map": {"AutoConfig": "own.Config", "AutoModelForCausalLM": "own.Model"}}
LORA = '{"peft_type": "LORA", "base_model_name_or_path": "some/base"}'
POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 548105171\n"
BROKEN: dict[str, tuple[Callable[[Path], None], str]] = {
    "no weights": (
        remove("model.safetensors"),
        "model.safetensors is missing; copy the whole folder",
    ),
    "GGUF beside": (
        replace_by("model.safetensors", lambda path: path.with_name("own.gguf").touch()),
        "has its weights in GGUF; give the file, as 'own.gguf' in it",
    ),
    "newer tokenizer": (
        write("tokenizer.json", '{"version": "2.0"}'),
        "is perhaps of a newer tokenizers (here 0.23.3), else copy it again",
    ),
    "pickled weights": (_pickled, "never unpickled here; save it again as safetensors"),
    "Git LFS": (
        write("model.safetensors", POINTER),
        "pointer of Git LFS to a file of 548 MB; run git lfs pull",
    ),
    "cut": (write("model.safetensors", "\x08"), "may be cut, copy it again"),
    "no safetensors": (write("model.safetensors", 99 * "\0"), "header would have 0 bytes"),
    "too large": (_huge, "need 4398.0 GB in float32"),
    "shard missing": (_shard_missing, "00002-of-00002.safetensors is missing"),
    "own code": (_config(**CODE, model_type="gpt9"), "code of its own, which is never run"),
    "class of its own": (_config(**CODE, architectures=["Own"]), "code of its own, which is never"),
    "quantised": (_config(quantization_config={"bits": 4}), "quantised weights; open the model"),
    "quantised by MLX": (_config(quantization={"bits": 4}), "quantised weights; open the model"),
    "packed": (_stored("transformer.h.0.qweight", torch.int32), "quantised weights; open the mod"),
    "adapter": (
        write(ADAPTER, LORA),
        "has an adapter (LoRA) of 'some/base'; merge it into that model, save",
    ),
    "wrapped": (_stored("base_model.model.h.0.lora_A.weight", torch.float32), "adapters (LoRA) in"),
    "no family": (_config(model_type="gpt9"), "the family 'gpt9', which transformers 5.23.0 does"),
    "two families": (_config(model_type="llama"), "names 'GPT2LMHeadModel', which is of 'gpt2'"),
    "other sizes": (_config(n_embd=32), "weights have other shapes than its config means, as"),
    "text for a number": (_config(n_layer="two"), "config.json: n_layer is 'two'; it must be a wh"),
    "no heads": (_config(n_head=0), "config.json: n_head is 0; it must be a whole number above"),
    "a null": (_config(n_layer=None), "config.json: n_layer is None, which transformers does not"),
    "a null elsewhere": (_config(d_model=None), "config.json: d_model is None; it must be a whole"),
    "true for a number": (_config(n_head=True), "config.json: n_head is True; it must be a whole"),
    "no context": (
        _config(max_position_embeddings=0),
        "max_position_embeddings is 0; it must be a",
    ),
    "less than no context": (_config(n_positions=-1), "config.json: n_positions is -1; it must be"),
    "no neurons": (_config(n_inner=-1), "config.json: n_inner is -1; it must be a whole number"),
    "two stacks": (_config(is_encoder_decoder=True), "has one stack of layers that attend, and"),
    "activation": (_config(activation_function="zork"), "activation_function is 'zork', which tr"),
    "too deep": (_config(n_layer=10**6), "means 1,000,000 layers, and its weights are"),
    "far too deep": (_config(encoder_layers=10**6), "means 1,000,000 layers, and its weights are"),
    "far too wide": (_config(n_embd=6400), "cannot be opened: its config means 1,"),
    "high token": (_high_token, "its tokenizer cannot be read: it has a token 4,000,000,000, and"),
    "half a file": (cut("model.safetensors"), "cannot be opened: "),
    "odd index": (_index([5]), "names no file for each weight"),
    "no type": (_config(model_type=None), "names no model_type"),
    "many labels": (
        _config(num_labels=10**6, hidden_size=24),
        "means 24,000,000 numbers for",
    ),
    "config alone": (remove("tokenizer.json"), "has no tokenizer.json, nor tokenizer.model; copy"),
    "broken tokenizer": (
        write("tokenizer.json", "{}"),
        "tokenizer.json is not a valid tokenizer: ",
    ),
    "broken config of it": (write("tokenizer_config.json", "{"), "config.json is not valid JSON: "),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_folder_is_one_line_with_a_remedy(name: str, gpt2: Path, tmp_path: Path) -> None:
    change, expected = BROKEN[name]
    change(_copy(gpt2, tmp_path))
    with pytest.raises(ValueError) as caught:
        open_named(str(tmp_path), "cpu")
    line = str(caught.value)
    assert expected in line and "\n" not in line and len(line) < 800


@pytest.mark.parametrize(
    "said", [{"max_window_layers": 10**6}, CODE, {"quantization_config": None}]
)
def test_what_config_says_besides_changes_nothing(
    said: dict[str, Any], gpt2: Path, tmp_path: Path
) -> None:
    _config(**said)(_copy(gpt2, tmp_path))
    for name in ("own.py", "modeling_own.py"):
        (tmp_path / name).write_text("import os; os._exit(7)")
    model = load(tmp_path, "cpu")
    np.testing.assert_array_equal(
        model.trace(TEXT).trace.logits, load(gpt2).trace(TEXT).trace.logits
    )
    found = [x.text for x in model.report if "transformers' own GPT2LMHeadModel was" in x.text]
    assert len(found) == ("auto_map" in said)


def test_an_old_index_beside_a_whole_file_is_named_and_not_read(gpt2: Path, tmp_path: Path) -> None:
    index = {"weight_map": {"wte": "model-00001-of-00002.safetensors"}}
    (_copy(gpt2, tmp_path) / "model.safetensors.index.json").write_text(json.dumps(index))
    model = load(tmp_path, "cpu")
    np.testing.assert_array_equal(
        model.trace(TEXT).trace.logits, load(gpt2).trace(TEXT).trace.logits
    )
    assert any("index.json beside it is not read" in x.text for x in model.report)


@pytest.mark.parametrize("named", [None, ["AutoTokenizer"], {"a": 1}])
def test_what_names_no_model_opens_as_its_family_does(
    named: object, gpt2: Path, tmp_path: Path
) -> None:
    _config(architectures=named)(_copy(gpt2, tmp_path))
    model = load(tmp_path, "cpu")
    assert model.config.predicts is None  # without a head
    with pytest.raises(ValueError, match="it does not say how a text goes on"):
        _ = model.decoder


def test_a_broken_folder_does_not_hide_the_others(
    gpt2: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, change in (("good", lambda folder: None), ("bad", _index(5))):
        (tmp_path / name).mkdir()
        change(_copy(gpt2, tmp_path / name))
    monkeypatch.setenv(WHERE, str(tmp_path))
    assert {"good", "bad"} <= set(table.model_names())
    handles = {name: table.handle_of(name, "cpu") for name in ("good", "bad")}
    assert table.described(handles["good"])[0] == "gpt2"
    with pytest.raises(ValueError, match="names no file for each weight"):
        table.described(handles["bad"])


def test_ids_that_the_model_has_no_row_for_are_refused(gpt2: Path, tmp_path: Path) -> None:
    folder = _copy(gpt2, tmp_path)
    tokens(600).save_pretrained(folder)
    model = load(folder, "cpu")
    own = model.tokenizer.backend
    own.add_tokens(["zork" + "x" * n for n in range(300)])
    with pytest.raises(ValueError, match=r"gives token \d+, and the model has only 300"):
        model.trace("zorkxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx" + "x" * 200)


def test_half_a_character_is_one_line(gpt2: Path) -> None:
    with pytest.raises(ValueError, match="not valid Unicode"):
        load(gpt2, "cpu").trace("a \ud800 b")


@pytest.mark.parametrize(
    ("kind", "text", "labels"),
    [
        ("merges", TEXT, "the/ red/ ball/ gave/ a/ dog"),
        ("words", "the REDd dog", "[CLS]/the/ RED/d/ dog/[SEP]"),
        ("esm", "MKTV", "<cls>/M/K/T/V/<eos>"),
        ("bertweet", "the red thd", "<s>/the/ red/ th/d/</s>"),
        ("marian", "the red", " /t/h/e/ /r/e/d/</s>"),
    ],
)
def test_a_tokenizer_is_what_the_library_builds_of_its_files(
    kind: str, text: str, labels: str, tmp_path: Path
) -> None:
    model = load(published(tmp_path, kind), "cpu")
    trace = model.trace(text).trace
    own = hf.AutoTokenizer.from_pretrained(tmp_path)
    ids = own(text)["input_ids"]
    assert trace.streams[0].ids.tolist() == ids == model.tokenizer.windows(text, 12)[0]
    assert "/".join(trace.streams[0].labels) == labels
    spelled = {i: piece.replace("▁", " ") for piece, i in own.get_vocab().items()}
    if kind == "marian":  # its target, of ids that may have no token
        assert trace.tokens == tuple(spelled.get(i, f"⟨unused {i}⟩") for i in trace.ids.tolist())
    written = model.tokenizer.continuation(ids[:2], [*ids[2:], 299])
    words, name = written.split("⟨")
    assert words.replace(" ", "").lower() in text.replace(" ", "").lower()
    assert name == "unused 299⟩"


@pytest.mark.parametrize(
    ("kind", "change", "line"),
    [
        ("esm", write("vocab.txt", RESIDUES[:17]), "token 1 of the text is not in the vocabulary"),
        ("merges", remove("merges.txt"), "has no tokenizer.json, nor merges.txt; copy the whole"),
        ("words", replace_by("vocab.txt", Path.mkdir), "has no tokenizer; put its tokenizer.json"),
        ("bertweet", remove("bpe.codes"), "has no tokenizer.json, nor bpe.codes; copy the whole"),
    ],
)
def test_a_tokenizer_lacks(kind: str, change: Damage, line: str, tmp_path: Path) -> None:
    change(published(tmp_path, kind))
    with pytest.raises(ValueError, match=line):
        load(tmp_path, "cpu").trace("MKTVx")


@pytest.mark.parametrize("name", ["source.spm", "tokenizer.model"])
def test_without_sentencepiece_one_line_says_so(
    name: str, gpt2: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (_copy(gpt2, tmp_path) / name).touch()
    load(tmp_path, "cpu")  # its tokenizer.json is enough
    (tmp_path / "tokenizer.json").unlink()
    monkeypatch.setattr("model.sources.tokenizers.find_spec", lambda name: None)
    with pytest.raises(ValueError, match=f"{name} is read by .*: pip install sentencepiece$"):
        load(tmp_path, "cpu")


def test_a_place_that_is_none_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(WHERE, str(tmp_path / "nowhere"))
    with pytest.raises(ValueError, match="nowhere', which is not a folder; unset it"):
        table.model_names()


def test_without_transformers_one_line_says_how_to_get_it(
    gpt2: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("model.sources.transformers.find_spec", lambda name: None)
    with pytest.raises(ValueError, match=r"install it: pip install transformers==5\.23\.0"):
        load(gpt2, "cpu")
