"""`python -m model why`: why one head looks from one token to another."""

from argparse import ArgumentParser, Namespace

from model.analysis.why.reasons import Cell, reasons
from model.analysis.why.sentence import sentence
from model.analysis.why.tables import kind_rows, word_rows, writer_rows
from model.commands import cli
from model.trace import Trace

MOST = 10  # pairs of words, and writers, that are printed


def add_arguments(parser: ArgumentParser) -> None:
    """The model, the input, and the cell."""
    cli.add_checkpoint_arguments(parser)
    cli.add_input_arguments(parser)
    cli.add_blank_argument(parser, "none")
    parser.add_argument("--layer", type=int, required=True, metavar="L")
    parser.add_argument("--head", type=int, required=True, metavar="H")
    parser.add_argument(
        "--query", type=int, required=True, metavar="N", help="the token that looks"
    )
    parser.add_argument("--key", type=int, required=True, metavar="N", help="the token it looks at")
    parser.add_argument(
        "--other", type=int, metavar="N", help="a key to compare with (the mean of all it may see)"
    )
    parser.add_argument(
        "--group", default="", help="which attention, such as decoder.cross_attn (the only one)"
    )


def run(arguments: Namespace) -> cli.Answer:
    """Print the sentence, then what it is made of."""
    loaded = cli.open_runnable(arguments)
    trace = cli.trace_input(loaded, arguments)
    heads = trace.heads_at(arguments.layer, arguments.head, arguments.group)
    site = heads.records[arguments.layer].site
    cell = reasons(trace, loaded.model, site).cell(
        arguments.head, arguments.query, arguments.key, arguments.other
    )
    print(sentence(cell))
    return cli.Answer({"checkpoint": loaded.name, "site": site.address, **_numbers(cell, trace)})


def _numbers(cell: Cell, trace: Trace) -> dict[str, object]:
    record = cell.of.record
    return {
        "head": cell.of.head,
        "query": trace.stream(record.queries).labels[cell.of.query],
        "key": trace.stream(record.keys).labels[cell.key],
        "weight": cell.weight,
        "score": cell.score,
        "kinds": kind_rows(cell),
        "words": word_rows(cell, MOST),
        "writers": writer_rows(cell, MOST),
    }
