"""What the commands share: the model to open, one line for an error, a bar, a last line of JSON."""

import json
import os
import signal
import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import NoReturn, Protocol, cast

import numpy as np
from tqdm import tqdm

from model.commands import COMMANDS, About
from model.data.images import read_part
from model.given import Blanked, Translation
from model.lines import finite, json_line, one_line, quoted
from model.memory import is_out_of_memory
from model.progress import Progress, Stage, told_to
from model.sources import table
from model.sources.checkpoint import Checkpoint
from model.sources.handle import OpenModel
from model.sources.offers import missing
from model.sources.table import Runnable
from model.trace import Trace
from model.training.interrupts import STOPS

OnProgress = Callable[[int, int], None]


@dataclass(frozen=True)
class Answer:
    """What a command prints as its last line, or a `text` in its place, and its exit code."""

    fields: dict[str, object]
    exit_code: int = 0
    text: str = ""


class Command(Protocol):
    """A module of this folder."""

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the options."""
        ...

    def run(self, arguments: Namespace) -> Answer:
        """Do it. `arguments.words` is the command line as typed, after the command."""
        ...


def main(name: str, words: Sequence[str]) -> None:
    """Run one command with the words after it."""
    run(cast(Command, import_module(f"model.commands.{name}")), words, name, COMMANDS[name])


def run(command: Command, words: Sequence[str], name: str, about: About) -> None:
    """Parse, run, print the answer as one line of JSON.

    A ValueError, and a file or memory that is not to be had, becomes one line on standard error and
    exit code 2. A signal that stops the command gives 128 and its number, as in a shell: 130 for
    Ctrl-C, 141 where nobody reads on, 143 for a plain `kill`.
    """
    parser = _Parser(
        prog=f"python -m model {name}",
        description=f"{about.summary[0].upper()}{about.summary[1:]}.",
        epilog=f"example:\n  {about.example}",
        formatter_class=RawDescriptionHelpFormatter,
    )
    command.add_arguments(parser)
    arguments = parser.parse_args(words, Namespace(words=list(words)))
    with _stops_as_exits():
        try:
            answer = command.run(arguments)
        except (ValueError, OSError, MemoryError, RuntimeError) as error:
            if isinstance(error, RuntimeError) and not is_out_of_memory(error):
                raise
            print(f"error: {one_line(_told(error))}", file=sys.stderr)
            sys.exit(2)
        except KeyboardInterrupt:
            sys.exit(130)
        line = json.dumps(finite(answer.fields), ensure_ascii=False, allow_nan=False)
        try:
            print(answer.text or json_line(line), flush=True)
        except BrokenPipeError:  # whoever reads has enough, as `head` does
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for Python's own flush
            sys.exit(128 + 13)  # SIGPIPE, which Windows has not
    if answer.exit_code:
        sys.exit(answer.exit_code)


def _told(error: Exception) -> str:
    """What went wrong, with the file where there is one; a path may be as long as a page."""
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.strerror}: {quoted(error.filename)}; choose another path"
    is_of_memory = isinstance(error, MemoryError | RuntimeError)
    return "there is not enough memory; ask for less" if is_of_memory else str(error)


def add_checkpoint_arguments(parser: ArgumentParser, of_any_source: bool = False) -> None:
    """The model and the device, the same in every command that runs one."""
    or_source = ", or SOURCE:NAME for a model of another source" if of_any_source else ""
    parser.add_argument(
        "--checkpoint",
        required=True,
        metavar="NAME_OR_DIR",
        help="name of a shipped checkpoint, or the folder of a checkpoint or of a model that "
        f"transformers saved, or a file in GGUF{or_source}",
    )
    add_device_argument(parser)


def add_device_argument(parser: ArgumentParser) -> None:
    """`--device`: where to compute."""
    parser.add_argument(
        "--device", default="auto", help="auto (CUDA when there is one), cpu, cuda, cuda:1 …"
    )


def open_checkpoint(arguments: Namespace) -> Checkpoint:
    """The checkpoint that `add_checkpoint_arguments` asked for; ValueError when there is none."""
    loaded = open_model(arguments)
    _refuse_lacking(loaded, ("weights",))
    return cast("Checkpoint", loaded)  # no other source offers its weights


def open_runnable(arguments: Namespace, needs: Sequence[str] = ()) -> Runnable:
    """The same, or a model of transformers that has what is needed."""
    with _opening_said():
        loaded = table.open_runnable(arguments.checkpoint, arguments.device)
    if loaded.input_kind == "text":
        _ = loaded.tokenizer  # without one it offers nothing, which is not the reason to tell
    say_off(loaded)
    _refuse_lacking(loaded, needs)
    return loaded


def say_off(loaded: OpenModel) -> None:
    """A line for each thing that is off with a model."""
    for one in loaded.report:
        if one.is_off:
            print(f"note: {one.text}", file=sys.stderr)


def open_model(arguments: Namespace) -> OpenModel:
    """The same of any source."""
    with _opening_said():
        return table.open_named(arguments.checkpoint, arguments.device)


@contextmanager
def _opening_said() -> Iterator[None]:
    """A line on standard error while a person watches a model open; nothing in a pipe or a log."""

    def say(stage: Stage) -> None:
        print(f"\r\x1b[K{' '.join((stage.words, stage.pieces))}", end="\r", file=sys.stderr)

    if not sys.stderr.isatty():
        yield
        return
    with told_to(Progress(say)):
        yield
    print("\x1b[K", end="", file=sys.stderr)


def _refuse_lacking(loaded: OpenModel, needs: Sequence[str]) -> None:
    if why := missing(needs, loaded.offers):
        raise ValueError(f"this does not apply to {loaded.name}: {why[0]}; name another model")


def add_input_arguments(parser: ArgumentParser, text: str | None = None) -> None:
    """What to run the model on: a sentence, by default `text`, or a picture."""
    default = "" if text is None else f" (default: {text})"
    parser.add_argument("--text", default=text, help=f"the sentence{default}")
    parser.add_argument(
        "--image",
        type=Path,
        metavar="FILE.npz",
        help="with test_images (N, S, S), of which one is taken",
    )
    parser.add_argument(
        "--number", type=int, default=0, metavar="N", help="which of its test_images (0)"
    )


def add_blank_argument(parser: ArgumentParser, default: str) -> None:
    """`--blank`: the token of an encoder's input that is hidden."""
    parser.add_argument(
        "--blank", type=int, metavar="N", help=f"which token is hidden; of an encoder ({default})"
    )


