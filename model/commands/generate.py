"""`python -m model generate`: continue a prompt."""

import time
from argparse import ArgumentParser, Namespace

from model.commands import cli
from model.commands.cli import OnProgress
from model.decoding.beam import beam_search
from model.decoding.filters import GREEDY, Sampling
from model.decoding.sampling import generate
from model.sources.checkpoint import Checkpoint

Continued = tuple[list[int], str | None]  # the new ids, and why they end

DEFAULTS = Sampling(temperature=0.8, top_p=0.95)


def add_arguments(parser: ArgumentParser) -> None:
    """The model, the prompt, and how the next token is chosen."""
    cli.add_checkpoint_arguments(parser)
    parser.add_argument("--prompt", required=True, metavar="TEXT", help="text to continue")
    parser.add_argument(
        "--max-new-tokens", type=int, default=100, metavar="N", help="stop after so many (100)"
    )
    sampling = parser.add_argument_group("sampling")
    sampling.add_argument(
        "--temperature", type=float, default=DEFAULTS.temperature, metavar="T", help="above 0 (0.8)"
    )
    sampling.add_argument(
        "--top-k", type=int, metavar="K", help="keep the k most likely tokens (default: all)"
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
        help="above 0, beams favour longer texts (0; at most 10)",
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
    loaded = cli.open_checkpoint(arguments)
    started = time.perf_counter()
    with cli.progress_bar("generate") as on_progress:
        if arguments.beam_width is None:
            chosen = GREEDY if arguments.greedy else sampling
            new_ids, stopped = _drawn(loaded, chosen, arguments, on_progress)
        else:
            new_ids, stopped = _searched(loaded, arguments, on_progress)
    seconds = time.perf_counter() - started
    tokenizer = loaded.tokenizer
    continuation = tokenizer.decode([i for i in new_ids if i != tokenizer.end_id])
    print(arguments.prompt + continuation)
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
    loaded: Checkpoint, sampling: Sampling, arguments: Namespace, on_progress: OnProgress
) -> Continued:
    new_ids, stopped = [], None
    for step in generate(
        loaded.decoder,
        loaded.tokenizer.encode(arguments.prompt),
        sampling,
        max_new_tokens=arguments.max_new_tokens,
        end_id=loaded.tokenizer.end_id,
        slide=arguments.slide,
    ):
        new_ids.append(step.token_id)
        stopped = step.stopped
        on_progress(len(new_ids), arguments.max_new_tokens)
    return new_ids, stopped


def _searched(loaded: Checkpoint, arguments: Namespace, on_progress: OnProgress) -> Continued:
    steps = []
    for step in beam_search(
        loaded.decoder,
        loaded.tokenizer.encode(arguments.prompt),
        beam_width=arguments.beam_width,
        max_new_tokens=arguments.max_new_tokens,
        length_penalty=arguments.length_penalty,
        end_id=loaded.tokenizer.end_id,
    ):
        steps.append(step)
        on_progress(len(steps), arguments.max_new_tokens)
    return list(steps[-1].winner.ids), steps[-1].stopped
