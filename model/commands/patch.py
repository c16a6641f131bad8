"""`python -m model patch`: activation patching between two inputs, cell by cell."""

from argparse import ArgumentParser, Namespace
from functools import partial

import numpy as np

from model.analysis.exact import spearman
from model.analysis.metrics import METRICS
from model.analysis.patching import GRIDS, begin
from model.analysis.question import Question, ask, both
from model.architectures.encoder_decoder import DECODER, ENCODER
from model.commands import cli
from model.given import Translation, as_input, rows_of
from model.sources.table import Runnable
from model.sources.tokens import said, strings_of, token_of
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


def run(arguments: Namespace) -> cli.Answer:
    """Run both, fill in all grids, estimate them."""
    loaded = cli.open_runnable(arguments, ("answers", "edits"))
    question = question_of(loaded, arguments)
    metric = question.metric
    asked = question.turned if arguments.into == INTO[0] else question
    patched = begin(asked.of(loaded.model))
    with cli.progress_bar("patching") as on_progress:
        while not patched.filling.is_done:
            patched.filling.advance(0)
            on_progress(patched.filling.n_done, len(patched.filling.exact))
    return cli.Answer(
        {
            "checkpoint": loaded.name,
            **inputs_told(loaded, question, arguments),
            "position": metric.position,
            "stack": question.stack,
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


# --- what is asked ----------------------------------------------------------------------------


def question_of(loaded: Runnable, arguments: Namespace) -> Question:
    """What is asked of both: of the tokens given, or of those that tell their answers apart."""
    if arguments.second is None:
        raise ValueError("there is nothing to compare with; give --second")
    if "encoder" in loaded.offers and arguments.text is not None and arguments.blank is None:
        arguments.blank = len(loaded.tokenizer.encode(arguments.text)) // 2
    first, second = _trace(loaded, arguments), _trace(loaded, _of_second(loaded, arguments))
    inputs = as_input(first.given), as_input(second.given)
    asked = both(*inputs, partial(strings_of, loaded), arguments.blank)
    tokens = [token_of(loaded, text) for text in (arguments.answer, arguments.against)]
    stack = arguments.stack if len(first.streams) > 1 else first.main.name
    return ask(loaded.model, asked, arguments.metric, tokens, stack)


def inputs_told(loaded: Runnable, question: Question, arguments: Namespace) -> dict[str, object]:
    """Both inputs by their tokens, of translations with what both targets begin with."""
    if loaded.input_kind == "image":
        return {"first": arguments.number, "second": int(arguments.second[:9])}
    first, second = rows_of(question.base), rows_of(question.source)
    told = {"first": first[0], "second": second[0]}
    if len(first) > 1:
        told["target"] = first[1]
    return {name: strings_of(loaded, ids) for name, ids in told.items()}


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
