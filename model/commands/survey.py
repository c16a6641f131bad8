"""`python -m model survey`: every head of a model, measured on a whole text."""

import os
from argparse import ArgumentParser, Namespace
from collections import Counter
from datetime import timedelta
from pathlib import Path
from time import perf_counter

import torch.distributed as dist

from model.analysis.heads import roles
from model.commands import cli
from model.files import is_gguf
from model.lines import spelled
from model.sources import table
from model.sources.places import is_of_transformers
from model.survey.samples import Asked
from model.survey.stored import STORED, Survey, place_of
from model.survey.work import Job, finish, measure_share, survey

LONGEST_WAIT = timedelta(hours=12)  # of one process of torchrun for the others
NO_ROLE = "no single role"


def add_arguments(parser: ArgumentParser) -> None:
    """The model, the text, how much of it, and where the result goes."""
    cli.add_checkpoint_arguments(parser)
    parser.add_argument(
        "--text-file", type=Path, nargs="+", default=[], metavar="PATH", help="held-out UTF-8 text"
    )
    parser.add_argument(
        "--reference-file", type=Path, metavar="PATH", help="its translation, line by line"
    )
    parser.add_argument("--images", type=Path, metavar="FILE.npz", help="with test_images")
    parser.add_argument(
        "--window", type=int, default=0, metavar="N", help="tokens in a window (the context)"
    )
    parser.add_argument(
        "--tokens", type=int, default=0, metavar="N", help="end after so many tokens (all)"
    )
    parser.add_argument(
        "--processes", type=int, default=1, metavar="N", help="at once, one thread each (1)"
    )
    parser.add_argument(
        "--out", type=Path, metavar="FILE.json", help=f"({STORED} in the folder of a checkpoint)"
    )


def run(arguments: Namespace) -> cli.Answer:
    """Measure all heads; what was measured before an interruption is not measured again."""
    folder = table.folder_of(arguments.checkpoint)
    if arguments.out is None and is_of_transformers(folder):
        where = "beside a file in GGUF" if is_gguf(folder) else "into a folder of transformers"
        raise ValueError(
            f"nothing is written {where} unasked; give --out FILE.json, and "
            f"the app finds it as {spelled(place_of(folder))}"
        )
    asked = Asked(
        tuple(arguments.text_file),
        (arguments.reference_file,) if arguments.reference_file else (),
        arguments.images,
        arguments.window,
        arguments.tokens,
    )
    out = arguments.out or place_of(folder)
    job = Job(folder, arguments.device, asked, out)
    world = int(os.environ.get("WORLD_SIZE", "1"))
    started = perf_counter()
    if world > 1:
        return _one_of_many(job, int(os.environ["RANK"]), world, started)
    with cli.progress_bar("survey") as on_progress:
        surveyed = survey(job, arguments.processes, on_progress)
    return _answer(surveyed, out, started)


def _one_of_many(job: Job, rank: int, world: int, started: float) -> cli.Answer:
    """The share of one process of torchrun; the first adds all shares."""
    dist.init_process_group("gloo", timeout=LONGEST_WAIT)
    try:
        n = measure_share(job, rank, world)
        dist.barrier()
        if rank == 0:
            return _answer(finish(job), job.out, started)
        return cli.Answer({"checkpoint": job.folder.name, "process": rank, "parts": n})
    finally:
        dist.destroy_process_group()


def _answer(surveyed: Survey, out: Path, started: float) -> cli.Answer:
    seconds = perf_counter() - started
    counted = {}
    for name in surveyed.groups:
        measured = surveyed.measured(name)
        n_layers = len(next(iter(measured.values())).values)
        named = [
            role
            for layer in range(n_layers)
            for role in roles(
                {
                    key: type(one)(one.values[layer], one.n_queries[layer])
                    for key, one in measured.items()
                }
            )
        ]
        counted[name] = dict(Counter(role.name if role else NO_ROLE for role in named))
    return cli.Answer(
        {
            "checkpoint": surveyed.checkpoint,
            "out": str(out),
            "texts": surveyed.texts,
            "tokens": surveyed.tokens,
            "inputs": surveyed.inputs,
            "window": surveyed.window,
            "roles": counted,
            "seconds": round(seconds, 1),
        }
    )
