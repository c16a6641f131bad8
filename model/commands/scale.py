"""`python -m model scale`: models of several sizes and tokens, trained and measured for one law."""

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from model.commands import cli
from model.data.text import Corpus, read_text
from model.files import replacing
from model.sources.checkpoint import find_folder, read_config
from model.training.recipe import Recipe
from model.training.scaling import (
    RUNS_FILE,
    SIZES,
    TOKENS,
    all_runs,
    curve,
    grid,
    measured,
    recipe_of,
)
from model.training.scaling import run_one as train_one


def add_arguments(parser: ArgumentParser) -> None:
    """The recipe, the texts, the grid and the folder."""
    parser.add_argument("recipe", type=Path, metavar="RECIPE.toml", help="what all have in common")
    texts = {"nargs": "+", "type": Path, "required": True, "metavar": "PATH"}
    parser.add_argument("--corpus", help="text files to train on", **texts)
    parser.add_argument("--held-out", help="text files to measure all of them on", **texts)
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder of the runs")
    parser.add_argument(
        "--sizes",
        nargs="+",
        default=[f"{width}x{depth}" for width, depth in SIZES],
        metavar="DxL",
        help="d_model and layers of each size (%(default)s)",
    )
    parser.add_argument(
        "--tokens",
        nargs="+",
        type=int,
        default=list(TOKENS),
        metavar="N",
        help="tokens of each run (%(default)s)",
    )
    parser.add_argument(
        "--beside", metavar="NAME_OR_DIR", help="a checkpoint to measure in the same way"
    )


def run(arguments: Namespace) -> cli.Answer:
    """Train and measure what is not yet; write all runs of the folder into one file."""
    recipe = Recipe.load(arguments.recipe)
    corpus = Corpus([read_text(path) for path in arguments.corpus])
    planned = grid([_size(text) for text in arguments.sizes], arguments.tokens)
    recipes = {one.name: recipe_of(recipe, one) for one in planned}  # refused before any work
    for name, own in recipes.items():
        with cli.progress_bar(f"train {name}") as on_progress:
            train_one(own, corpus, arguments.held_out, arguments.out / name, on_progress)
    runs = all_runs(arguments.out)
    content: dict[str, Any] = {"runs": runs}
    if arguments.beside:
        content["beside"] = _measured_beside(arguments.beside, arguments.held_out)
    with replacing(arguments.out / RUNS_FILE) as new:
        new.write_text(text_of(content), encoding="utf-8")
    return cli.Answer({"runs": len(runs), "out": str(arguments.out / RUNS_FILE)})


def _size(text: str) -> tuple[int, int]:
    """32x2 → (32, 2)."""
    width, _, depth = text.partition("x")
    if not (width.isdecimal() and depth.isdecimal()):
        raise ValueError(f"size {text!r} is not d_model x layers; write it as 64x3")
    return int(width), int(depth)


def _measured_beside(name: str, held_out: Sequence[Path]) -> dict[str, Any]:
    """A checkpoint that was trained by another recipe, on the same texts in the same way."""
    folder = find_folder(name)
    tokens, _ = curve(folder)[-1]
    config = asdict(read_config(folder / "config.json"))
    sizes = {"d_model": config["d_model"], "n_layers": config["n_layers"]}
    return {"name": folder.name, "model": sizes, **measured(folder, held_out), "tokens": tokens}


def text_of(content: dict[str, Any]) -> str:
    """The file's text: a line for each run."""
    lines = ",\n".join(json.dumps(one) for one in content["runs"])
    beside = f',\n"beside": {json.dumps(content["beside"])}' if "beside" in content else ""
    return f'{{"runs": [\n{lines}\n]{beside}}}\n'
