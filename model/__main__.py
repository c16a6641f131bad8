"""`python -m model COMMAND`: finds the command and hands it the rest of the line."""

import os
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Sequence
from importlib import import_module

from model.commands import COMMANDS
from model.files import MEGABYTE
from model.lines import print_utf8
from model.sources.places import copies


def main(words: Sequence[str]) -> None:
    """Run the command that the first word names; without one, say what there is."""
    print_utf8()
    if not words or words[0] not in COMMANDS:
        _parser().parse_args(words or ["--help"])
        return
    os.environ["HF_HUB_OFFLINE"] = "1"  # for transformers: commands ask no other machine
    try:  # torch is imported here, not for a word of help
        import_module("model.commands.cli").main(words[0], words[1:])
    except KeyboardInterrupt:
        sys.exit(130)


def _parser() -> ArgumentParser:
    examples = "\n".join(f"  {about.example}" for about in COMMANDS.values())
    sizes = [path.stat().st_size for path in copies().rglob("*") if path.is_file()]
    kept = (
        f"\n\n{sum(sizes) / MEGABYTE:,.1f} MB in {copies()} are converted copies of files in GGUF."
    )
    parser = ArgumentParser(
        prog="python -m model",
        description="Train, run and check the models of Headlight.",
        epilog=f"examples:\n{examples}\n\nEach command prints one line of JSON last. "
        "`python -m model COMMAND --help` says more."
        f"{kept if sizes else ''}",
        formatter_class=RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name, about in COMMANDS.items():
        commands.add_parser(name, help=about.summary, add_help=False)
    return parser


if __name__ == "__main__":
    main(sys.argv[1:])
