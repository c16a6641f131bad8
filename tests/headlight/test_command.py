"""Protects the command `headlight`: it opens a model by path or name, or one line says why not."""

import os
import re
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from huggingface_hub.errors import LocalEntryNotFoundError

from headlight import opening
from headlight.__main__ import main
from model.commands import COMMANDS
from model.sources import hub, places
from tests.model.adopted.families import saved, saved_with_chats
from tests.serving import free_port

ROOT = Path(__file__).parents[2]
HEADLIGHT = [sys.executable, "-m", "headlight"]


@pytest.fixture(autouse=True)
def _own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(places.HOME, str(tmp_path / "home"))


def test_an_address_is_of_the_model_and_its_text(tmp_path: Path) -> None:
    assert opening.address("stories", "a & b") == {"model": "stories", "sentence": "a & b"}
    assert opening.address("translate", "A dog.") == {"model": "translate", "source": "A dog."}
    folder = saved(tmp_path / "my-gpt2")
    assert opening.address(str(folder), None) == {"model": "my-gpt2"}
    assert opening.address("my-gpt2", None) == {"model": "my-gpt2"}  # it is remembered
    assert opening.located(str(folder)) == str(folder)


def test_a_chat_is_opened_as_one_and_a_text_as_a_text(tmp_path: Path) -> None:
    folder = str(saved_with_chats(tmp_path / "chatty"))
    told = {"model": "chatty", "sentence": "a & b"}
    assert opening.address(folder, None, chat="a & b") == {**told, "read": "chat"}
    assert opening.address("chatty", "a & b") == {**told, "read": "text"}
    with pytest.raises(ValueError, match="stories has no chat template; give it a text: --text"):
        opening.address("stories", None, chat="a & b")
    with pytest.raises(ValueError, match="--chat has no text; give what the user says"):
        opening.address(folder, None, chat=" ")


def test_what_is_no_text_starts_no_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening.subprocess, "Popen", pytest.fail)
    with pytest.raises(ValueError, match="surrogates not allowed"):
        opening.start({"sentence": "\udcff"}, with_browser=False)


def test_a_mistake_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "empty").mkdir()
    broken = saved(tmp_path / "broken")
    (broken / "model.safetensors").unlink()
    said = {
        str(tmp_path / "nowhere"): "is not a folder or file here",
        str(tmp_path / "empty"): "has no config.json",
        str(broken / "config.json"): "is a file, and not in GGUF; give the folder that it is in",
        str(broken): "model.safetensors is missing; copy the whole folder",
        "openai-community/gpt2": "headlight open openai-community/gpt2 --download",
        "": "is not a folder or file here",
    }
    capsys.readouterr()
    for named, line in said.items():
        with pytest.raises(SystemExit, match="2"):
            main(["open", named])
        error = capsys.readouterr().err
        assert error.startswith("error: ") and line in error and error.count("\n") == 1


def test_an_unknown_command_is_told_all_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["frobnicate"])
    assert {"open", *COMMANDS} <= set(re.findall(r"\w+", capsys.readouterr().err))


def test_only_with_download_anything_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def snapshot_download(name: str, **options: object) -> str:
        asked.append((name, options["local_files_only"], options["allow_patterns"]))
        return str(tmp_path)

    monkeypatch.setattr("huggingface_hub.snapshot_download", snapshot_download)
    hub.copy_of("a/b")
    hub.copy_of("a/b", download=True)
    assert [local for _, local, _ in asked] == [True, False]

    def unreachable(name: str, **options: object) -> str:
        raise LocalEntryNotFoundError("no network")

    monkeypatch.setattr("huggingface_hub.snapshot_download", unreachable)
    with pytest.raises(ValueError, match="cannot be reached, and no copy of 'a/b' is here"):
        hub.copy_of("a/b", download=True)
    assert not any(file.endswith((".bin", ".pt", ".py")) for _, _, files in asked for file in files)


def test_it_checks_a_model_and_knows_the_commands_of_models(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["check", "stories", "--text", "One day"])
    assert '"tokens": 2' in capsys.readouterr().out
    main(["trace", "--checkpoint", "stories", "--text", "a", "--out", str(tmp_path / "a.npz")])
    assert (tmp_path / "a.npz").exists()


def test_it_starts_the_app_with_a_model_until_it_is_stopped(tmp_path: Path) -> None:
    folder = saved(tmp_path / "my-gpt2")
    environment = {**os.environ, opening.PORT: str(free_port())}
    command = [*HEADLIGHT, "open", str(folder), "--text", "the red ball", "--no-browser"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=pipe, text=True) as app:
        assert app.stdout is not None
        address = next(line for line in app.stdout if "Headlight" in line)
        assert address.strip().endswith("/?model=my-gpt2&sentence=the+red+ball")
        app.send_signal(signal.SIGTERM)
        app.stdout.read()
    assert app.returncode is not None


def test_what_pip_installs_is_the_whole_house(tmp_path: Path) -> None:
    """Built as `pip install .` builds it, and run beside a `model.py` of somebody else's."""
    pip = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--quiet"]
    subprocess.run([*pip, str(ROOT), "-w", str(tmp_path)], check=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(tmp_path / "site")
    (tmp_path / "model.py").write_text("raise SystemExit(9)")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "site")}
    program = [*HEADLIGHT, "check", "stories", "--text", "One day"]
    done = subprocess.run(program, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    inside = tmp_path / "site" / "headlight" / "house"
    for room in ("model", "viz", "assets", ".streamlit"):
        assert _files(inside / room) == _files(ROOT / room) != set()


def _files(folder: Path) -> set[Path]:
    paths = (x for x in folder.rglob("*") if x.is_file() and x.parent.name != "__pycache__")
    return {path.relative_to(folder) for path in paths}
