"""Protects where models are found: every folder by a name of its own, and what is remembered."""

from pathlib import Path

import pytest

from model.sources import places, table
from model.sources.places import folders, given_folder, remember, remembered
from model.sources.table import handle_of
from tests.model.adopted.families import saved
from tests.model.builders import tiny_checkpoint


@pytest.fixture(autouse=True)
def _own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "shipped").mkdir()
    monkeypatch.setattr(places, "SHIPPED", tmp_path / "shipped")
    monkeypatch.setenv(places.HOME, str(tmp_path / "home"))
    for variable in places.VARIABLES:
        monkeypatch.delenv(variable, raising=False)


def test_folders_of_one_name_are_told_apart(tmp_path: Path) -> None:
    tiny_checkpoint(tmp_path / "shipped" / "fox")
    for place in ("a/fox", "b/fox", "x/b/fox"):
        tiny_checkpoint(tmp_path / place)
        remember(tmp_path / place)
    places_of = {name: folder.relative_to(tmp_path) for name, folder in folders().items()}
    assert {name: str(place) for name, place in places_of.items()} == {
        "fox": "shipped/fox",
        "b/fox": "x/b/fox",  # the last that was opened comes first
        f"{tmp_path.name}/b/fox": "b/fox",
        "a/fox": "a/fox",
    }
    assert table.open_model(table.handle_of("a/fox", "cpu")).name == "fox"


def test_a_folder_of_any_kind_is_found_wherever_it_lies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable, kind in zip(places.VARIABLES, ("one", "two"), strict=True):
        saved(tmp_path / kind / "gpt")
        tiny_checkpoint(tmp_path / kind / "fox")
        monkeypatch.setenv(variable, str(tmp_path / kind))
    found = {name: table.handle_of(name, "cpu").source for name in table.model_names()}
    assert found == {
        "fox": "checkpoint",
        "gpt": "transformers",
        "two/fox": "checkpoint",
        "two/gpt": "transformers",
    }


def test_a_copy_of_the_hub_goes_by_its_name_there(tmp_path: Path) -> None:
    there = saved(tmp_path / "models--openai-community--gpt2" / "snapshots" / "607a30d7")
    assert remember(there) == "openai-community/gpt2"


def test_the_last_that_were_opened_are_remembered(tmp_path: Path) -> None:
    every = [tmp_path / f"m{n}" for n in range(places.MOST_REMEMBERED + 2)]
    for folder in every:
        tiny_checkpoint(folder)
        remember(folder)
    assert remembered() == every[:1:-1]
    assert remember(every[3]) == "m3" and remembered() == every[:1:-1]  # it is there already
    places.forget(every[3])
    assert every[3] not in remembered() and "m3" not in folders()


def test_at_one_look_the_folders_are_those_of_its_start_and_what_is_opened(tmp_path: Path) -> None:
    tiny_checkpoint(tmp_path / "shipped" / "ant")
    with places.at_one_look():
        assert list(folders()) == ["ant"]
        before = handle_of("ant", "cpu")
        (tmp_path / "shipped" / "ant" / "config.json").touch()
        assert handle_of("ant", "cpu") == before, "one model while a page is drawn"
        remember(tiny_checkpoint(tmp_path / "fox"))
        tiny_checkpoint(tmp_path / "shipped" / "owl")
        assert list(folders()) == ["ant", "fox"]
    assert list(folders()) == ["ant", "owl", "fox"]
    assert handle_of("ant", "cpu") != before


def test_a_damaged_list_is_none(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    for text in ("{", "[]", '{"folders": 3}', '{"folders": [1, "/nowhere"]}'):
        (tmp_path / "home" / "folders.json").write_text(text)
        assert folders() == {}


def test_what_is_no_folder_of_a_model_is_said(tmp_path: Path) -> None:
    tiny_checkpoint(tmp_path / "some" / "fox")
    file = tmp_path / "some" / "fox" / "config.json"
    (tmp_path / "lora").mkdir()
    (tmp_path / "lora" / places.ADAPTER).write_text('{"base_model_name_or_path": "a/b"}')
    said = {
        "": "'' is not a folder or file here",
        str(tmp_path / "nowhere"): "is not a folder or file here",
        "~nobody-at-all/x": "is not a folder or file here",
        "a\0b": "is not a folder or file here",
        str(file): "is a file, and not in GGUF; give the folder that it is in",
        str(tmp_path / "some"): "has no config.json; give the folder of one model, as 'fox' in it",
        str(tmp_path / "lora"): r"has an adapter \(LoRA\) of 'a/b'; merge it into that model",
        str(tmp_path / "home"): "is not a folder or file here",
    }
    for place, line in said.items():
        with pytest.raises(ValueError, match=line):
            given_folder(place)
    assert given_folder(f' "{file.parent}" ') == file.parent
