"""What the commands share: one line for an error, a progress bar, a last line of JSON."""

import json
import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch

OnProgress = Callable[[int, int], None]


def run(
    description: str,
    add_arguments: Callable[[ArgumentParser], None],
    command: Callable[[Namespace], dict[str, object]],
) -> None:
    """Parse, run, print the result as one line of JSON.

    A ValueError becomes one line on standard error and exit code 2.
    """
    parser = ArgumentParser(description=description.splitlines()[0].split(":")[0])
    add_arguments(parser)
    try:
        print(json.dumps(command(parser.parse_args()), ensure_ascii=False), flush=True)
    except ValueError as error:
        sys.exit(_one_line_error(error))
    except KeyboardInterrupt:
        sys.exit(130)


def add_checkpoint_arguments(parser: ArgumentParser) -> None:
    """The model and the device, the same in every command that runs one."""
    parser.add_argument(
        "--checkpoint", required=True, help="name of a shipped checkpoint, or its folder"
    )
    add_device_argument(parser)


def add_device_argument(parser: ArgumentParser) -> None:
    """`--device`: where to compute."""
    parser.add_argument(
        "--device", default="auto", help="auto (CUDA when there is one), cpu, cuda, cuda:1 …"
    )


def choose_device(setting: str = "auto") -> torch.device:
    """The device a setting means; ValueError when this machine does not have it."""
    if setting == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(setting)
    except RuntimeError:
        raise ValueError(f"device {setting!r} is unknown; use auto, cpu or cuda") from None
    n_cuda = torch.cuda.device_count()
    if device.type == "cuda" and (device.index or 0) >= n_cuda:
        raise ValueError(f"device is {setting} but this machine has {n_cuda} CUDA devices; use cpu")
    if device.type not in ("cpu", "cuda"):
        raise ValueError(f"device {setting!r} is not supported; use auto, cpu or cuda")
    return device


@contextmanager
def progress_bar(label: str) -> Iterator[OnProgress]:
    """A bar on standard error while a person watches; nothing in a pipe or a log."""
    if not sys.stderr.isatty():
        yield lambda done, total: None
        return
    started = time.monotonic()

    def show(done: int, total: int) -> None:
        share = done / max(total, 1)
        left = (time.monotonic() - started) * (1 - share) / max(share, 1e-9)
        bar = ("█" * round(30 * share)).ljust(30, "·")
        text = f"\r{label} {bar} {share:4.0%}  {_duration(left)} left "
        print(text, end="", file=sys.stderr, flush=True)

    yield show
    print(file=sys.stderr)


def _duration(seconds: float) -> str:
    minutes, seconds = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


def _one_line_error(error: ValueError) -> int:
    print("error: " + " ".join(str(error).split()), file=sys.stderr)
    return 2
