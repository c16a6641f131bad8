"""The steps of training: gradient, schedule, log, and a state to go on from after each of them."""

import copy
import math
import re
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import torch
from torch import Tensor
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LambdaLR

from model.architectures.base import Model
from model.architectures.table import architecture
from model.device import PRECISIONS, has_fast_bfloat16
from model.sources.stored_weights import own_weights
from model.training.averaging import WeightSum
from model.training.interrupts import uninterrupted
from model.training.needs import planned
from model.training.objectives import Objective
from model.training.objectives.base import Accuracy, Batch
from model.training.optimizers import OPTIMIZERS, split_parameters
from model.training.processes import here
from model.training.randomness import drawn_number
from model.training.recipe import Recipe
from model.training.state import Moments, TrainingState
from model.weights import INITIALISATIONS

NO_DATA: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True)
class Metrics:
    """One line of the training log.

    `loss` is that of the objective, the mean since the last line; `learning_rate` is that of the
    hidden matrices at this step; `tokens_per_second` is 0 where no step was timed since a resume;
    `gradient_norms` are the lengths of this step's gradient before it is clipped, by layer;
    `seconds` is all the time since the last line, or since it was begun or resumed, but pauses.
    An evaluation has besides: `held_out`, the objective's scores by the name of what was held out,
    and where the objective has them the scores on what it learns from (`trained_on`), those of the
    model reading itself (`alone`), and a `sample` of what it writes.
    """

    step: int
    loss: float
    learning_rate: float
    tokens: int
    tokens_per_second: float
    held_out: Mapping[str, Any] | None = None
    gradient_norms: Mapping[str, float] = field(default_factory=dict)
    trained_on: Accuracy | None = None
    alone: Accuracy | None = None
    sample: str = ""
    seconds: float = 0.0

    @property
    def held_out_loss(self) -> float | None:
        """The mean loss over what was held out; None where nothing was scored here."""
        if not self.held_out:
            return None
        return sum(scores.loss for scores in self.held_out.values()) / len(self.held_out)


class DivergedError(ValueError):
    """A gradient is not finite; weights and state are those of the last whole step."""


class Observer:
    """Someone who watches a run. Each method does nothing until a subclass says what."""

    def at_start(self, trainer: "Trainer") -> None:
        """The steps still to come begin."""

    def after_metrics(self, trainer: "Trainer", metrics: Metrics) -> None:
        """A line of the log is there; it is the last step's."""

    def after_step(self, trainer: "Trainer") -> None:
        """A step is done, and its metrics are given where they were due."""

    def at_end(self, trainer: "Trainer") -> None:
        """No more steps come: all are done, the time is over, or the run has stopped or diverged.

        Not called when a step has failed, which may leave the weights half changed.
        """


