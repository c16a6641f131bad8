"""`python -m model patch`: activation patching between two inputs, cell by cell."""

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import NamedTuple

import numpy as np

from model.analysis.exact import spearman
from model.analysis.interventions import Given
from model.analysis.metrics import METRICS, Metric
from model.analysis.patching import GRIDS, Pair, begin, metric_between, parting
from model.architectures.encoder_decoder import DECODER, ENCODER
from model.commands import cli
from model.given import Translation
from model.sources.table import Runnable
from model.sources.tokens import said, token_of
from model.trace import Trace

INTO = ("second", "first")


def add_arguments(parser: ArgumentParser) -> None:
    """The model, two inputs, what is asked, and which way."""
    cli.add_checkpoint_arguments(parser)
    cli.add_input_arguments(parser)
    parser.add_argument("--second", help="another sentence of as many tokens, or another number")
    cli.add_blank_argument(parser, "the middle one")
    parser.add_argument(
        "--target", help="how both translations begin (as far as they are the same)"
    )
    parser.add_argument(
        "--stack", choices=(ENCODER, DECODER), default=ENCODER, help="of a translation (encoder)"
    )
    parser.add_argument(
        "--metric", choices=list(METRICS), default=next(iter(METRICS)), help="(difference)"
    )
    parser.add_argument("--answer", help="the token asked for (what the first makes more likely)")
    parser.add_argument("--against", help="the other one (what the second makes more likely)")
    parser.add_argument(
        "--into", choices=INTO, default=INTO[0], help="which input values are put into (second)"
    )


class Two(NamedTuple):
    """Both inputs as they are run, the position whose answer is asked, and the stack to patch.

    `said` is what they are in words.
    """

    first: Given
    second: Given
    position: int
    stack: str
    said: Mapping[str, object]


def run(arguments: Namespace) -> cli.Answer:
    """Run both, fill in all grids, estimate them."""
    loaded = cli.open_runnable(arguments, ("answers", "edits"))
    if arguments.second is None:
        raise ValueError("there is nothing to patch with; give --second")
    two = two_inputs(loaded, arguments)
    metric = metric_of(loaded, two, arguments)
    base, source = (two.second, two.first) if arguments.into == INTO[0] else (two.first, two.second)
    pair = Pair(loaded.model, base, source, metric, two.stack)
    patched = begin(pair)
    with cli.progress_bar("patching") as on_progress:
        while not patched.filling.is_done:
            patched.filling.advance(0)
            on_progress(patched.filling.n_done, len(patched.filling.exact))
    return cli.Answer(
        {
            "checkpoint": loaded.name,
            **two.said,
            "position": two.position,
            "stack": two.stack,
            "into": arguments.into,
            "metric": metric.kind,
            "answer": said(loaded, metric.answer),
            "against": said(loaded, metric.other),
            "of_base": patched.kept.of_base,
            "of_source": patched.kept.of_source,
            "grids": {name: _rounded(grid) for name, grid in patched.exact.items()},
            "put_back": {
                name: _rounded(patched.kept.restored(grid)) for name, grid in patched.exact.items()
            },
            "correlation_with_estimate": {
                name: spearman(patched.exact[name], patched.estimate[name]) for name in GRIDS
            },
        }
    )


def _rounded(grid: np.ndarray) -> list[list[float]]:
    return [[round(float(x), 6) for x in row] for row in grid]


# --- both inputs ------------------------------------------------------------------------------


def two_inputs(loaded: Runnable, arguments: Namespace) -> Two:
    """Both inputs, by what their runs say of themselves."""
    if "encoder" in loaded.offers and arguments.text is not None and arguments.blank is None:
        arguments.blank = len(loaded.tokenizer.encode(arguments.text)) // 2
    first, second = _trace(loaded, arguments), _trace(loaded, _of_second(loaded, arguments))
    if loaded.input_kind == "image":
        numbers = {"first": arguments.number, "second": int(arguments.second[:9])}
        return Two(first.given, second.given, 0, first.main.name, numbers)
    traces = (first, second)
    if len(first.streams[0]) != len(second.streams[0]):
        raise ValueError(parting(*(trace.streams[0].labels for trace in traces)))
    rows: list[Sequence[np.ndarray]] = [
        trace.given if isinstance(trace.given, tuple) else [trace.given] for trace in traces
    ]
    said: dict[str, object] = {
        name: loaded.tokenizer.token_strings(row[0].tolist())
        for name, row in zip(("first", "second"), rows, strict=True)
    }
    if len(first.streams) == 1:
        position = len(first.main) - 1 if arguments.blank is None else arguments.blank
        return Two(rows[0][0], rows[1][0], position, first.main.name, said)
    both = zip(rows[0][1].tolist(), rows[1][1].tolist(), strict=False)
    target = [own for own, _ in takewhile(lambda pair: pair[0] == pair[1], both)]
    said["target"] = loaded.tokenizer.token_strings(target)
    of = (rows[0][0], target), (rows[1][0], target)
    return Two(*of, len(target) - 1, arguments.stack, said)


def _trace(loaded: Runnable, arguments: Namespace) -> Trace:
    if arguments.target is None or arguments.text is None:
        return cli.trace_input(loaded, arguments)
    target = tuple(loaded.tokenizer.encode(arguments.target))
    return cli.trace_text(loaded, Translation(arguments.text, target))


def _of_second(loaded: Runnable, arguments: Namespace) -> Namespace:
    """The same asked of the second input, another text or another number of one file."""
    changed = {"text": arguments.second}
    if loaded.input_kind == "image":
        if not arguments.second.isdecimal():
            raise ValueError(f"{loaded.name} takes pictures; give the number of one as --second")
        changed = {"number": int(arguments.second[:9])}
    return Namespace(**{**vars(arguments), **changed})


# --- what is asked ----------------------------------------------------------------------------


def metric_of(loaded: Runnable, two: Two, arguments: Namespace) -> Metric:
    """What is asked: of the tokens given, or of those that tell both inputs apart most."""
    answer, other = (token_of(loaded, text) for text in (arguments.answer, arguments.against))
    given = two.first, two.second
    return metric_between(loaded.model, *given, two.position, arguments.metric, answer, other)
