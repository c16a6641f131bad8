"""`python -m model check`: a model’s run on one sentence, recomputed by another route."""

from argparse import ArgumentParser, Namespace

from model.commands import cli
from model.sources.adopted import Adopted
from model.sources.untouched import check_untouched
from model.verify.check import in_digits, worst

SENTENCE = "The cat sat on the mat."


def add_arguments(parser: ArgumentParser) -> None:
    """The model and the sentence."""
    cli.add_checkpoint_arguments(parser, of_any_source=True)
    cli.add_input_arguments(parser, SENTENCE)


def run(arguments: Namespace) -> cli.Answer:
    """Print every check with its error and the bound it must hold; exit code 1 when one fails."""
    loaded = cli.open_model(arguments)
    trace = cli.trace_input(loaded, arguments)
    checks = loaded.check(trace)
    if isinstance(loaded, Adopted) and loaded.input_kind == "text":
        checks += check_untouched(loaded, trace)
    width = max(len(item.name) for item in checks)
    for item in checks:
        verdict = "ok" if item.passed else "FAILED"
        error, bound = in_digits(item.error), in_digits(item.bound, 0)
        print(f"{verdict:6}  {item.name:{width}}  error {error:7}  bound {bound}")
    for one in loaded.report:
        print(f"{'OFF' if one.is_off else 'note':6}  {one.text}")
    passed = all(item.passed for item in checks)
    answer = {
        "checkpoint": loaded.name,
        "tokens": len(trace.tokens),
        "checks": {item.name: {"error": item.error, "bound": item.bound} for item in checks},
        "failed": [item.name for item in checks if not item.passed],
        "off": [one.text for one in loaded.report if one.is_off],
        "checks_passed": passed,
        "worst_error": worst(checks).error,
    }
    return cli.Answer(answer, exit_code=0 if passed else 1)
