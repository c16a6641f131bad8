"""How a run is watched and steered from outside, by files in its folder."""

import json
import time
from itertools import takewhile
from pathlib import Path
from typing import Any

import numpy as np
import torch

from model.data.tokenizer import Tokenizer
from model.files import MEGABYTE, append, read_text, replacing
from model.tap import Recorder, attach
from model.training.observers import Saver
from model.training.plan import log_spaced
from model.training.recipe import RECIPE_FILE
from model.training.trainer import Observer, Trainer

FRAMES_FILE, FRAMES_INDEX = "attention.f16", "attention.jsonl"
MOST_FRAMES, MOST_BYTES = 400, 64 * MEGABYTE  # of one run
MOST_EARLY = 24  # frames at log-spaced steps, between the evaluations
LARGEST_INDEX = MEGABYTE
NO_FRAMES = {"shape": [1, 1, 0, 0], "tokens": []}
ONE_STACK = ("decoder", "encoder")  # architectures whose tokens attend to each other alone

CONTROL_FILE, PAUSED_FILE = "control", "paused"
PAUSE, STOP = "pause", "stop"  # what a control file may say
LONGEST_CONTROL = 100  # bytes
POLL_SECONDS = 0.1


class AttentionFrames(Observer):
    """Keeps the pattern of every head on the objective's probe, as it forms.

    `attention.f16` has the frames one after the other, (S, L, H, T, T) in float16; the first line
    of `attention.jsonl` their tokens and shape, each further line the step of one.
    """

    def __init__(self, folder: Path, tokenizer: Tokenizer | None) -> None:
        self.folder, self.tokenizer = folder, tokenizer
        self.ids: list[int] = []

    def at_start(self, trainer: Trainer) -> None:
        """Cut off frames of steps that come again, and keep the one of now, if it is due."""
        config, recipe = trainer.model.config, trainer.recipe
        if config.architecture not in ONE_STACK or self.tokenizer is None:
            return
        self.ids = trainer.objective.probe()[: config.max_seq_len]
        shape = (config.n_layers, config.n_heads, len(self.ids), len(self.ids))
        n_bytes = 2 * int(np.prod(shape))
        most = min(MOST_FRAMES, MOST_BYTES // max(n_bytes, 1))
        self.steps = FrameSteps(recipe.total_steps, recipe.evaluate_every, most)
        head = {"tokens": self.tokenizer.token_strings(self.ids), "shape": shape}
        kept = self._cut(json.dumps(head), n_bytes, trainer.steps_done)
        if trainer.steps_done not in kept:
            self.after_step(trainer)

    def after_step(self, trainer: Trainer) -> None:
        """Keep a frame where one is due."""
        if not self.ids or trainer.steps_done not in self.steps:
            return
        recorder, ids = Recorder(["pattern"]), torch.tensor([self.ids], device=trainer.device)
        with trainer.judged() as model, torch.no_grad():  # inference tensors would be in the way
            model(ids, tap=attach(recorder))
        frame = torch.cat(list(recorder.values.values())).half()  # (L, H, T, T)
        append(self.folder / FRAMES_FILE, frame.cpu().numpy().tobytes())
        append(self.folder / FRAMES_INDEX, f'{{"step": {trainer.steps_done}}}\n'.encode())

    def _cut(self, head: str, n_bytes: int, steps_done: int) -> list[int]:
        """Steps of the frames that stay: those of this probe, up to the step.

        Both files are replaced, not shortened: somebody may have the old one before them.
        """
        frames, index = self.folder / FRAMES_FILE, self.folder / FRAMES_INDEX
        there = read_index(index) if steps_done and index.is_file() else []
        steps = (
            [line["step"] for line in there[1:]] if there and there[0] == json.loads(head) else []
        )
        kept = list(takewhile(lambda step: step <= steps_done, steps))
        content = b""
        if kept and frames.is_file():
            with frames.open("rb") as file:
                content = file.read(len(kept) * n_bytes)
        kept = kept[: len(content) // max(n_bytes, 1)]
        if not self.ids:
            return kept
        with replacing(frames) as new:
            new.write_bytes(content[: len(kept) * n_bytes])
        with replacing(index) as new:
            lines = [head, *(json.dumps({"step": step}) for step in kept)]
            new.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return kept


class FrameSteps:
    """The steps of a run whose attention is kept, at most so many.

    Those are 0, log-spaced early ones, and the evaluations, of which some are left out where they
    are too many; the last step is one.
    """

    def __init__(self, total: int, evaluate_every: int, most: int) -> None:
        n_early = min(MOST_EARLY, most // 2)
        early = log_spaced(total, n_early - 1)
        room = max(most - n_early - 1, 1)
        every = evaluate_every * -(-(total // evaluate_every) // room)
        self.early = {0, *early, total} if most > 3 else set()
        self.evaluations = range(every, total + 1, every) if every and most > 3 else range(0)

    def __contains__(self, step: int) -> bool:
        return step in self.early or step in self.evaluations


def read_index(path: Path) -> list[dict[str, Any]]:
    """The whole lines of an index of frames; ValueError when one is not what it should be."""
    lines = read_text(path, LARGEST_INDEX).splitlines(keepends=True)
    try:
        found = [json.loads(line) for line in lines if line.endswith("\n")]
        steps, head = [line["step"] for line in found[1:]], (found or [NO_FRAMES])[0]
        sizes, tokens = head["shape"], head["tokens"]
        _, _, n, n_keys = sizes
        is_right = all(type(x) is int and x >= 0 for x in (*sizes, *steps))
        is_right &= n == n_keys == len(tokens) and all(isinstance(x, str) for x in tokens)
        if not is_right or sorted(set(steps)) != steps:
            raise ValueError("shape, tokens and steps do not fit")
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise ValueError(f"{path} is no index of frames: {error}; remove it") from None
    return found


class Control(Observer):
    """Does what a file `control` in the folder says after a step: `stop`, or `pause` until it goes.

    Before a pause all is saved; while it lasts there is a file `paused`.
    """

    def __init__(self, folder: Path, saver: Saver) -> None:
        self.folder, self.saver = folder, saver

    def after_step(self, trainer: Trainer) -> None:
        """Stop, or wait; ValueError where somebody has removed the folder."""
        if not (self.folder / RECIPE_FILE).exists():
            raise ValueError(f"{self.folder} was removed; the training ends")
        if asked(self.folder) == PAUSE:
            self.saver.at_end(trainer)
            paused, since = self.folder / PAUSED_FILE, time.monotonic()
            with replacing(paused) as new:
                new.touch()
            try:
                while asked(self.folder) == PAUSE:
                    time.sleep(POLL_SECONDS)
            finally:
                paused.unlink(missing_ok=True)
            trainer.timed_from += time.monotonic() - since
        trainer.is_stopping = asked(self.folder) == STOP


def asked(folder: Path) -> str:
    """What a control file says; nothing without one."""
    path = folder / CONTROL_FILE
    try:
        return read_text(path, LONGEST_CONTROL).strip() if path.exists() else ""
    except (OSError, ValueError):
        return ""
