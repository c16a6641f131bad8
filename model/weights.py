"""What is done to all weights of a model at once, whatever its architecture."""

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch import nn
from torch.overrides import TorchFunctionMode

from model.architectures.base import Model

WRITES = ("out_proj.weight", "down.weight")  # what is added to the residual stream


def initialise(model: Model, seed: int) -> None:
    """Draw fresh weights: normal with deviation 0.02, biases zero.

    Projections that write to the residual stream are smaller by √(2·n_layers), so the stream
    keeps its scale however many layers add to it (Radford et al. 2019, §2.3).
    """
    generator = torch.Generator().manual_seed(seed)
    residual_std = 0.02 / math.sqrt(_n_writes(model))
    for name, weight in model.named_parameters():
        if name.endswith(".bias"):
            nn.init.zeros_(weight)
        elif weight.ndim == 2:
            std = residual_std if name.endswith(WRITES) else 0.02
            nn.init.normal_(weight, std=std, generator=generator)


def initialise_evenly(model: Model, seed: int, *, writes_little: bool = False) -> None:
    """Draw fresh weights: matrices uniform so that signals keep their scale, biases zero.

    Each of n × m values lies within √(6 / (n + m)) (Glorot & Bengio 2010, eq. 16). Rows of
    embeddings are normal with deviation 1/√d_model, and so are learned positions. With
    `writes_little` projections that write to the residual stream are smaller by √(2·n_layers):
    under post-norm each layer mixes the tokens, and without it those of a fresh encoder come out
    all but alike, so that cross-attention has nothing to tell apart.
    """
    generator = torch.Generator().manual_seed(seed)
    tables = {id(x.weight) for x in model.modules() if isinstance(x, nn.Embedding)}
    little = _n_writes(model) ** -0.5 if writes_little else 1.0
    for name, weight in model.named_parameters():
        if name.endswith(".bias"):
            nn.init.zeros_(weight)
        elif id(weight) in tables:
            nn.init.normal_(weight, std=weight.shape[-1] ** -0.5, generator=generator)
        elif weight.ndim == 2:
            gain = little if name.endswith(WRITES) else 1.0
            nn.init.xavier_uniform_(weight, gain=gain, generator=generator)


def _n_writes(model: Model) -> int:
    """How often something is added to a residual stream; 1 for a model that has none."""
    return 2 * getattr(model.config, "n_layers", 0) or 1


# How a recipe names a way to draw fresh weights.
INITIALISATIONS: dict[str, Callable[[Model, int], None]] = {
    "normal": initialise,
    "xavier": initialise_evenly,
    "xavier_little": partial(initialise_evenly, writes_little=True),
}


@torch.no_grad()
def take_weights(model: Model, other: Model) -> None:
    """Begin with another model's weights, whose names and shapes are the same.

    Embeddings may have more rows here, of tokens that the other one did not have: these stay as
    they are. Raises ValueError naming the first weight that does not fit.
    """
    weights = dict(other.named_parameters())
    for name, weight in model.named_parameters():
        given = weights.get(name)
        fits = given is not None and given.shape[1:] == weight.shape[1:]
        grows = weight.ndim == 2 and name.endswith("embed.weight")
        if given is None or not fits or not (grows or len(given) == len(weight)):
            theirs = "is missing" if given is None else f"has shape {tuple(given.shape)}"
            raise ValueError(
                f"weights_of: {name} has shape {tuple(weight.shape)} here and {theirs} there; give "
                "a checkpoint of the same sizes, or [model] its sizes"
            )
        weight[: len(given)] = given[: len(weight)]


def to_column_major(model: nn.Module) -> None:
    """Keep each weight matrix column by column in memory; shapes and values stay as they are.

    Decoding multiplies every matrix with one vector, which is bound by reading the matrix. As
    a sum of columns BLAS reads it up to 1.8 times as fast as by a scalar product for each row.
    """
    for weight in model.parameters():
        if weight.ndim == 2:
            weight.data = weight.data.t().contiguous().t()


class Undrawn(TorchFunctionMode):
    """Leaves the first weights undrawn: without memory there are none to draw.

    Asked for random numbers on the meta device, torch imports its compiler, which takes 2 s.
    """

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401, as torch has it
        """Give back the tensor that an initialiser got; do everything else as it is."""
        given = kwargs or {}
        if getattr(func, "__module__", None) == "torch.nn.init":
            return args[0] if args else given["tensor"]
        return func(*args, **given)
