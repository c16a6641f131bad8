"""The three trained translators on disk: config.json, model.safetensors and accuracy.json each.

Nothing is pickled. `assets/recurrence/NAME.toml` says how each was trained.
"""

import dataclasses
import json
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from model.files import LARGEST_CONFIG, folder_to_write, read_header, read_json, replacing
from model.lines import spelled
from model.recurrence.scored import Score
from model.recurrence.training import Recipe, built, read_recipe
from model.recurrence.translators import Translator

SHIPPED = Path(__file__).resolve().parents[2] / "assets" / "recurrence"
NAMES = ("fixed", "additive", "transformer")
ACCURACY = "accuracy.json"


def save(folder: Path, model: Translator) -> None:
    """Write config and weights, these as float16; ValueError where that cannot hold them."""
    weights = {name: x.detach().half().contiguous() for name, x in model.own_weights().items()}
    broken = next((name for name, x in weights.items() if not x.isfinite().all()), None)
    if broken is not None:
        raise ValueError(f"{broken} has values that float16 cannot hold; train with a lower rate")
    folder_to_write(folder)
    with replacing(folder / "config.json") as path:
        path.write_text(json.dumps(model.fields(), indent=2) + "\n", encoding="utf-8")
    with replacing(folder / "model.safetensors") as path:
        save_file(weights, path)


def load(folder: Path) -> Translator:
    """The translator of a folder, in float32; ValueError when a file is missing or broken."""
    config = folder / "config.json"
    try:
        model = built(read_json(config, LARGEST_CONFIG))
    except ValueError as error:
        raise ValueError(f"{spelled(config)}: {error}") from None
    path = folder / "model.safetensors"
    stored, expected = read_header(path), model.own_weights()
    shapes = {name: tuple(x.shape) for name, x in expected.items()}
    if {name: x.shape for name, x in stored.items()} != shapes:
        raise ValueError(f"{spelled(path)} is not of this config.json; copy both again")
    try:
        weights = {name: x.float() for name, x in load_file(path).items()}
    except SafetensorError as error:
        raise ValueError(f"{spelled(path)} cannot be read: {error}; copy it again") from None
    for name, own in expected.items():  # shared with the model
        own.copy_(weights[name])
    return model.requires_grad_(requires_grad=False).eval()


@lru_cache(maxsize=len(NAMES))
def shipped(name: str) -> Translator:
    """One of `NAMES` as it comes with Headlight."""
    return load(SHIPPED / name)


def recipe_of(name: str) -> Recipe:
    """How one of `NAMES` is trained."""
    return read_recipe(SHIPPED / f"{name}.toml")


def save_scores(folder: Path, scores: Sequence[Score]) -> None:
    """Write how many rows came out right, by task and length."""
    lines = ",\n".join(f"  {json.dumps(dataclasses.asdict(score))}" for score in scores)
    with replacing(folder / ACCURACY) as path:
        path.write_text(f'{{"scores": [\n{lines}\n]}}\n', encoding="utf-8")


@lru_cache(maxsize=len(NAMES))
def read_scores(folder: Path) -> tuple[Score, ...]:
    """What was written so; ValueError when it is missing or broken."""
    path = folder / ACCURACY
    content = read_json(path, LARGEST_CONFIG)
    try:
        return tuple(Score(**fields) for fields in content["scores"])
    except (KeyError, TypeError):
        raise ValueError(f"{spelled(path)} is not a list of scores; score again") from None


def accuracy_by_length(folder: Path, task: str, *, of_rows: bool) -> tuple[list[int], list[float]]:
    """Letters, and the share of rows that are exact, or of letters that are at their place."""
    scores = sorted((x for x in read_scores(folder) if x.task == task), key=lambda x: x.n_letters)
    shares = [
        x.n_exact / x.n_rows if of_rows else x.n_right / (x.n_rows * x.n_letters) for x in scores
    ]
    return [x.n_letters for x in scores], shares
