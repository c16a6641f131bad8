"""`python -m model patch`: activation patching between two sentences, cell by cell."""

from argparse import ArgumentParser, Namespace

import numpy as np

from model.analysis.branching import logits_at
from model.analysis.metrics import METRICS, Metric, telling_tokens
from model.analysis.patching import GRIDS, Pair, begin, correlation, estimated, parting, pieces
from model.commands import cli
from model.data.tokenizer import Tokenizer
from model.sources.checkpoint import Checkpoint

INTO = ("second", "first")


def add_arguments(parser: ArgumentParser) -> None:
    """The model, two sentences, what is asked, and which way."""
    cli.add_checkpoint_arguments(parser)
    parser.add_argument("--text", required=True, help="the first sentence")
    parser.add_argument("--second", required=True, help="another of as many tokens")
    parser.add_argument(
        "--metric", choices=list(METRICS), default=next(iter(METRICS)), help="(difference)"
    )
    parser.add_argument("--answer", help="the token asked for (what the first makes more likely)")
    parser.add_argument("--against", help="the other one (what the second makes more likely)")
    parser.add_argument(
        "--into", choices=INTO, default=INTO[0], help="which sentence values are put into (second)"
    )


def run(arguments: Namespace) -> cli.Answer:
    """Run both, fill in all grids, estimate them."""
    found = cli.open_checkpoint(arguments)
    first, second = (_ids(found, text) for text in (arguments.text, arguments.second))
    if len(first) != len(second):
        raise ValueError(parting(*map(found.tokenizer.token_strings, (first, second))))
    metric = _metric(found, first, second, arguments)
    base, source = (second, first) if arguments.into == INTO[0] else (first, second)
    pair = Pair(found.decoder, base, source, metric)
    patched = begin(pair)
    with cli.progress_bar("patching") as on_progress:
        for piece in pieces(pair, patched.kept):
            patched.take(piece)
            on_progress(patched.n_done, patched.n_cells)
    estimate = estimated(pair, patched.kept)
    strings = found.tokenizer.token_strings
    return cli.Answer(
        {
            "checkpoint": found.name,
            "first": strings(first),
            "second": strings(second),
            "into": arguments.into,
            "metric": metric.kind,
            "answer": strings([metric.answer])[0],
            "against": strings([metric.other])[0],
            "of_base": patched.kept.of_base,
            "of_source": patched.kept.of_source,
            "grids": {name: _rounded(grid) for name, grid in patched.values.items()},
            "put_back": {
                name: _rounded(patched.kept.restored(grid)) for name, grid in patched.values.items()
            },
            "correlation_with_estimate": {
                name: correlation(patched.values[name], estimate[name]) for name in GRIDS
            },
        }
    )


def _rounded(grid: np.ndarray) -> list[list[float]]:
    return [[round(float(x), 6) for x in row] for row in grid]


def _ids(found: Checkpoint, text: str) -> list[int]:
    ids, context = found.tokenizer.encode(text), found.decoder.config.max_seq_len
    if not 0 < len(ids) <= context:
        raise ValueError(
            f"the text has {len(ids)} tokens; give 1 to {context}, the model's context"
        )
    return ids


def _metric(found: Checkpoint, first: list[int], second: list[int], arguments: Namespace) -> Metric:
    last = len(first) - 1
    logits = (logits_at(found.decoder, ids, last)[0].cpu().numpy() for ids in (first, second))
    own = telling_tokens(*logits)
    given = (arguments.answer, arguments.against)
    answer, other = (
        token if text is None else _token(found.tokenizer, text)
        for token, text in zip(own, given, strict=True)
    )
    return Metric(arguments.metric, last, answer, other)


def _token(tokenizer: Tokenizer, text: str) -> int:
    """The one token of a text, with the space before it that words have, or as it stands."""
    for written in (f" {text}", text):
        ids = tokenizer.encode(written)
        if len(ids) == 1:
            return ids[0]
    raise ValueError(f"“{text}” has {len(ids)} tokens; give an answer of one")
