"""Write every intermediate of one sentence: `python -m model.trace --checkpoint stories …`."""

import json
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import BinaryIO

import numpy as np

from model.capture import capture
from model.commands import cli
from model.sources import checkpoint
from model.sources.checkpoint import Checkpoint, replacing
from model.trace import Trace
from model.verify.check import worst
from model.verify.self_check import check


def trace_text(loaded: Checkpoint, text: str) -> Trace:
    """Capture one sentence; ValueError when it is empty or longer than the model's context."""
    ids = loaded.tokenizer.encode(text)
    if not ids:
        raise ValueError("the text is empty; give a sentence of at least one token")
    return capture(loaded.model, ids, loaded.tokenizer.token_strings(ids))


def write_npz(trace: Trace, file: BinaryIO) -> None:
    """Write all arrays of a trace, and its config as JSON text, as an .npz file."""
    config = json.dumps(trace.config.to_dict())
    np.savez(file, config=np.array(config), **dict(trace.arrays()))


def _arguments(parser: ArgumentParser) -> None:
    cli.add_checkpoint_arguments(parser)
    parser.add_argument("--text", required=True, help="the sentence")
    parser.add_argument("--out", type=Path, required=True, help="the .npz file to write")


def _run(arguments: Namespace) -> dict[str, object]:
    loaded = checkpoint.load(arguments.checkpoint, device=arguments.device)
    trace = trace_text(loaded, arguments.text)
    try:
        with replacing(arguments.out) as new, new.open("wb") as file:
            write_npz(trace, file)
    except OSError as error:
        raise ValueError(f"cannot write {arguments.out}: {error.strerror}") from None
    checks = check(trace, loaded.model)
    return {
        "checkpoint": loaded.name,
        "out": str(arguments.out),
        "tokens": len(trace.tokens),
        "bytes": arguments.out.stat().st_size,
        "checks": {item.name: item.error for item in checks},
        "checks_passed": all(item.passed for item in checks),
        "worst_error": worst(checks).error,
    }


if __name__ == "__main__":
    cli.run(__doc__, _arguments, _run)