def trace_input(model: OpenModel, arguments: Namespace) -> Trace:
    """Capture the sentence or the picture that was asked for; ValueError when there is none."""
    blank = getattr(arguments, "blank", None)
    if blank is not None and "blanks" not in model.offers:
        raise ValueError(f"{model.name} is no encoder: it has no [MASK] to hide a token; leave out "
                         "--blank")  # fmt: skip
    if model.input_kind != "image":
        if arguments.text is None:
            raise ValueError(f"{model.name} takes a text; give it --text")
        given = arguments.text if blank is None else Blanked(arguments.text, (blank,))
        return trace_text(model, given)
    if arguments.image is None:
        raise ValueError(f"{model.name} takes a picture; give it --image FILE.npz --number N")
    images = read_part(arguments.image, "test").images
    if not 0 <= arguments.number < len(images):
        raise ValueError(f"there are pictures 0 to {len(images) - 1}; {arguments.number} is none")
    return model.trace(images[arguments.number] / np.float32(255)).trace


def trace_text(model: OpenModel, text: str | Blanked | Translation) -> Trace:
    """Capture one sentence; ValueError when it is empty or longer than the model's context."""
    trace, n_cut, reads = model.trace(text)
    if reads is not None:
        print(f"note: the tokenizer turns the text into {quoted(reads)!r}", file=sys.stderr)
    if n_cut:
        n_tokens, limit = len(trace.tokens), table.runnable(model, model.name).model.limit
        raise ValueError(
            f"the text has {n_tokens + n_cut} tokens, more than {limit}; shorten it to {n_tokens} "
            "tokens"
        )
    return trace


@contextmanager
def progress_bar(label: str) -> Iterator[OnProgress]:
    """A bar on standard error while a person watches; nothing in a pipe or a log."""
    with ExitStack() as stack:
        bars: list[tqdm] = []

        def show(done: int, total: int) -> None:
            if not bars:  # what was done before is no measure of the speed
                bar = tqdm(
                    desc=label,
                    total=total,
                    initial=done,
                    disable=None,
                    dynamic_ncols=True,
                    bar_format="{desc} {bar} {percentage:3.0f}%  {remaining} left",
                )
                bars.append(stack.enter_context(bar))
            bars[0].update(done - bars[0].n)

        yield show


class _Parser(ArgumentParser):
    """A parser that repeats no more of a wrong word than a person wants to read."""

    def error(self, message: str) -> NoReturn:
        """Usage and one line, exit code 2."""
        super().error(one_line(message))


@contextmanager
def _stops_as_exits() -> Iterator[None]:
    """Make a signal that would kill the program leave it by an exception, so that it can save."""
    fatal = [number for number in STOPS if signal.getsignal(number) is signal.SIG_DFL]
    for number in fatal:
        signal.signal(number, _exit_by)
    try:
        yield
    finally:
        for number in fatal:
            signal.signal(number, signal.SIG_DFL)


def _exit_by(number: int, frame: FrameType | None) -> NoReturn:
    sys.exit(128 + number)
