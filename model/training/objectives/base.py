"""What an objective is to the trainer, and what those have in common that tell classes apart.

A new objective is a subclass of `Objective` in a module of its own, and its entry in `OBJECTIVES`.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self

import torch
import torch.nn.functional as F
from torch import Tensor

from model.architectures.base import Model
from model.data.tokenizer import Tokenizer
from model.lines import quoted
from model.training.plan import Plan

IGNORED = -100  # as a target: nothing is learnt here
MOST_PROBED = 32  # tokens, as many as can be told apart in a small map


class Data(Protocol):
    """What an objective learns from, read from files."""

    @property
    def texts(self) -> list[str]:
        """What a tokenizer is made from; nothing where there is no text."""
        ...

    @property
    def digest(self) -> str:
        """What changes with anything that is learnt from."""
        ...


class Batch(Protocol):
    """What one step learns from. Only its objective knows what is in it."""

    def to(self, device: torch.device) -> Self:
        """The same on a device."""
        ...


class Objective(ABC):
    """What a model learns from, and how well it does. Knows nothing of steps and optimizers.

    `architectures` are those that it trains; `specials` are the special tokens that its tokenizer
    must have besides the end of text.
    """

    architectures: ClassVar[tuple[str, ...]] = ("decoder",)
    reads_text: ClassVar[bool] = True
    needs_corpus: ClassVar[bool] = True  # not where it makes its own data
    cycle: ClassVar[str] = ""  # the characters of numbers that are added modulo their number
    specials: ClassVar[tuple[str, ...]] = ()

    n_tokens: int  # of all it learns from, once, 0 for no end; of pictures each patch is one

    def __init__(self, tokenizer: Tokenizer | None, data: Any, plan: Plan) -> None:  # noqa: ANN401
        """data: what `read` gives. ValueError when it is too little for the plan."""
        self.plan = plan

    @classmethod
    @abstractmethod
    def read(cls, corpus: Sequence[Path], held_out: Sequence[Path]) -> Data:
        """The data in files; ValueError when one is missing, broken or not what it should be."""

    @abstractmethod
    def batches(self, steps_done: int) -> Iterator[Any]:
        """The batches still to come after so many steps.

        Each depends on its step and the seed alone, so that a resumed run sees what it would have.
        """

    @abstractmethod
    def loss(self, model: Model, batch: Any) -> Tensor:  # noqa: ANN401, a batch of its own
        """What the optimizer makes smaller: the mean over a batch, a scalar, differentiable."""

    @abstractmethod
    def evaluate(self, model: Model) -> Mapping[str, Any]:
        """Scores on held-out data by its name, as dataclasses; the model is in `eval` mode."""

    def sample(self, model: Model) -> str:
        """A few tokens that the model writes by itself; empty where it writes none."""
        return ""

    def probes(self, texts: Sequence[str], longest: int) -> "list[Probe]":
        """The given texts, or what was held out first, whose attention is kept as it forms.

        ValueError where one cannot be read or has more than MOST_PROBED or `longest` tokens.
        """
        return []

    def trained_on(self, model: Model) -> "Accuracy | None":
        """How well the model does on what it learns from, scored as what was held out is."""
        return None

    def alone(self, model: Model) -> "Accuracy | None":
        """How much is right of what the model writes after held-out beginnings, reading itself.

        `evaluate` feeds it the true tokens (teacher forcing); here it reads what it has written
        (free running), greedily.
        """
        return None

    def tokens_until(self, step: int) -> int:
        """Tokens that the first `step` steps learn from; of pictures each patch is one."""
        return self.plan.tokens_until(step)


@dataclass(frozen=True, eq=False)
class Probe:
    """A fixed input of the model's `forward`, one row, whose attention is kept as it forms.

    In each layer the tokens `queries` attend to `keys`; `attention` is the name of that part.
    `text` is what a person reads of it, of a translation the source.
    """

    text: str
    inputs: Mapping[str, Tensor]
    queries: Sequence[str]
    keys: Sequence[str]
    attention: str = "attn"
    is_causal: bool = False


def probe_of(tokenizer: Tokenizer, ids: Sequence[int], *, is_causal: bool) -> Probe:
    """A text whose tokens attend to each other."""
    tokens = tokenizer.token_strings(ids)
    inputs = {"ids": torch.tensor([ids])}
    return Probe("".join(tokens), inputs, tokens, tokens, is_causal=is_causal)


def refuse_long_probe(text: str, n_tokens: int, longest: int) -> None:
    """ValueError where a text has more tokens than a small map can tell apart or a model reads."""
    if n_tokens > (most := min(longest, MOST_PROBED)):
        raise ValueError(
            f"recipe: {quoted(text)!r} of probes has {n_tokens} tokens; at most {most} are watched"
        )


@dataclass(frozen=True, eq=False)
class Examples:
    """A batch of inputs by the names of the model's `forward`, and the class of each output.

    targets: whole numbers, the shape of the output without its last axis, IGNORED where nothing is
    learnt.
    """

    inputs: dict[str, Tensor]
    targets: Tensor

    def to(self, device: torch.device) -> "Examples":
        """The same on a device."""
        inputs = {name: x.to(device) for name, x in self.inputs.items()}
        return Examples(inputs, self.targets.to(device))


@dataclass(frozen=True)
class Accuracy:
    """How well classes are told: `loss` in nats per target, `accuracy` the share that are right."""

    loss: float
    accuracy: float
    targets: int


def cross_entropy(model: Model, batch: Examples, label_smoothing: float = 0.0) -> Tensor:
    """The mean of −ln p over all targets, smoothed (Szegedy et al. 2016, §7)."""
    logits = model(**batch.inputs)  # (…, C)
    return F.cross_entropy(
        logits.flatten(0, -2).float(),
        batch.targets.flatten(),
        ignore_index=IGNORED,
        label_smoothing=label_smoothing,
    )


def least_loss(n_classes: int, label_smoothing: float) -> float:
    """What the smoothed `cross_entropy` cannot fall below: the entropy of a smoothed target."""
    other = label_smoothing / n_classes
    right = 1 - label_smoothing + other
    return -right * math.log(right) - (n_classes - 1) * other * math.log(other)


@torch.inference_mode()
def accuracy(model: Model, batches: Iterable[Examples]) -> Accuracy:
    """Scores over all targets of some batches."""
    total, n_right, n_targets = 0.0, 0, 0
    for batch in batches:
        here = batch.to(model.device)
        is_scored = here.targets != IGNORED
        logits, targets = model(**here.inputs)[is_scored].float(), here.targets[is_scored]  # (N, C)
        total += F.cross_entropy(logits, targets, reduction="sum").item()
        n_right += int((logits.argmax(dim=-1) == targets).sum())
        n_targets += len(targets)
    return Accuracy(total / max(n_targets, 1), n_right / max(n_targets, 1), n_targets)


@torch.inference_mode()
def reading_itself(model: Model, batch: Examples) -> Examples:
    """The batch with the model's own words where the right ones stood (free running), greedily.

    A token of the inputs `ids` (B, T) is written where a target asks for it. The targets stay, so
    that `accuracy` of it tells how much of what is written is right.
    """
    rows = batch.to(model.device)
    ids, is_asked = rows.inputs["ids"].clone(), rows.targets != IGNORED
    for place in range(1, ids.shape[1]):
        is_written = is_asked[:, place - 1]
        if is_written.any():
            said = model(ids=ids[:, :place])[:, -1].argmax(dim=-1)
            ids[:, place] = said.where(is_written, ids[:, place])
    return Examples({**rows.inputs, "ids": ids}, rows.targets)
