"""`python -m model generate`: continue a prompt, or translate it."""

import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Collection
from typing import NamedTuple, cast

from model.architectures.encoder_decoder import EncoderDecoderTransformer
from model.commands import cli
from model.commands.cli import OnProgress
from model.data.tokenizer import START_OF_TEXT
from model.decoding.beam import beam_search
from model.decoding.filters import GREEDY, Sampling
from model.decoding.predict import Decoder
from model.decoding.sampling import END_OF_TEXT, generate, why_stopped
from model.decoding.translation import Translating, source_ids
from model.given import space_at_end
from model.lines import quoted
from model.sources.adopted import Adopted
from model.sources.loaded import of_rules
from model.sources.table import Runnable

Continued = tuple[list[int], str | None]  # the new ids, and why they end


class Writing(NamedTuple):
    """What writes, the ids that it goes on from, and those that end a text."""

    model: Decoder
    ids: list[int]
    end_ids: Collection[int]


DEFAULTS = Sampling(temperature=0.8, top_p=0.95)


def add_arguments(parser: ArgumentParser) -> None:
    """The model, the prompt, and how the next token is chosen."""
    cli.add_checkpoint_arguments(parser)
    parser.add_argument(
        "--prompt", required=True, metavar="TEXT", help="text to continue or to translate"
    )
    parser.add_argument(
        "--max-new-tokens", type=int, default=100, metavar="N", help="stop after so many (100)"
    )
    sampling = parser.add_argument_group("sampling")
    sampling.add_argument(
        "--temperature", type=float, default=DEFAULTS.temperature, metavar="T", help="above 0 (0.8)"
    )
    sampling.add_argument(
        "--top-k", type=int, metavar="K", help="keep the k most likely tokens; 0 keeps all (all)"
    )
    sampling.add_argument(
        "--top-p", type=float, default=DEFAULTS.top_p, metavar="P", help="above 0, at most 1 (0.95)"
    )
    sampling.add_argument(
        "--min-p",
        type=float,
        default=0.0,
        metavar="P",
        help="share of the most likely token's probability; below 1 (0)",
    )
    sampling.add_argument("--seed", type=int, default=0, metavar="S", help="same seed, same text")
    search = parser.add_argument_group("instead of sampling")
    search.add_argument(
        "--greedy", action="store_true", help="take the most likely token each time"
    )
    search.add_argument(
        "--beam-width", type=int, metavar="W", help="search for the most likely text"
    )
    search.add_argument(
        "--length-penalty",
        type=float,
        default=0.0,
        metavar="A",
        help="above 0, beams favour longer texts: by ((5 + n)/6)^A, not n^A (0; at most 10)",
    )
    parser.add_argument(
        "--slide", action="store_true", help="let a full context drop its older half and go on"
    )


def run(arguments: Namespace) -> cli.Answer:
    """Print the prompt with its continuation."""
    if arguments.beam_width is not None and (arguments.greedy or arguments.slide):
        raise ValueError("--beam-width goes with neither --greedy nor --slide; leave one out")
    _refuse_unused(arguments)
    sampling = Sampling(
        temperature=arguments.temperature,
        top_k=arguments.top_k,
        top_p=arguments.top_p,
        min_p=arguments.min_p,
        seed=arguments.seed,
    )
    loaded = cli.open_runnable(arguments)
    is_translation = loaded.config.architecture == "encoder_decoder"
    started = time.perf_counter()
    with cli.progress_bar("generate") as on_progress:
        if is_translation and "translates" not in loaded.offers:
            written = _by_transformers(cast("Adopted", loaded), arguments)
            begun, (new_ids, stopped) = [], written
        else:
            writing = _writing(loaded, arguments)
            begun = writing.ids
            if arguments.beam_width is None:
                chosen = GREEDY if arguments.greedy else sampling
                new_ids, stopped = _drawn(writing, chosen, arguments, on_progress)
            else:
                new_ids, stopped = _searched(writing, arguments, on_progress)
    seconds = time.perf_counter() - started
    continuation = loaded.tokenizer.continuation(begun, new_ids)
    if is_translation:
        continuation = continuation.removeprefix(" ")
    if lacking := loaded.tokenizer.lacking(new_ids):
        names = quoted(" ".join(loaded.tokenizer.token_strings(lacking)))
        print(
            f"note: the tokenizer has no token for {len(lacking)} of the ids that were written, "
            f"named {names}; use the tokenizer that the model was trained with",
            file=sys.stderr,
        )
    print(continuation if is_translation else arguments.prompt + continuation)
    return cli.Answer(
        {
            "checkpoint": loaded.name,
            "prompt": arguments.prompt,
            "continuation": continuation,
            "new_tokens": len(new_ids),
            "stopped": stopped,
            "seed": arguments.seed,
            "tokens_per_second": len(new_ids) / seconds,
        }
    )


