"""How one checkpoint is trained, as read from a TOML file in assets/recipes."""

import json
import tomllib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from model.data.text import read_text
from model.data.tokenizer import TOKENIZERS
from model.device import PRECISIONS
from model.fields import check_types, from_fields
from model.lines import quoted
from model.training.objectives import OBJECTIVES
from model.training.optimizers import OPTIMIZERS, SCHEDULES
from model.training.plan import Plan, Stage
from model.weights import INITIALISATIONS

_CHOICES: dict[str, dict[str, Any]] = {
    "tokenizer": TOKENIZERS,
    "objective": OBJECTIVES,
    "optimizer": OPTIMIZERS,
    "schedule": SCHEDULES,
    "precision": PRECISIONS,
    "initialisation": INITIALISATIONS,
}
# What only says how a run is watched: a resumed run may differ in it.
_WATCHING = {"name", "log_every", "save_every", "evaluate_every", "snapshot_every"}
# From the least to the most; beyond that something is mistyped, or no machine can do it.
_BOUNDS: dict[str, tuple[float, float]] = {
    "vocab_size": (0, 1_000_000),
    "batch_tokens": (1, 10_000_000),
    "log_every": (1, 10**9),
    "save_every": (1, 10**9),
    "evaluate_every": (1, 10**9),
    "snapshot_every": (0, 10**9),
    "average_last": (0, 10**9),
    "average_every": (1, 10**9),
    "seed": (0, 2**63 - 1),
    "warmup_steps": (0, 10**9),
    "matrix_lr": (0, 100),
    "other_lr": (0, 100),
    "weight_decay": (0, 100),
    "final_lr_share": (0, 1),
    "max_grad_norm": (0, 10**9),
}
_MOST_STEPS = 10**9


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How one checkpoint is trained. `batch_tokens` is the number of tokens in a step.

    `matrix_lr` is the peak rate of the hidden matrices, `other_lr` that of embeddings, norms and
    biases; both rise linearly over `warmup_steps`, then fall under the schedule `cosine` as one to
    `final_lr_share` of the peak, under `noam` as 1/√step. Weight decay acts on matrices only.
    A `max_grad_norm` of 0 clips nothing.
    `tokenizer`, `objective`, `optimizer`, `schedule`, `precision` and `initialisation` are keys of
    the tables of these names. With `tokenizer_of` no tokenizer is made: that checkpoint's is taken,
    and the special tokens that it lacks come after its others; with `weights_of` the training
    begins with that checkpoint's weights, of a model of the same sizes. `label_smoothing` is the
    share of a target's probability that is spread over all classes. With an `average_last` above 0
    the checkpoint is the mean of the weights after so many steps, `average_every` steps apart, the
    last of them the last step (Vaswani et al. 2017, §6.1). With a `snapshot_every` above 0 a
    checkpoint is also kept every so many steps, in a folder of its own.
    """

    name: str
    tokenizer: str
    vocab_size: int
    tokenizer_of: str = ""
    weights_of: str = ""
    model: dict[str, Any]
    stages: tuple[Stage, ...]
    batch_tokens: int
    objective: str = "language_modelling"
    optimizer: str = "muon"
    schedule: str = "cosine"
    matrix_lr: float = 6e-3
    other_lr: float = 2e-3
    weight_decay: float = 0.05
    warmup_steps: int = 100
    final_lr_share: float = 0.0
    max_grad_norm: float = 1.0
    label_smoothing: float = 0.0
    average_last: int = 0
    average_every: int = 1
    initialisation: str = "normal"
    precision: str = "bfloat16"
    compile: bool = False
    seed: int = 0
    log_every: int = 10
    save_every: int = 200
    evaluate_every: int = 500
    snapshot_every: int = 0

    def __post_init__(self) -> None:
        check_types(self, "recipe")
        for name, table in _CHOICES.items():
            value = getattr(self, name)
            if value not in table:
                raise ValueError(f"recipe: {name} {quoted(value)!r}; choose {', '.join(table)}")
        if not self.stages:
            raise ValueError("recipe: there is no stage; give one with steps and seq_len")
        for name, (least, most) in _BOUNDS.items():
            value = getattr(self, name)
            if not least <= value <= most:
                raise ValueError(
                    f"recipe: {name} is {quoted(value)}; it must be from {least:,} to {most:,}"
                )
        if not 0 <= self.label_smoothing < 1:
            raise ValueError(
                f"recipe: label_smoothing is {self.label_smoothing}; it must be at least 0 and "
                "below 1"
            )
        if self.weights_of and self.tokenizer != "none" and self.tokenizer_of != self.weights_of:
            raise ValueError(
                f"recipe: weights_of is {quoted(self.weights_of)!r} but tokenizer_of is "
                f"{quoted(self.tokenizer_of)!r}; name the same checkpoint in both"
            )
        for stage in self.stages:
            is_whole = 1 <= stage.seq_len <= self.batch_tokens
            if not 1 <= stage.steps <= _MOST_STEPS or not is_whole:
                raise ValueError(
                    f"recipe: a stage of {quoted(stage.steps)} steps with seq_len "
                    f"{quoted(stage.seq_len)} and batch_tokens {self.batch_tokens}; a batch holds "
                    f"at least one window, and a stage 1 to {_MOST_STEPS:,} steps"
                )
        n_averaged = (self.total_steps - 1) // self.average_every + 1
        if self.average_last > n_averaged:
            raise ValueError(
                f"recipe: average_last is {self.average_last}; it must be at most {n_averaged}: "
                f"no more of {self.total_steps} steps are {self.average_every} apart"
            )

    @property
    def plan(self) -> Plan:
        """Which batches the stages are."""
        return Plan(self.stages, self.batch_tokens, self.seed, self.label_smoothing)

    @property
    def determining(self) -> dict[str, str]:
        """The fields that the trained numbers depend on, as JSON; sizes of the model each alone."""
        fields = {name: x for name, x in asdict(self).items() if name not in _WATCHING}
        model = {f"model.{name}": x for name, x in fields.pop("model").items()}
        return {name: json.dumps(x) for name, x in (fields | model).items()}

    @property
    def total_steps(self) -> int:
        """Steps of all stages."""
        return self.plan.total_steps

    def is_averaged(self, step: int) -> bool:
        """Whether the weights after so many steps are among those that are averaged."""
        n_later, rest = divmod(self.total_steps - step, self.average_every)
        return rest == 0 and 0 <= n_later < self.average_last

    def lr_share(self, step: int) -> float:
        """Share of the peak learning rates at a step, by the schedule."""
        return SCHEDULES[self.schedule](
            step,
            warmup_steps=self.warmup_steps,
            total_steps=self.total_steps,
            final_share=self.final_lr_share,
        )

    @classmethod
    def load(cls, path: Path) -> "Recipe":
        """Read a TOML recipe; ValueError when it is broken or has an unknown key."""
        text = read_text(path)
        try:
            return from_fields(cls, tomllib.loads(text), "recipe")
        except tomllib.TOMLDecodeError as error:
            raise ValueError(f"{path} is not valid TOML: {error}") from None
        except ValueError as error:
            raise ValueError(f"{path}: {error}; see assets/recipes for examples") from None
