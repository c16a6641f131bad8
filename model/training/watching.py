"""How a run is watched and steered from outside, by files in its folder."""

import json
import time
from collections.abc import Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any

import numpy as np
import torch

from model.architectures.base import Model
from model.architectures.table import config_of
from model.config import BlockConfig, DecoderConfig
from model.files import MEGABYTE, append, read_text, replacing
from model.masks import MASKS
from model.tap import Recorder, attach
from model.training.objectives.base import Probe
from model.training.observers import Saver
from model.training.plan import log_spaced
from model.training.recipe import RECIPE_FILE
from model.training.trainer import Observer, Trainer

FRAMES_FILE, FRAMES_INDEX = "attention.f16", "attention.jsonl"
MOST_FRAMES, MOST_BYTES = 400, 64 * MEGABYTE  # of one run
MOST_EARLY = 24  # frames at log-spaced steps, between the evaluations
LARGEST_INDEX = MEGABYTE
NO_FRAMES = {"layers": 1, "heads": 1, "texts": []}

CONTROL_FILE, PAUSED_FILE, RUNNING_FILE = "control", "paused", "running"
PAUSE, STOP = "pause", "stop"  # what a control file may say
LONGEST_CONTROL = 100  # bytes
POLL_SECONDS = 0.1


class AttentionFrames(Observer):
    """Keeps the pattern of every head on the objective's probes, as it forms.

    `attention.f16` has the frames one after the other, each (L, H, Tq, Tk) of the first probe,
    then of the next, in float16; the first line of `attention.jsonl` says layers, heads and the
    tokens of each probe, each further line the step of a frame.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.probes: Sequence[Probe] = ()

    def at_start(self, trainer: Trainer) -> None:
        """Cut off frames of steps that come again, and keep the one of now, if it is due."""
        config, recipe = trainer.model.config, trainer.recipe
        texts = [text for text in recipe.probes.splitlines() if text.strip()]
        self.probes = trainer.objective.probes(texts, config.max_seq_len)
        has_heads = isinstance(config, BlockConfig)
        head = index_of(self.probes, config.n_layers, config.n_heads) if has_heads else NO_FRAMES
        n_bytes = 2 * sum(sizes_of(head))
        most = min(MOST_FRAMES, MOST_BYTES // max(n_bytes, 1))
        self.steps = FrameSteps(recipe.total_steps, recipe.evaluate_every, most)
        kept = self._cut(json.dumps(head), n_bytes, trainer.steps_done)
        if trainer.steps_done not in kept:
            self.after_step(trainer)

    def after_step(self, trainer: Trainer) -> None:
        """Keep a frame where one is due."""
        if not self.probes or trainer.steps_done not in self.steps:
            return
        with trainer.judged() as model:
            frame = b"".join(pattern(model, probe).tobytes() for probe in self.probes)
        append(self.folder / FRAMES_FILE, frame)
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
        if not self.probes:
            return kept
        with replacing(frames) as new:
            new.write_bytes(content[: len(kept) * n_bytes])
        with replacing(index) as new:
            lines = [head, *(json.dumps({"step": step}) for step in kept)]
            new.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return kept


def pattern(model: Model, probe: Probe) -> np.ndarray:
    """What every head attends to, (L, H, Tq, Tk) in float16."""
    recorder, device = Recorder(["pattern"]), next(model.parameters()).device
    with torch.no_grad():  # inference tensors would be in the way of what is trained
        model(**{name: x.to(device) for name, x in probe.inputs.items()}, tap=attach(recorder))
    own = [x for address, x in recorder.values.items() if f".{probe.attention}." in address]
    return torch.cat(own).half().cpu().numpy()


def index_of(probes: Sequence[Probe], n_layers: int, n_heads: int) -> dict[str, Any]:
    """The first line of an index: layers, heads, and what attends to what in each probe."""
    texts = [
        {
            "text": probe.text,
            "queries": [*probe.queries],
            "keys": [*probe.keys],
            "is_causal": probe.is_causal,
        }
        for probe in probes
    ]
    return {"layers": n_layers, "heads": n_heads, "texts": texts}


def sizes_of(head: Mapping[str, Any]) -> list[int]:
    """How many numbers a frame has of each probe, by the first line of its index."""
    heads = head["layers"] * head["heads"]
    return [heads * len(text["queries"]) * len(text["keys"]) for text in head["texts"]]


def mask_of(text: Mapping[str, Any], model: Mapping[str, Any]) -> np.ndarray:
    """Which tokens of a text of an index may attend to which, (Tq, Tk); `model` is the recipe's."""
    n_queries, n_keys = len(text["queries"]), len(text["keys"])
    config = config_of({**model, "vocab_size": 1}) if text["is_causal"] else None
    if not isinstance(config, DecoderConfig):
        return np.ones((n_queries, n_keys), bool)
    return MASKS[config.mask](config, n_keys, "cpu").numpy()


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
        tokens = [
            x for each in head["texts"] for x in (each["text"], *each["queries"], *each["keys"])
        ]
        is_right = all(type(x) is int and x >= 0 for x in (head["layers"], head["heads"], *steps))
        is_right &= all(isinstance(x, str) for x in tokens)
        is_right &= all(type(text["is_causal"]) is bool for text in head["texts"])
        if not is_right or sorted(set(steps)) != steps:
            raise ValueError("layers, heads, texts and steps do not fit")
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
            trainer.leave_out(time.monotonic() - since)
        trainer.is_stopping = asked(self.folder) == STOP


def asked(folder: Path) -> str:
    """What a control file says; nothing without one."""
    path = folder / CONTROL_FILE
    try:
        return read_text(path, LONGEST_CONTROL).strip() if path.exists() else ""
    except (OSError, ValueError):
        return ""
