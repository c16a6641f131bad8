"""`python -m model recipe`: a recipe to begin with, and what each of its fields means."""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from model.commands import cli
from model.training.sized import SIZES, recipe_for, size_of


def add_arguments(parser: ArgumentParser) -> None:
    """For which texts."""
    parser.add_argument(
        "--corpus",
        type=Path,
        nargs="+",
        default=[],
        metavar="PATH",
        help="what will be trained on, by whose size the model is chosen (default: some 30 MB)",
    )
    parser.add_argument("--small", action="store_true", help="a model that learns in a minute")
    parser.add_argument("--name", default="my-model", help="what the run is called")


def run(arguments: Namespace) -> cli.Answer:
    """Print it, ready for a file."""
    n_bytes = size_of(arguments.corpus) if arguments.corpus else SIZES[-1].least_bytes
    return cli.Answer(
        {}, text=recipe_for(0 if arguments.small else n_bytes, arguments.name).to_toml()
    )
