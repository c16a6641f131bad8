"""One training in several processes, as torchrun begins them: each has a part of every batch."""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from model.training.interrupts import STOPS
from model.training.objectives.base import IGNORED, Batch, Examples

WORLD_SIZE, LOCAL_RANK = "WORLD_SIZE", "LOCAL_RANK"  # as torchrun names them


@dataclass(frozen=True)
class Processes:
    """Which of how many processes this one is; the first alone writes and evaluates.

    `signals` are those that asked this one to stop: it does once all others do.
    """

    rank: int = 0
    count: int = 1
    signals: list[int] = field(default_factory=list)

    @property
    def is_first(self) -> bool:
        """Whether it is the one that writes."""
        return self.rank == 0

    def shared(self, model: nn.Module, loss: Callable[[Batch], Tensor]) -> nn.Module:
        """What gives a loss of a model, made so that gradients are the mean over all processes."""
        alone = _Loss(model, loss)
        return alone if self.count == 1 else DistributedDataParallel(alone)

    def part(self, batch: Batch) -> Batch:
        """This one's rows of a batch."""
        return batch if self.count == 1 else _rows(batch, slice(self.rank, None, self.count))

    def weight(self, batch: Batch) -> float:
        """What to multiply the loss of this one's part with.

        The mean over processes is then that over all targets of the batch, however unequally they
        are dealt out.
        """
        if self.count == 1:
            return 1.0
        whole = _n_targets(batch)
        return self.count * _n_targets(self.part(batch)) / whole if whole else 1.0

    def mean(self, value: Tensor) -> Tensor:
        """The mean over all processes of a number that each has."""
        if self.count > 1:
            value = value.clone()
            dist.all_reduce(value)
            value /= self.count
        return value

    def any(self, is_so: bool, device: torch.device) -> bool:
        """Whether it is so in one of them; each has to ask."""
        if self.count == 1:
            return is_so
        return bool(self.mean(torch.tensor(float(is_so), device=device)) > 0)

    def wait(self) -> None:
        """Until all have come here."""
        if self.count > 1:
            dist.barrier()


_ALONE = Processes()
_here = [_ALONE]  # the last is the one that is


def here() -> Processes:
    """The processes that train together with this one."""
    return _here[-1]


class _Loss(nn.Module):
    """The loss of a model as a module, for what looks after a module's parameters."""

    def __init__(self, model: nn.Module, loss: Callable[[Batch], Tensor]) -> None:
        super().__init__()
        self.model, self.loss = model, loss

    def forward(self, batch: Batch, weight: float = 1.0) -> Tensor:
        """The loss of a batch times a weight; with 0, of a part without targets, it is 0."""
        if weight == 0:
            return 0.0 * torch.stack([x.sum() for x in self.model.parameters()]).sum()
        return weight * self.loss(batch)


@contextmanager
def joined(device: torch.device) -> Iterator[Processes]:
    """The processes that torchrun began, on CPUs through gloo, on GPUs through NCCL, or this one.

    Inside each has its own GPU.
    """
    if int(os.environ.get(WORLD_SIZE, "1")) == 1:
        yield _ALONE
        return
    if device.type == "cuda":
        torch.cuda.set_device(int(os.environ[LOCAL_RANK]))
    dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
    processes = Processes(dist.get_rank(), dist.get_world_size())
    handlers = {number: signal.getsignal(number) for number in STOPS}
    for number in STOPS:  # one that stopped by itself would leave the others waiting
        signal.signal(number, lambda number, frame: processes.signals.append(number))
    _here.append(processes)
    try:
        yield processes
    finally:
        _here.pop()
        for number, handler in handlers.items():
            signal.signal(number, handler)
        dist.destroy_process_group()


def _rows(batch: Batch, rows: slice) -> Batch:
    if isinstance(batch, Tensor):
        return batch[rows]
    assert isinstance(batch, Examples)
    return Examples({name: x[rows] for name, x in batch.inputs.items()}, batch.targets[rows])


def _n_targets(batch: Batch) -> int:
    """Targets that are learnt from; of windows (B, T + 1) each token but the first."""
    if isinstance(batch, Tensor):
        return batch[:, 1:].numel()
    assert isinstance(batch, Examples)
    return int((batch.targets != IGNORED).sum())
