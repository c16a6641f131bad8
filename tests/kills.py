"""A training stopped at random moments: `python -m tests.kills [--times 30] [--seed 0]`.

A small training runs as its own process and gets SIGKILL, Ctrl-C or SIGTERM at a moment that the
seed draws, also while it starts or saves; it is resumed until it is done. The finished folder
must be that of a run nobody stopped, bit for bit, and no half-written file may stay. Prints JSON.
"""

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser
from pathlib import Path

from model.training.state import STATE_FILE
from tests.model.builders import SENTENCE
from tests.serving import ROOT

RECIPE = """
name = "toy"
tokenizer = "characters"
vocab_size = 0
batch_tokens = 352
precision = "float32"
warmup_steps = 3
save_every = 7
evaluate_every = 50
[model]
d_model = 32
n_layers = 2
n_heads = 4
max_seq_len = 11
[[stages]]
steps = STEPS
seq_len = 11
"""
SIGNALS = (signal.SIGKILL, signal.SIGINT, signal.SIGTERM)
FILES = ("model.safetensors", "config.json", "tokenizer.json")
LONGEST = 6.0  # seconds before a stop; a whole run takes about as long


def prepare(folder: Path, steps: int = 400) -> None:
    """A recipe and a text."""
    recipe = RECIPE.replace("STEPS", str(steps))
    (folder / "toy.toml").write_text(recipe, encoding="utf-8")
    (folder / "text.txt").write_text(f"{SENTENCE} " * 300, encoding="utf-8")


def start(folder: Path, out: Path) -> subprocess.Popen:
    """The training as a person starts it, resumed where there is something to go on from."""
    command = [sys.executable, "-m", "model", "train", str(folder / "toy.toml")]
    command += ["--corpus", str(folder / "text.txt"), "--out", str(out), "--device", "cpu"]
    command += ["--resume"] if (out / STATE_FILE).exists() else []
    return subprocess.Popen(
        command,
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1"},  # on a busy machine two wait for each other
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def finish(folder: Path, out: Path) -> None:
    """Train to the end; AssertionError with what it said when it does not get there."""
    process = start(folder, out)
    _, said = process.communicate(timeout=120)
    assert process.returncode == 0, said


def stop_once(folder: Path, out: Path, chance: random.Random) -> str:
    """Stop a training at a random moment; gives the name of the signal, and how it ended."""
    process = start(folder, out)
    time.sleep(chance.uniform(0.2, LONGEST))
    return stop(process, chance.choice(SIGNALS))


def stop(process: subprocess.Popen, number: signal.Signals) -> str:
    """Stop a training now; gives the name of the signal, and how it ended."""
    process.send_signal(number)
    _, said = process.communicate(timeout=60)
    assert "Traceback" not in said, said
    return f"{number.name} {process.returncode}"


def faults(out: Path, straight: Path) -> list[str]:
    """Files that are not those of the run nobody stopped, and what was left behind."""
    differing = [x for x in FILES if (out / x).read_bytes() != (straight / x).read_bytes()]
    return differing + [path.name for path in out.glob("*.new")]


def try_stops(folder: Path, times: int, seed: int, stops_each: int = 3) -> dict:
    """Stop `times` times, up to `stops_each` in one training, and compare each that is done."""
    chance = random.Random(seed)
    prepare(folder)
    finish(folder, folder / "straight")
    endings: dict[str, int] = {}
    wrong: list[str] = []
    for number in range(0, times, stops_each):
        out = folder / f"run-{number}"
        for _ in range(min(stops_each, times - number)):
            how = stop_once(folder, out, chance)
            endings[how] = endings.get(how, 0) + 1
        if not (out / "model.safetensors").exists():
            finish(folder, out)
        wrong += faults(out, folder / "straight")
    return {"stops": times, "endings": endings, "not bit for bit (asked 0)": len(wrong)}


def main() -> None:
    """Stop, resume, compare; exit code 1 where a run was not the same."""
    parser = ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--times", type=int, default=30, metavar="N")
    parser.add_argument("--seed", type=int, default=0, metavar="S")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = try_stops(Path(folder), arguments.times, arguments.seed)
    print(json.dumps(found))
    raise SystemExit(1 if found["not bit for bit (asked 0)"] else 0)


if __name__ == "__main__":
    main()