def _writing(loaded: Runnable, arguments: Namespace) -> Writing:
    """The beginning of the text; ValueError when the model writes none."""
    tokenizer = loaded.tokenizer
    if "translates" not in loaded.offers:
        ids = tokenizer.encode(arguments.prompt)
        space = space_at_end(tokenizer.token_strings(ids))
        if space:
            print(f"note: {space}", file=sys.stderr)
        if arguments.slide and ids[:1] and ids[0] in tokenizer.special_ids:
            start = tokenizer.name(ids[0])
            print(
                f"note: a full context drops {start} too, which begins every text of this model; "
                "after that it writes without it",
                file=sys.stderr,
            )
        return Writing(loaded.decoder, ids, loaded.end_ids)
    if arguments.slide:
        raise ValueError("--slide is for texts that go on; a translation ends, leave it out")
    model = cast("EncoderDecoderTransformer", loaded.model)
    translating = Translating(model, source_ids(tokenizer, arguments.prompt))
    start = [tokenizer.id_of(START_OF_TEXT)]
    return Writing(translating, start, loaded.end_ids)


def _by_transformers(loaded: Adopted, arguments: Namespace) -> Continued:
    """A translation, which transformers itself writes."""
    if not arguments.greedy:
        raise ValueError(
            f"{loaded.name} is an encoder-decoder of transformers, which always writes the most "
            "likely token here; add --greedy"
        )
    for rule in of_rules(loaded.model.inner):
        print(f"note: {rule.text}", file=sys.stderr)
    tokenizer = loaded.tokenizer
    new_ids = loaded.written(tokenizer.encode(arguments.prompt), arguments.max_new_tokens)
    full = 1 + len(new_ids) == loaded.model.config.max_seq_len  # with the start
    enough, ended = len(new_ids) == arguments.max_new_tokens, not loaded.end_ids.isdisjoint(new_ids)
    return new_ids, why_stopped(ended=ended, enough=enough, full=full) or END_OF_TEXT


def _refuse_unused(arguments: Namespace) -> None:
    """ValueError for options that this way of decoding does not look at."""
    way = "--greedy" if arguments.greedy else "--beam-width"
    if arguments.greedy or arguments.beam_width is not None:
        for name in ("temperature", "top_k", "top_p", "min_p"):
            if getattr(arguments, name) != getattr(DEFAULTS, name):
                option = name.replace("_", "-")
                raise ValueError(f"--{option} is for sampling, not {way}; leave one of them out")
    if arguments.length_penalty and arguments.beam_width is None:
        raise ValueError("--length-penalty is for beams; add --beam-width or leave it out")


def _drawn(
    writing: Writing, sampling: Sampling, arguments: Namespace, on_progress: OnProgress
) -> Continued:
    new_ids, stopped = [], None
    for step in generate(
        writing.model,
        writing.ids,
        sampling,
        max_new_tokens=arguments.max_new_tokens,
        end_ids=writing.end_ids,
        slide=arguments.slide,
    ):
        new_ids.append(step.token_id)
        stopped = step.stopped
        on_progress(len(new_ids), arguments.max_new_tokens)
    return new_ids, stopped


def _searched(writing: Writing, arguments: Namespace, on_progress: OnProgress) -> Continued:
    steps = []
    for step in beam_search(
        writing.model,
        writing.ids,
        beam_width=arguments.beam_width,
        max_new_tokens=arguments.max_new_tokens,
        length_penalty=arguments.length_penalty,
        end_ids=writing.end_ids,
    ):
        steps.append(step)
        on_progress(len(steps), arguments.max_new_tokens)
    return list(steps[-1].winner.ids), steps[-1].stopped