class Trainer:
    """One run in the middle of its recipe: the model, its optimizers and how many steps are done.

    What is random in a step, such as dropout, depends on the recipe's seed and the step alone, so a
    resumed run goes on bit for bit.
    """

    def __init__(
        self,
        recipe: Recipe,
        model: Model,
        objective: Objective,
        device: torch.device,
        data: Mapping[str, str] = NO_DATA,
    ) -> None:
        """`data` are digests of what it learns from, by what messages call it."""
        self.recipe, self.objective, self.device = recipe, objective, device
        self.processes = here()
        self.origin = {**recipe.determining, **data}
        self.model = model.to(device).train()
        self.optimizers = OPTIMIZERS[recipe.optimizer](
            *split_parameters(model),
            matrix_lr=recipe.matrix_lr,
            other_lr=recipe.other_lr,
            weight_decay=recipe.weight_decay,
        )
        self.schedules = [LambdaLR(optimizer, recipe.lr_share) for optimizer in self.optimizers]
        self.loss_fn: Callable[[Batch, float], Tensor] = self.processes.shared(
            self.model, self._loss
        )
        if recipe.compile:
            self.loss_fn = torch.compile(self.loss_fn, dynamic=False)
        self.steps_done = 0
        self.is_whole = True  # not while weights and optimizers are between two steps
        self.unlogged: list[Tensor] = []  # losses since the last metrics
        self.gradient_norms: dict[str, Tensor] = {}  # of a step whose metrics are still to be given
        self.is_stopping = False  # no step comes after this one
        self.timed_from = time.monotonic()  # the speed is measured since then
        self.line_from, self.deadline = self.timed_from, math.inf
        self.averaged = WeightSum()

    def run(
        self, observers: Sequence[Observer] = (), max_minutes: float = math.inf
    ) -> Generator[Metrics, None, None]:
        """Take the steps still to come and yield metrics, until all are done or the time is over.

        However it is stopped (Ctrl-C, a closed generator), it stops after a whole step, and the
        observers are told of the end. At least one step is taken, if one is left.
        """
        has_failed = False
        for observer in observers:
            observer.at_start(self)
        try:
            self.line_from = time.monotonic()
            self.deadline = self.line_from + 60 * max_minutes
            yield from self._steps(observers)
        except DivergedError:
            raise
        except Exception:
            has_failed = True
            raise
        finally:
            if not has_failed and self.is_whole:
                with uninterrupted():
                    for observer in observers:
                        observer.at_end(self)

    def step(self, batch: Batch) -> Tensor:
        """One optimisation step; returns the loss. No signal can stop it half-way.

        Raises `DivergedError` where the gradient is not finite, before anything is changed.
        """
        with uninterrupted(), _seeded(self.recipe.seed, self.steps_done, self.device):
            part, weight = self.processes.part(batch), self.processes.weight(batch)
            loss = self.loss_fn(part.to(self.device), weight)
            loss.backward()
            loss = self.processes.mean(loss.detach())
            if self._is_due(self.steps_done + 1):
                self.gradient_norms = _gradient_norms(self.model)
            longest = self.recipe.max_grad_norm or math.inf
            norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), longest)
            if not norm.isfinite():
                raise DivergedError(self._why_diverged(loss))
            self.is_whole = False
            for optimizer, schedule in zip(self.optimizers, self.schedules, strict=True):
                optimizer.step()
                optimizer.zero_grad()
                schedule.step()
            self.steps_done += 1
            if self.recipe.is_averaged(self.steps_done):
                self.averaged.add(own_weights(self.model))
            self.unlogged.append(loss)
            self.is_whole = True
        return loss

    def state(self) -> TrainingState:
        """All that a run needs to go on from here; the tensors are the live ones, not copies."""
        return TrainingState(
            steps_done=self.steps_done,
            origin=self.origin,
            weights=own_weights(self.model),
            moments=[_moments(optimizer) for optimizer in self.optimizers],
            unlogged=torch.stack(self.unlogged) if self.unlogged else torch.zeros(0),
            averaged=self.averaged.sums,
            gradient_norms=self.gradient_norms,
        )

    def restore(self, state: TrainingState) -> None:
        """Go on from a state; ValueError naming what differs when it is of another run."""
        state.refuse_other(self.origin)
        self.model.load_state_dict(state.weights, strict=False)
        moments = [*state.moments, *({} for _ in self.optimizers)]  # none before the first step
        for optimizer, its_moments in zip(self.optimizers, moments, strict=False):
            groups = optimizer.state_dict()["param_groups"]
            optimizer.load_state_dict({"state": its_moments, "param_groups": groups})
        self.steps_done = state.steps_done
        self.unlogged = list(state.unlogged.to(self.device))
        self.gradient_norms = dict(state.gradient_norms)
        self.averaged = WeightSum({name: x.to(self.device) for name, x in state.averaged.items()})
        for optimizer, schedule in zip(self.optimizers, self.schedules, strict=True):
            _set_schedule(optimizer, schedule, self.steps_done)

    def finished(self) -> Model:
        """The model as it is kept: once all steps are done a copy with its averaged weights.

        Where none are averaged, or before that, the model itself.
        """
        n_averaged = self.recipe.average_last
        if not n_averaged or self.steps_done < self.recipe.total_steps:
            return self.model
        model = copy.deepcopy(self.model)
        model.load_state_dict(self.averaged.mean(n_averaged), strict=False)
        return model

    def leave_out(self, seconds: float) -> None:
        """Count a pause for neither speed nor time."""
        self.timed_from += seconds
        self.line_from += seconds
        self.deadline += seconds

    def _steps(self, observers: Sequence[Observer]) -> Iterator[Metrics]:
        first, self.timed_from = self.steps_done, time.monotonic()
        if self.unlogged and self._is_due(self.steps_done):  # stopped between it and its metrics
            yield self._measure(observers, tokens_per_second=0.0)
        for batch in self.objective.batches(self.steps_done):
            self.step(batch)
            if self._is_due(self.steps_done):
                speed = self._tokens_since(first) / (time.monotonic() - self.timed_from)
                yield self._measure(observers, speed)
                first, self.timed_from = self.steps_done, time.monotonic()
            for observer in observers:
                observer.after_step(self)
            is_over = self.is_stopping or time.monotonic() > self.deadline
            if self.processes.any(is_over or bool(self.processes.signals), self.device):
                return

    def _is_due(self, step: int) -> bool:
        return step % self.recipe.log_every == 0 or self._is_evaluation_due(step)

    def _is_evaluation_due(self, step: int) -> bool:
        return step % self.recipe.evaluate_every == 0 or step == self.recipe.total_steps

    def _measure(self, observers: Sequence[Observer], tokens_per_second: float) -> Metrics:
        is_judged = self._is_evaluation_due(self.steps_done) and self.processes.is_first
        evaluated = self._evaluate() if is_judged else {}
        before, self.line_from = self.line_from, time.monotonic()
        metrics = Metrics(
            step=self.steps_done,
            loss=torch.stack(self.unlogged).mean().item(),
            learning_rate=self.recipe.matrix_lr * self.recipe.lr_share(self.steps_done - 1),
            tokens=self.objective.tokens_until(self.steps_done),
            tokens_per_second=tokens_per_second,
            gradient_norms={name: norm.item() for name, norm in self.gradient_norms.items()},
            seconds=self.line_from - before,
            **evaluated,
        )
        with uninterrupted():
            self.unlogged, self.gradient_norms = [], {}
            for observer in observers:
                observer.after_metrics(self, metrics)
        return metrics

    def _evaluate(self) -> dict[str, Any]:
        """What an evaluation adds to the metrics."""
        with self.judged() as model:
            return {
                "held_out": self.objective.evaluate(model) or None,
                "trained_on": self.objective.trained_on(model),
                "alone": self.objective.alone(model),
                "sample": self.objective.sample(model),
            }

    @contextmanager
    def judged(self) -> Iterator[Model]:
        """The model as it is kept, in `eval` mode within."""
        self.model.eval()
        try:
            yield self.finished()
        finally:
            self.model.train()

    def _loss(self, batch: Batch) -> Tensor:
        dtype = PRECISIONS[self.recipe.precision]
        use_autocast = dtype is torch.bfloat16 and has_fast_bfloat16(self.device)
        with torch.autocast(self.device.type, dtype=torch.bfloat16, enabled=use_autocast):
            return self.objective.loss(self.model, batch)

    def _why_diverged(self, loss: Tensor) -> str:
        step, recipe = self.steps_done + 1, self.recipe
        return (
            f"the training diverged at step {step:,}: its loss is {loss.item():.4g}, its gradient "
            f"not finite; what step {self.steps_done:,} left is kept. Begin again in another "
            f"folder with lower rates, such as matrix_lr={recipe.matrix_lr / 10:.2g} and "
            f"other_lr={recipe.other_lr / 10:.2g}, or with more warmup_steps"
        )

    def _tokens_since(self, step: int) -> int:
        return self.objective.tokens_until(self.steps_done) - self.objective.tokens_until(step)


