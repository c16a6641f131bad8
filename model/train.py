"""Train a model from a recipe: `python -m model.train RECIPE.toml --corpus PATH … --out DIR`."""

import dataclasses
import json
import math
import time
import tomllib
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LambdaLR

from model.architectures.decoder import DecoderTransformer
from model.commands import cli
from model.config import DecoderConfig
from model.data.text import TokenWindows, encode_texts, read_text
from model.data.tokenizer import END_OF_TEXT, Tokenizer, train_bpe, train_characters
from model.evaluate import Evaluation, evaluate
from model.sources import checkpoint
from model.weights import initialise

HELD_OUT_SHARE = 0.01
STATE_FILE = "training_state.safetensors"
METRICS_FILE = "metrics.jsonl"

TOKENIZERS: dict[str, Callable[[list[str], int], Tokenizer]] = {
    "bpe": train_bpe,
    "characters": lambda texts, vocab_size: train_characters(texts),
}


@dataclass(frozen=True, kw_only=True)
class Stage:
    """A stretch of training with windows of one length."""

    steps: int
    seq_len: int


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How one checkpoint is trained. `batch_tokens` is the number of tokens in a step.

    `matrix_lr` is the peak rate of the hidden matrices, `other_lr` that of embeddings, norms and
    biases; both rise linearly over `warmup_steps` and fall as a cosine to `final_lr_share` of the
    peak. Weight decay acts on matrices only. `optimizer` is a key of `OPTIMIZERS`.
    """

    name: str
    tokenizer: str
    vocab_size: int
    model: dict[str, Any]
    stages: tuple[Stage, ...]
    batch_tokens: int
    optimizer: str = "muon"
    matrix_lr: float = 6e-3
    other_lr: float = 2e-3
    weight_decay: float = 0.05
    warmup_steps: int = 100
    final_lr_share: float = 0.0
    max_grad_norm: float = 1.0
    precision: str = "bfloat16"
    compile: bool = False
    seed: int = 0
    log_every: int = 10
    save_every: int = 200
    evaluate_every: int = 500

    def __post_init__(self) -> None:
        if self.tokenizer not in TOKENIZERS:
            raise ValueError(f"recipe: tokenizer {self.tokenizer!r}; choose {_names(TOKENIZERS)}")
        if self.optimizer not in OPTIMIZERS:
            raise ValueError(f"recipe: optimizer {self.optimizer!r}; choose {_names(OPTIMIZERS)}")
        if self.precision not in PRECISIONS:
            raise ValueError(f"recipe: precision {self.precision!r}; choose {_names(PRECISIONS)}")
        self._check_types()
        if not self.stages:
            raise ValueError("recipe: there is no stage; give one with steps and seq_len")
        for name in ("batch_tokens", "log_every", "save_every", "evaluate_every"):
            if getattr(self, name) < 1:
                raise ValueError(f"recipe: {name} is {getattr(self, name)}; it must be at least 1")
        if self.seed < 0:
            raise ValueError(f"recipe: seed is {self.seed}; it must be at least 0")
        for stage in self.stages:
            if stage.steps < 1 or not 1 <= stage.seq_len <= self.batch_tokens:
                raise ValueError(
                    f"recipe: a stage of {stage.steps} steps with seq_len {stage.seq_len} and "
                    f"batch_tokens {self.batch_tokens}; a batch holds at least one window"
                )

    def _check_types(self) -> None:
        for owner in (self, *self.stages):
            for field in dataclasses.fields(owner):
                value = getattr(owner, field.name)
                expected = {str: str, bool: bool, int: int, float: (int, float)}.get(field.type)
                if expected and not isinstance(value, expected):
                    raise ValueError(
                        f"recipe: {field.name} is {value!r}; it must be of type "
                        f"{field.type.__name__}"
                    )
        if not isinstance(self.model, dict):
            raise ValueError("recipe: model is no table; write it as [model]")

    @property
    def total_steps(self) -> int:
        """Steps of all stages."""
        return sum(stage.steps for stage in self.stages)

    @classmethod
    def load(cls, path: Path) -> "Recipe":
        """Read a TOML recipe; ValueError when it is broken or has an unknown key."""
        try:
            fields = tomllib.loads(read_text(path))
            stages = tuple(Stage(**stage) for stage in fields.pop("stages"))
            return cls(**fields, stages=stages)
        except tomllib.TOMLDecodeError as error:
            raise ValueError(f"{path} is no TOML: {error}") from None
        except KeyError as error:
            raise ValueError(f"{path} lacks {error}; see assets/recipes for examples") from None
        except TypeError as error:
            message = str(error).replace("Recipe.__init__()", "recipe")
            raise ValueError(f"{path}: {message}; see assets/recipes for examples") from None


@dataclass(frozen=True)
class Metrics:
    """One line of the training log.

    `loss` is in nats per token, the mean since the last line or since a resume; `learning_rate` is
    that of the hidden matrices at this step.
    """

    step: int
    loss: float
    learning_rate: float
    tokens: int
    tokens_per_second: float
    held_out: dict[str, Evaluation] | None = None


def muon(matrices: list[Tensor], others: list[Tensor], recipe: Recipe) -> list[Optimizer]:
    """Muon (Jordan et al. 2024) on the hidden matrices, AdamW on the rest."""
    return [
        torch.optim.Muon(
            matrices,
            lr=recipe.matrix_lr,
            weight_decay=recipe.weight_decay,
            adjust_lr_fn="match_rms_adamw",
        ),
        torch.optim.AdamW(others, lr=recipe.other_lr, betas=(0.9, 0.95), weight_decay=0.0),
    ]


def adamw(matrices: list[Tensor], others: list[Tensor], recipe: Recipe) -> list[Optimizer]:
    """AdamW (Loshchilov & Hutter 2019), decaying matrices only."""
    groups = [
        {"params": matrices, "lr": recipe.matrix_lr, "weight_decay": recipe.weight_decay},
        {"params": others, "lr": recipe.other_lr, "weight_decay": 0.0},
    ]
    return [torch.optim.AdamW(groups, betas=(0.9, 0.95))]


OPTIMIZERS = {"muon": muon, "adamw": adamw}
PRECISIONS = {"float32": torch.float32, "bfloat16": torch.bfloat16}


class Run:
    """The state of one training run: weights, optimizers and how many steps are done."""

    def __init__(self, recipe: Recipe, tokenizer: Tokenizer, device: torch.device) -> None:
        self.recipe, self.tokenizer, self.device = recipe, tokenizer, device
        config = {**recipe.model, "vocab_size": tokenizer.vocab_size}
        self.model = DecoderTransformer(DecoderConfig.from_dict(config))
        self._check_stages()
        initialise(self.model, recipe.seed)
        self.model.to(device)
        matrices, others = split_parameters(self.model)
        self.optimizers = OPTIMIZERS[recipe.optimizer](matrices, others, recipe)
        self.schedules = [
            LambdaLR(optimizer, lambda step: lr_share(recipe, step))
            for optimizer in self.optimizers
        ]
        self.loss_fn = torch.compile(self._loss, dynamic=False) if recipe.compile else self._loss
        self.steps_done = 0

    def step(self, windows: Tensor) -> Tensor:
        """One optimisation step on windows (B, T + 1); returns the loss in nats per token."""
        loss = self.loss_fn(windows.to(self.device))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.recipe.max_grad_norm)
        for optimizer, schedule in zip(self.optimizers, self.schedules, strict=True):
            optimizer.step()
            optimizer.zero_grad()
            schedule.step()
        self.steps_done += 1
        return loss.detach()

    def save(self, folder: Path) -> None:
        """Write weights, optimizer moments and the step count: all a resumed run needs."""
        tensors = {f"model.{name}": x for name, x in checkpoint.own_weights(self.model).items()}
        for number, optimizer in enumerate(self.optimizers):
            for index, moments in optimizer.state_dict()["state"].items():
                for name, value in moments.items():
                    tensors[f"optimizer.{number}.{index}.{name}"] = torch.as_tensor(value)
        metadata = {"steps_done": str(self.steps_done), "optimizer": self.recipe.optimizer}
        with checkpoint.replacing(folder / STATE_FILE) as path:
            save_file({name: x.contiguous() for name, x in tensors.items()}, path, metadata)

    def load(self, folder: Path) -> None:
        """Continue where `save` left off; ValueError when there is nothing to continue."""
        path = folder / STATE_FILE
        if not path.is_file():
            raise ValueError(f"{path} is missing; start without --resume")
        try:
            tensors, metadata = load_file(path), _metadata(path)
        except SafetensorError as error:
            raise ValueError(f"{path} cannot be read: {error}; start without --resume") from None
        weights = {
            name.removeprefix("model."): x
            for name, x in tensors.items()
            if name.startswith("model.")
        }
        own = checkpoint.own_weights(self.model)
        shapes = [{name: x.shape for name, x in group.items()} for group in (weights, own)]
        if (
            shapes[0] != shapes[1]
            or metadata.get("optimizer", self.recipe.optimizer) != self.recipe.optimizer
        ):
            raise ValueError(f"{path} is of another recipe; resume with the one it was begun with")
        self.model.load_state_dict(weights, strict=False)
        for number, optimizer in enumerate(self.optimizers):
            optimizer.load_state_dict(
                {
                    "state": _moments(tensors, f"optimizer.{number}."),
                    "param_groups": optimizer.state_dict()["param_groups"],
                }
            )
        self.steps_done = int(metadata["steps_done"])
        for optimizer, schedule in zip(self.optimizers, self.schedules, strict=True):
            _set_schedule(optimizer, schedule, self.steps_done)

    def _loss(self, windows: Tensor) -> Tensor:
        dtype = PRECISIONS[self.recipe.precision]
        use_autocast = dtype is torch.bfloat16 and has_fast_bfloat16(self.device)
        with torch.autocast(self.device.type, dtype=torch.bfloat16, enabled=use_autocast):
            logits = self.model(windows[:, :-1])  # (B, T, V)
        return F.cross_entropy(logits.flatten(0, 1).float(), windows[:, 1:].flatten())

    def _check_stages(self) -> None:
        longest = max(stage.seq_len for stage in self.recipe.stages)
        if longest > self.model.config.max_seq_len:
            raise ValueError(
                f"recipe: a stage has seq_len {longest} but max_seq_len is "
                f"{self.model.config.max_seq_len}; lower one or raise the other"
            )


def train(
    recipe: Recipe,
    texts: list[str],
    held_out: dict[str, str],
    out: Path,
    *,
    resume: bool = False,
    max_minutes: float = math.inf,
    device: torch.device | None = None,
) -> Iterator[Metrics]:
    """Train and yield metrics; leave the finished checkpoint, in float16, in `out`.

    Stops early, with its state saved, after `max_minutes`; `resume` goes on from that state and
    gives the same weights bit for bit on CPU. Metrics are also written to `out/metrics.jsonl`.
    """
    _prepare(out, resume)
    tokenizer = _tokenizer(recipe, texts, out, resume)
    ids = encode_texts(tokenizer, texts)
    run = Run(recipe, tokenizer, device or cli.choose_device())
    if resume:
        run.load(out)
    batches = _batches(recipe, ids, run.steps_done)
    tokenizer.save(out / "tokenizer.json")
    log = out / METRICS_FILE
    log.write_text("".join(_lines_until(log, run.steps_done) if resume else []), encoding="utf-8")
    deadline = time.monotonic() + 60 * max_minutes
    for metrics in _steps(run, batches, held_out, out, deadline):
        with log.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(metrics)) + "\n")
        yield metrics
    run.save(out)
    if run.steps_done == recipe.total_steps:
        checkpoint.save(out, run.model, tokenizer)


def _prepare(out: Path, resume: bool) -> None:
    """Make the folder; ValueError where a start would have nothing to go on from, or destroy."""
    state = out / STATE_FILE
    if resume and not state.is_file():
        raise ValueError(f"{state} is missing; start without --resume")
    if state.is_file() and not resume:
        raise ValueError(f"{out} holds a training run; add --resume or choose another folder")
    if (out / "model.safetensors").is_file() and not resume:
        raise ValueError(f"{out} holds a finished checkpoint; choose another folder")
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(f"cannot write to {out}: {error.strerror}; choose another") from None


def _steps(
    run: Run, batches: Iterator[Tensor], held_out: dict[str, str], out: Path, deadline: float
) -> Iterator[Metrics]:
    recipe, losses, since = run.recipe, [], time.monotonic()
    for windows in batches:
        losses.append(run.step(windows))
        step, is_last = run.steps_done, run.steps_done == recipe.total_steps
        is_due = step % recipe.evaluate_every == 0 or is_last
        if step % recipe.log_every == 0 or is_due:
            seconds = time.monotonic() - since
            yield Metrics(
                step=step,
                loss=torch.stack(losses).mean().item(),
                learning_rate=recipe.matrix_lr * lr_share(recipe, step - 1),
                tokens=_tokens_until(recipe, step),
                tokens_per_second=len(losses) * windows[:, 1:].numel() / seconds,
                held_out=_evaluate_all(run, held_out) if is_due and held_out else None,
            )
            losses, since = [], time.monotonic()
        if step % recipe.save_every == 0:
            run.save(out)
        if time.monotonic() > deadline:
            return


def _tokens_until(recipe: Recipe, step: int) -> int:
    tokens = 0
    for stage in recipe.stages:
        steps = min(step, stage.steps)
        tokens += steps * (recipe.batch_tokens // stage.seq_len) * stage.seq_len
        step -= steps
    return tokens


def _batches(recipe: Recipe, ids: np.ndarray, steps_done: int) -> Iterator[Tensor]:
    """The batches still to come; ValueError at once when the corpus is too short for a stage."""
    stages = [
        (stage, TokenWindows(ids, stage.seq_len, recipe.batch_tokens // stage.seq_len, recipe.seed))
        for stage in recipe.stages
    ]

    def remaining() -> Iterator[Tensor]:
        first = 0
        for stage, windows in stages:
            for step in range(max(steps_done - first, 0), stage.steps):
                yield windows.batch(step)
            first += stage.steps

    return remaining()


def _evaluate_all(run: Run, held_out: dict[str, str]) -> dict[str, Evaluation]:
    run.model.eval()
    scores = {name: evaluate(run.model, run.tokenizer, text) for name, text in held_out.items()}
    run.model.train()
    return scores


def split_parameters(model: DecoderTransformer) -> tuple[list[Tensor], list[Tensor]]:
    """The hidden matrices, which decay, and everything else: embeddings, norms, biases."""
    matrices, others = [], []
    for name, parameter in model.named_parameters():
        is_hidden = parameter.ndim == 2 and name.startswith("blocks.")
        (matrices if is_hidden else others).append(parameter)
    return matrices, others


def lr_share(recipe: Recipe, step: int) -> float:
    """Share of the peak learning rate: linear warm-up, then a cosine down to the final share."""
    if step < recipe.warmup_steps:
        return (step + 1) / recipe.warmup_steps
    done = (step - recipe.warmup_steps) / max(recipe.total_steps - recipe.warmup_steps, 1)
    cosine = 0.5 * (1 + math.cos(math.pi * min(done, 1.0)))
    return recipe.final_lr_share + (1 - recipe.final_lr_share) * cosine


def has_fast_bfloat16(device: torch.device) -> bool:
    """Whether the hardware multiplies bfloat16 natively; emulated, it is slower than float32."""
    if device.type == "cuda":
        return torch.cuda.is_bf16_supported()
    features = torch.cpu.get_capabilities()
    return bool(features.get("avx512_bf16") or features.get("amx_bf16") or features.get("bf16"))


def _tokenizer(recipe: Recipe, texts: list[str], out: Path, resume: bool) -> Tokenizer:
    if resume:
        return Tokenizer.load(out / "tokenizer.json")
    return TOKENIZERS[recipe.tokenizer](texts, recipe.vocab_size)


def _moments(tensors: dict[str, Tensor], prefix: str) -> dict[int, dict[str, Tensor]]:
    state: dict[int, dict[str, Tensor]] = {}
    for address, value in tensors.items():
        if address.startswith(prefix):
            index, name = address.removeprefix(prefix).split(".")
            state.setdefault(int(index), {})[name] = value
    return state


def _set_schedule(optimizer: Optimizer, schedule: LambdaLR, steps_done: int) -> None:
    schedule.last_epoch = steps_done
    for group, base_lr, share in zip(
        optimizer.param_groups, schedule.base_lrs, schedule.lr_lambdas, strict=True
    ):
        group["lr"] = base_lr * share(steps_done)


def _metadata(path: Path) -> dict[str, str]:
    with safe_open(path, framework="pt") as file:
        return file.metadata() or {}


def _lines_until(log: Path, steps_done: int) -> list[str]:
    lines = log.read_text(encoding="utf-8").splitlines(keepends=True) if log.is_file() else []
    return [line for line in lines if json.loads(line)["step"] <= steps_done]


def _names(table: dict[str, Any]) -> str:
    return ", ".join(table)


def hold_out(texts: list[str]) -> tuple[list[str], dict[str, str]]:
    """Keep the last hundredth of each text for evaluation, cut at the end of a paragraph."""
    kept, held_out = [], {}
    for number, text in enumerate(texts):
        cut = text.rfind("\n\n", 0, int(len(text) * (1 - HELD_OUT_SHARE))) + 2
        cut = cut if cut > 1 else int(len(text) * (1 - HELD_OUT_SHARE))
        if not text[cut:].removeprefix(END_OF_TEXT):
            cut = int(len(text) * (1 - HELD_OUT_SHARE))
        kept.append(text[:cut])
        held_out[f"corpus {number}"] = text[cut:].removeprefix(END_OF_TEXT)
    return kept, held_out


def _arguments(parser: ArgumentParser) -> None:
    parser.add_argument("recipe", type=Path, help="TOML recipe, see assets/recipes")
    parser.add_argument(
        "--corpus",
        type=Path,
        nargs="+",
        required=True,
        help="text files to train on; a file named twice is seen twice an epoch",
    )
    parser.add_argument(
        "--held-out",
        type=Path,
        nargs="+",
        default=[],
        help="text files to evaluate on (default: the last 1%% of each corpus file)",
    )
    parser.add_argument("--out", type=Path, required=True, help="folder for the checkpoint")
    parser.add_argument("--resume", action="store_true", help="go on from the state in --out")
    parser.add_argument("--max-minutes", type=float, default=math.inf, help="stop after this long")
    cli.add_device_argument(parser)


def _run(arguments: Namespace) -> dict[str, object]:
    recipe = Recipe.load(arguments.recipe)
    texts = [read_text(path) for path in arguments.corpus]
    held_out = {path.name: read_text(path) for path in arguments.held_out}
    if not held_out:
        texts, held_out = hold_out(texts)
    device = cli.choose_device(arguments.device)
    metrics: Metrics | None = None
    with cli.progress_bar(f"train {recipe.name}") as on_progress:
        for metrics in train(
            recipe,
            texts,
            held_out,
            arguments.out,
            resume=arguments.resume,
            max_minutes=arguments.max_minutes,
            device=device,
        ):
            on_progress(metrics.step, recipe.total_steps)
    steps_done = int(_metadata(arguments.out / STATE_FILE)["steps_done"])
    is_finished = steps_done == recipe.total_steps
    return {"finished": is_finished, **(dataclasses.asdict(metrics) if metrics else {})}


if __name__ == "__main__":
    cli.run(__doc__, _arguments, _run)
