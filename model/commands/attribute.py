"""`python -m model attribute`: what every part of a model adds to one logit."""

from argparse import ArgumentParser, Namespace

import numpy as np

from model.analysis.attribution import Attribution, attribute
from model.commands import cli
from model.sources.tokens import said, token_of

SENTENCE = "The cat sat on the mat."
MOST = 10  # neurons that are named
ALLOWED = 1e-4


def add_arguments(parser: ArgumentParser) -> None:
    """The model, the input, the position and the tokens."""
    cli.add_checkpoint_arguments(parser)
    cli.add_input_arguments(parser, SENTENCE)
    cli.add_blank_argument(parser, "none")
    parser.add_argument(
        "--position",
        type=int,
        default=None,
        metavar="N",
        help="whose output is asked (the blank, else the last)",
    )
    parser.add_argument(
        "--token", default=None, metavar="TOKEN", help="one token, or its id (the most likely)"
    )
    parser.add_argument(
        "--against", default=None, metavar="TOKEN", help="a second one: the difference of both"
    )


def run(arguments: Namespace) -> cli.Answer:
    """Print each sublayer's share; exit code 1 where they miss the logit."""
    loaded = cli.open_runnable(arguments, ("parts",))
    trace = cli.trace_input(loaded, arguments)
    assert trace.output is not None
    usual = len(trace.output) - 1 if arguments.blank is None else arguments.blank
    position = usual if arguments.position is None else arguments.position
    if not 0 <= position < len(trace.output):
        raise ValueError(f"position {position} is none of 0 to {len(trace.output) - 1}")
    token = token_of(loaded, arguments.token)
    token = int(trace.output[position].argmax()) if token is None else token
    against = token_of(loaded, arguments.against)
    shares = attribute(trace, loaded.model, position, token, against)
    width = max(map(len, shares.names))
    for name, share in zip(shares.names, shares.parts, strict=True):
        print(f"{name:{width}}  {share:+.4f}")
    fields = {
        "checkpoint": loaded.name,
        "position": position,
        "token": said(loaded, token),
        "against": None if against is None else said(loaded, against),
        **_numbers(shares),
        "error": shares.error,
        "allowed": ALLOWED,
    }
    return cli.Answer(fields, exit_code=0 if shares.error <= ALLOWED else 1)


def _numbers(attribution: Attribution) -> dict[str, object]:
    order = np.argsort(-np.abs(attribution.neurons).ravel(), kind="stable")[:MOST]
    width = attribution.neurons.shape[1]  # 0 where they were not found: then none is named
    return {
        "logit": attribution.logit,
        "shares": dict(zip(attribution.names, attribution.parts.tolist(), strict=True)),
        "heads": {address: shares.tolist() for address, shares in attribution.heads.items()},
        "neurons": {
            f"L{place // width} N{place % width}": float(attribution.neurons.ravel()[place])
            for place in order.tolist()
        },
    }
