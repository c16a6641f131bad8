"""`python -m model evaluate`: how well a model predicts a text file."""

from argparse import ArgumentParser, Namespace
from dataclasses import asdict
from pathlib import Path

from model.commands import cli
from model.data.text import read_text
from model.training.evaluation import evaluate


def add_arguments(parser: ArgumentParser) -> None:
    """The model, the text, the windows."""
    cli.add_checkpoint_arguments(parser)
    parser.add_argument(
        "--text-file", type=Path, required=True, metavar="PATH", help="UTF-8 text to predict"
    )
    parser.add_argument(
        "--window", type=int, metavar="N", help="tokens in a window (default: the context)"
    )
    parser.add_argument(
        "--by-position", type=int, metavar="N", help="also the mean loss of every N positions"
    )


def run(arguments: Namespace) -> cli.Answer:
    """Predict every token of the text once."""
    loaded = cli.open_checkpoint(arguments)
    text = read_text(arguments.text_file)
    with cli.progress_bar("evaluate") as on_progress:
        scores = evaluate(
            loaded.decoder,
            loaded.tokenizer,
            text,
            window=arguments.window,
            bin_size=arguments.by_position,
            on_progress=on_progress,
        )
    answer = {"checkpoint": loaded.name, "text_file": str(arguments.text_file), **asdict(scores)}
    return cli.Answer({name: value for name, value in answer.items() if value != ()})
