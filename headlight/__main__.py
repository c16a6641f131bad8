"""The command `headlight`: it starts the app, opens a model in it, and has all of `model`'s."""

import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Sequence

from headlight import opening
from model.__main__ import main as model_command
from model.commands import COMMANDS
from model.lines import one_line, print_utf8
from viz import VERSION

OPEN, CHECK = "open", "check"
DESCRIPTION = """\
Shows what every attention head of a running Transformer sees. Without a command
it starts the app and prints its address.

  headlight open stories --text "Once upon a time"
  headlight open path/to/gpt2            a folder that transformers saved
  headlight open path/to/model.gguf      a file of llama.cpp, Ollama or LM Studio
  headlight open openai-community/gpt2 --download
  headlight check path/to/gpt2           its run, recomputed by another route
"""


def main(words: Sequence[str] | None = None) -> None:
    """Do what the command line says; a mistake is one line and exit code 2."""
    print_utf8()
    words = sys.argv[1:] if words is None else words
    if words and words[0] in COMMANDS and words[0] != CHECK:
        return model_command(words)
    asked = _parser().parse_args(words)
    try:
        _do(asked)
    except (ValueError, OSError) as error:
        print(f"error: {one_line(str(error))}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
    return None


def _do(asked: Namespace) -> None:
    if asked.command == CHECK:
        named = opening.located(asked.named, download=asked.download)
        told = {name: getattr(asked, name) for name in ("text", "image", "number")}
        more = [f"--{name}={value}" for name, value in told.items() if value is not None]
        return model_command([CHECK, "--checkpoint", named, "--device", asked.device, *more])
    query = {}
    if asked.command == OPEN:
        said = {"chat": asked.chat, "download": asked.download}
        query = opening.address(asked.named, asked.text, **said)
    return sys.exit(opening.start(query, with_browser=getattr(asked, "browser", False)))


def _parser() -> ArgumentParser:
    parser = ArgumentParser(
        prog="headlight",
        description=DESCRIPTION,
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=VERSION)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    opens = commands.add_parser(OPEN, help="start the app with a model of yours")
    checks = commands.add_parser(CHECK, help="run a sentence and recompute it by another route")
    for name, about in COMMANDS.items():
        if name != CHECK:
            commands.add_parser(name, help=about.summary, add_help=False)
    for command in (opens, checks):
        command.add_argument(
            "named",
            metavar="PATH_OR_NAME",
            help="a folder, a file in GGUF, a shipped model, or a name of the hub",
        )
        given = command.add_mutually_exclusive_group()
        given.add_argument("--text", help="the sentence")
        if command is opens:
            given.add_argument("--chat", metavar="TEXT", help="what a user says in a chat instead")
        command.add_argument(
            "--download",
            action="store_true",
            help="fetch a model of the hub from huggingface.co; nothing is fetched without",
        )
    opens.add_argument(
        "--no-browser", dest="browser", action="store_false", help="only print the address"
    )
    checks.add_argument(
        "--image", metavar="FILE.npz", help="with test_images (N, S, S), of which one is taken"
    )
    checks.add_argument("--number", metavar="N", help="which of them (0)")
    checks.add_argument("--device", default="auto", help="auto, cpu, cuda …")
    return parser


if __name__ == "__main__":
    main()