def build_model(recipe: Recipe, vocab_size: int | None) -> Model:
    """The recipe's model with fresh weights; see `planned`."""
    config, _ = planned(recipe, vocab_size)
    model = architecture(config.architecture).build(config)
    INITIALISATIONS[recipe.initialisation](model, recipe.seed)
    return model


def _gradient_norms(model: Model) -> dict[str, Tensor]:
    """The length of the gradient of each part: the embedding, each layer, what comes after."""
    parts: dict[str, list[Tensor]] = {}
    for name, weight in model.named_parameters():
        if weight.grad is not None:
            parts.setdefault(_part(name), []).append(weight.grad)
    return {part: torch.nn.utils.get_total_norm(gradients) for part, gradients in parts.items()}


def _part(name: str) -> str:
    """The part of a model that a weight is in, such as "layer 0" or "encoder layer 0".

    Of a recurrent network a unit, or its attention.
    """
    if layer := re.match(r"(?:(\w+)\.)?blocks\.(\d+)\.", name):
        return f"{layer[1]} layer {layer[2]}" if layer[1] else f"layer {layer[2]}"
    if unit := re.match(r"(forwards|backwards|decoder|attention)\.(?:of_|v\.)", name):
        return unit[1]
    return "end" if re.search(r"(final_norm|unembed|output)\.", name) else "embedding"


@contextmanager
def _seeded(seed: int, step: int, device: torch.device) -> Iterator[None]:
    """Torch's own randomness set by a seed and a step, and afterwards as it was before."""
    number = drawn_number(seed, step)
    devices = [device] if device.type == "cuda" else []
    with torch.random.fork_rng(devices):
        torch.default_generator.manual_seed(number)
        for one in devices:
            with torch.cuda.device(one):
                torch.cuda.manual_seed(number)
        yield


def _moments(optimizer: Optimizer) -> Moments:
    state = optimizer.state_dict()["state"]
    return {
        index: {name: torch.as_tensor(value) for name, value in values.items()}
        for index, values in state.items()
    }


def _set_schedule(optimizer: Optimizer, schedule: LambdaLR, steps_done: int) -> None:
    schedule.last_epoch = steps_done
    for group, base_lr, share in zip(
        optimizer.param_groups, schedule.base_lrs, schedule.lr_lambdas, strict=True
    ):
        group["lr"] = base_lr * share(steps_done)
