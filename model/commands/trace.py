"""`python -m model trace`: every intermediate of one sentence or picture as an .npz file."""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from model.archive import write_npz
from model.commands import cli
from model.files import replacing
from model.verify.check import worst


def add_arguments(parser: ArgumentParser) -> None:
    """The model, the sentence, the file."""
    cli.add_checkpoint_arguments(parser, of_any_source=True)
    cli.add_input_arguments(parser)
    parser.add_argument(
        "--out", type=Path, required=True, metavar="FILE", help="the .npz file to write"
    )


def run(arguments: Namespace) -> cli.Answer:
    """Capture the sentence, write it, check it."""
    loaded = cli.open_model(arguments)
    cli.say_off(loaded)
    trace = cli.trace_input(loaded, arguments)
    with replacing(arguments.out) as new, new.open("wb") as file:
        write_npz(trace, file)
    checks = loaded.check(trace)
    return cli.Answer(
        {
            "checkpoint": loaded.name,
            "out": str(arguments.out),
            "tokens": len(trace.tokens),
            "bytes": arguments.out.stat().st_size,
            "checks": {item.name: item.error for item in checks},
            "checks_passed": all(item.passed for item in checks),
            "worst_error": worst(checks).error,
        }
    )
