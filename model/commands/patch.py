"""`python -m model patch`: activation patching between two inputs, cell by cell."""

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

import numpy as np
import torch

from model.analysis.branching import logits_at
from model.analysis.exact import spearman
from model.analysis.interventions import Given
from model.analysis.metrics import METRICS, Metric, telling_tokens
from model.analysis.patching import GRIDS, Pair, begin, check_lengths, parting
from model.architectures.encoder_decoder import DECODER, ENCODER, EncoderDecoderTransformer
from model.commands import cli
from model.commands.attribute import said
from model.data.images import read_part
from model.data.tokenizer import MASK, START_OF_TEXT
from model.decoding.translation import Way, write
from model.sources.table import Runnable

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


@dataclass(frozen=True)
class _Two:
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
    found = cli.open_runnable(arguments, ("answers", "edits"))
    if arguments.second is None:
        raise ValueError("there is nothing to patch with; give --second")
    two = TWO[str(found.config.architecture)](found, arguments)
    metric = _metric(found, two, arguments)
    base, source = (two.second, two.first) if arguments.into == INTO[0] else (two.first, two.second)
    pair = Pair(found.model, base, source, metric, two.stack)
    patched = begin(pair)
    with cli.progress_bar("patching") as on_progress:
        while not patched.filling.is_done:
            patched.filling.advance(0)
            on_progress(patched.filling.n_done, len(patched.filling.exact))
    return cli.Answer(
        {
            "checkpoint": found.name,
            **two.said,
            "position": two.position,
            "stack": two.stack,
            "into": arguments.into,
            "metric": metric.kind,
            "answer": said(found, metric.answer),
            "against": said(found, metric.other),
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


def _texts(found: Runnable, arguments: Namespace) -> _Two:
    """A decoder's: what comes after the last token."""
    first, second = _both(found, arguments)
    return _Two(first, second, len(first) - 1, DECODER, _strings(found, first, second))


def _blanked(found: Runnable, arguments: Namespace) -> _Two:
    """An encoder's: what stands in a blank, which is hidden in both."""
    rows = _both(found, arguments)
    place = len(rows[0]) // 2 if arguments.blank is None else arguments.blank
    if not 0 <= place < len(rows[0]):
        raise ValueError(f"token {place} is none of 0 to {len(rows[0]) - 1}; give --blank one")
    hiding = found.tokenizer.id_of(MASK)
    first, second = ([*row[:place], hiding, *row[place + 1 :]] for row in rows)
    return _Two(first, second, place, ENCODER, _strings(found, first, second))


def _sources(found: Runnable, arguments: Namespace) -> _Two:
    """A translation's: the token after what both begin with."""
    tokenizer, model = found.tokenizer, found.model
    assert isinstance(model, EncoderDecoderTransformer)
    first, second = ([*row, tokenizer.end_id] for row in _both(found, arguments, n_more=1))
    start, context = tokenizer.id_of(START_OF_TEXT), model.config.max_seq_len
    if arguments.target is None:
        both = (write(model, ids, [start], tokenizer.end_id, Way()).ids for ids in (first, second))
        shared = takewhile(lambda pair: pair[0] == pair[1], zip(*both, strict=False))
        begun = [i for i, _ in shared if i != tokenizer.end_id]
    else:
        begun = tokenizer.encode(arguments.target)
    target = [start, *begun]
    if len(target) > context:
        raise ValueError(f"the target has {len(target)} tokens; the context is {context}")
    said = {**_strings(found, first, second), "target": tokenizer.token_strings(target)}
    return _Two((first, target), (second, target), len(target) - 1, arguments.stack, said)


def _pictures(found: Runnable, arguments: Namespace) -> _Two:
    """A picture's: its class. Both are numbers of one file."""
    if arguments.image is None or not arguments.second.isdecimal():
        raise ValueError(
            f"{found.name} takes pictures; give --image FILE.npz, --number N and --second N"
        )
    images = read_part(arguments.image, "test").images
    numbers = arguments.number, int(arguments.second[:9])
    for number in numbers:
        if not 0 <= number < len(images):
            raise ValueError(f"there are pictures 0 to {len(images) - 1}; {number} is none")
    first, second = (images[number] / np.float32(255) for number in numbers)
    return _Two(first, second, 0, ENCODER, {"first": numbers[0], "second": numbers[1]})


TWO: Mapping[str, Callable[[Runnable, Namespace], _Two]] = {
    "decoder": _texts,
    "encoder": _blanked,
    "encoder_decoder": _sources,
    "vision": _pictures,
}


def _both(found: Runnable, arguments: Namespace, n_more: int = 0) -> tuple[list[int], list[int]]:
    """The ids of both texts, which have as many; `n_more` stand beside them in the context."""
    if arguments.text is None:
        raise ValueError(f"{found.name} takes a text; give it --text")
    first, second = (_ids(found, text, n_more) for text in (arguments.text, arguments.second))
    if len(first) != len(second):
        raise ValueError(parting(*map(found.tokenizer.token_strings, (first, second))))
    return first, second


def _ids(found: Runnable, text: str, n_more: int) -> list[int]:
    ids, context = found.tokenizer.encode(text), found.model.config.max_seq_len - n_more
    if not 0 < len(ids) <= context:
        raise ValueError(
            f"the text has {len(ids)} tokens; give 1 to {context}, the model's context"
        )
    return ids


def _strings(
    found: Runnable, first: Sequence[int], second: Sequence[int]
) -> dict[str, tuple[str, ...]]:
    strings = found.tokenizer.token_strings
    return {"first": strings(first), "second": strings(second)}


# --- what is asked ----------------------------------------------------------------------------


def _metric(found: Runnable, two: _Two, arguments: Namespace) -> Metric:
    check_lengths(two.first, two.second)
    with torch.inference_mode():
        logits = [
            logits_at(found.model, given, two.position)[0].cpu().numpy()
            for given in (two.first, two.second)
        ]
    own = telling_tokens(*logits)
    given = (arguments.answer, arguments.against)
    answer, other = (
        token if text is None else _token(found, text)
        for token, text in zip(own, given, strict=True)
    )
    return Metric(arguments.metric, two.position, answer, other)


def _token(found: Runnable, text: str) -> int:
    """The one token of a text, with the space before it that words have, or as it stands.

    Of a model of pictures the number of a class.
    """
    if found.input_kind == "image":
        if not text.isdecimal():
            raise ValueError(f"“{text}” is no class; give its number")
        return int(text[:9])
    for written in (f" {text}", text):
        ids = [i for i in found.tokenizer.encode(written) if i not in found.tokenizer.special_ids]
        if len(ids) == 1:
            return ids[0]
    raise ValueError(f"“{text}” has {len(ids)} tokens; give an answer of one")
