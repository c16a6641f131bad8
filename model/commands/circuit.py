"""`python -m model circuit`: from an answer back to the words, edge by edge."""

from argparse import ArgumentParser, Namespace

from model.analysis.metrics import DIFFERENCE, LOGIT
from model.analysis.paths.circuit import Circuit
from model.analysis.paths.terms import paths
from model.analysis.paths.words import rows
from model.commands import cli
from model.commands.patch import inputs_told, question_of
from model.given import rows_of
from model.sources.tokens import said, strings_of


def add_arguments(parser: ArgumentParser) -> None:
    """The model, two sentences, what is asked, and how much of it."""
    cli.add_checkpoint_arguments(parser)
    cli.add_input_arguments(parser)
    parser.add_argument("--second", help="another sentence of as many tokens")
    parser.add_argument(
        "--metric", choices=(DIFFERENCE, LOGIT), default=DIFFERENCE, help="(difference)"
    )
    parser.add_argument("--answer", help="the token asked for (what the first makes more likely)")
    parser.add_argument("--against", help="the other one (what the second makes more likely)")
    parser.add_argument(
        "--edges", type=int, default=300, metavar="N", help="of which effects are exact (300)"
    )
    parser.add_argument(
        "--prune", action="store_true", help="look for as few edges as keep nine tenths"
    )


def run(arguments: Namespace) -> cli.Answer:
    """Estimate every edge, compute the strongest, and run circuits of the k strongest."""
    if arguments.edges < 1:
        raise ValueError(f"--edges is {arguments.edges}; give at least 1")
    loaded = cli.open_runnable(arguments, ("answers", "edits", "decoder", "vocabulary"))
    arguments.blank = arguments.target = None
    question = question_of(loaded, arguments)
    found, metric = paths(question.of(loaded.model)), question.metric
    circuit = _done("circuit", Circuit(found, arguments.edges))
    if arguments.prune:
        circuit.prune()
        _done("pruning", circuit)
    tokens = strings_of(loaded, rows_of(question.base)[0])
    answer: dict[str, object] = {
        "checkpoint": loaded.name,
        **inputs_told(loaded, question, arguments),
        "metric": metric.kind,
        "answer": said(loaded, metric.answer),
        "against": said(loaded, metric.other) if metric.kind == DIFFERENCE else None,
        "of_first": found.whole,
        "of_second": found.other,
        "n_edges": circuit.all.n_all,
        "correlation_with_estimate": circuit.strongest.correlation,
        "edges": rows(circuit.strongest, tokens),
        "curve": dict(zip(circuit.curve.sizes, circuit.curve.shares, strict=True)),
    }
    if circuit.pruning:
        answer["pruned"] = {"share": circuit.share, "edges": rows(circuit.pruned, tokens)}
    return cli.Answer(answer)


def _done(name: str, circuit: Circuit) -> Circuit:
    """All of a circuit that is left, with a bar where a person watches."""
    with cli.progress_bar(name) as on_progress:
        while not circuit.is_done:
            circuit.advance(0)
            on_progress(int(1000 * circuit.progress), 1000)
    return circuit
