"""`python -m model ablate`: parts of a model switched off, and what that costs on one input."""

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence

import numpy as np
from torch import Tensor

from model.analysis.ablation import (
    EVERYTHING,
    KEPT,
    MEAN,
    OTHER,
    SURVEYED,
    WAYS,
    ZERO,
    Part,
    Step,
    Targets,
    edits_of,
    every_head,
    everything_off,
    n_prunable,
    part_of,
    pruned,
    single_costs,
    sizes_of,
    targets_of,
)
from model.analysis.branching import values_of
from model.analysis.interventions import run_rows
from model.analysis.means import averaged, mean_over, ordinary, surveyed_values
from model.analysis.patching import check_tokens
from model.architectures.base import Transformer
from model.commands import cli
from model.sources.sums import sum_of_weights
from model.sources.table import Runnable
from model.survey.stored import command, read_survey
from model.trace import Trace

SENTENCE = "The cat sat on the mat."
RISE = 0.05


def add_arguments(parser: ArgumentParser) -> None:
    """The model, the input, what is off, and what stands in for it."""
    cli.add_checkpoint_arguments(parser)
    cli.add_input_arguments(parser, SENTENCE)
    cli.add_blank_argument(parser, "none")
    parser.add_argument(
        "--off",
        nargs="*",
        default=[],
        metavar="PART",
        help="decoder.attn.3.4 (a head), .3.4.7 (at a query), .3.4.7.2 (an arrow), decoder.attn.3, "
        "decoder.ffn.3, decoder.ffn.3.512 (a neuron), everything",
    )
    parser.add_argument("--way", choices=WAYS, default=ZERO, help="what stands in (zero)")
    parser.add_argument("--other", metavar="TEXT", help="the other text, of as many tokens")
    parser.add_argument("--rank", action="store_true", help="the cost of each head by itself")
    parser.add_argument("--prune", action="store_true", help="one head after the other, greedily")


def run(arguments: Namespace) -> cli.Answer:
    """Print the mean loss before and after; the ranking and the curve if asked."""
    loaded = cli.open_runnable(arguments, ("answers", "edits"))
    trace = cli.trace_input(loaded, arguments)
    model, targets = loaded.model, targets_of(trace, _true_ids(loaded, arguments))
    sizes = sizes_of(model, {stream.name: len(stream) for stream in trace.streams})
    places = ordinary(trace, loaded.special_ids)
    if EVERYTHING in arguments.off:
        edits = everything_off(model)
    else:
        parts = [part_of(text, sizes) for text in arguments.off]
        own = _own(loaded, arguments, trace, places)
        edits = edits_of(parts, arguments.way, own, _other(loaded, arguments, trace))
    after = targets.losses(run_rows(model, trace.given, [edits]))[0]
    before = targets.losses(run_rows(model, trace.given, [()]))[0]
    fields: dict[str, object] = {
        "checkpoint": loaded.name,
        "off": arguments.off,
        "way": arguments.way,
        "mean_over": mean_over(trace, places) if arguments.way == MEAN else None,
        "judged_by": targets.name,
        "loss": float(before.mean()),
        "loss_off": float(after.mean()),
        "change": float(after.mean() - before.mean()),
        "changes": (after - before).tolist(),
    }
    heads, whole = every_head(sizes), float(before.mean())
    if arguments.rank:
        fields["costs"] = _ranking(loaded.model, trace, heads, targets, whole)
    if arguments.prune:
        fields |= _pruning(loaded.model, trace, heads, targets, whole)
    return cli.Answer(fields)


def _true_ids(loaded: Runnable, arguments: Namespace) -> Sequence[int] | None:
    """What stands where a token is hidden; None where none is."""
    if arguments.blank is None:
        return None
    return cli.trace_text(loaded, arguments.text).ids.tolist()


def _own(
    loaded: Runnable, arguments: Namespace, trace: Trace, places: Mapping[str, np.ndarray]
) -> dict[str, Tensor]:
    """The means of this input, or of the text of the survey; ValueError without one."""
    if arguments.way != SURVEYED:
        return averaged(values_of(loaded.model, trace.given, KEPT), places)
    survey = read_survey(loaded.folder, sum_of_weights(loaded.folder))
    if survey is None:
        make = command(arguments.checkpoint)
        raise ValueError(f"no survey is stored with {loaded.name}; {make}")
    return surveyed_values({name: group.mean_z for name, group in survey.groups.items()})


def _other(loaded: Runnable, arguments: Namespace, trace: Trace) -> dict[str, Tensor] | None:
    """What the other text has in every place; ValueError where it has another number of tokens."""
    if arguments.way != OTHER:
        return None
    if arguments.other is None or len(trace.streams) > 1 or loaded.input_kind == "image":
        raise ValueError("--way other needs --other TEXT and a model of one text, of one stack")
    other = cli.trace_text(loaded, arguments.other)
    check_tokens(trace.tokens, other.tokens)
    return values_of(loaded.model, other.given, KEPT)


def _ranking(
    model: Transformer, trace: Trace, heads: Sequence[Part], targets: Targets, whole: float
) -> dict[str, float]:
    """What each head costs, the most costly first."""
    filling = single_costs(model, trace.given, heads, targets, whole)
    with cli.progress_bar("heads") as show:
        while not filling.is_done:
            filling.advance(0)
            show(filling.n_done, len(heads))
    order = np.argsort(-filling.exact, kind="stable").tolist()
    for place in order:
        print(f"{heads[place].text:28}  {filling.exact[place]:+.4f}")
    return {heads[place].text: float(filling.exact[place]) for place in order}


def _pruning(
    model: Transformer, trace: Trace, heads: Sequence[Part], targets: Targets, whole: float
) -> dict[str, object]:
    """The loss after each head that went, and how many can go."""
    steps: list[Step] = []
    with cli.progress_bar("pruning") as show:
        for step in pruned(model, trace.given, heads, targets):
            steps += [] if step is None else [step]
            show(len(steps), len(heads))
    n = n_prunable(whole, steps, RISE)
    print(f"{n} of {len(heads)} heads can go before the loss rises by {RISE:.0%}")
    return {
        "pruned": [{"part": step.part.text, "loss": step.loss} for step in steps],
        "can_go": n,
        "rise": RISE,
    }
