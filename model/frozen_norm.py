"""A norm as it was in one run: linear in what it is given, once its scale is taken as it was.

So what parts of a stream become behind it can be told apart, and their sum is what it gave (Elhage
et al. 2021, "handling layer normalization").
"""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass

import torch
from torch import Tensor, nn

# How far a norm may be from a gain of what it is given, relative to its largest value.
LINEAR = 1e-4


@dataclass(frozen=True, eq=False)
class FrozenNorm:
    """A norm whose scale is that of a run at each vector. All float64.

    weight: (…, D), its gain divided by what it divided by; offset: (D,).
    """

    weight: Tensor
    offset: Tensor
    is_centred: bool

    def pulled(self, direction: Tensor) -> Tensor:
        """The direction (…, D) before the norm that reads what `direction` (D,) reads after it."""
        scaled = direction * self.weight
        return scaled - scaled.mean(dim=-1, keepdim=True) if self.is_centred else scaled

    def pushed(self, part: Tensor) -> Tensor:
        """What becomes of a part (…, D) of its input, without the offset."""
        return self.centred(part) * self.weight.to(part)

    def whole(self, rest: Tensor) -> Tensor:
        """The same of the part that has the offset as well."""
        return self.pushed(rest) + self.offset

    def centred(self, part: Tensor) -> Tensor:
        """A part as it is before the gain."""
        return part - part.mean(dim=-1, keepdim=True) if self.is_centred else part


@torch.inference_mode()
def frozen(norm: nn.Module, x: Tensor) -> FrozenNorm:
    """A norm as it was on vectors (…, D) of a run, whoever wrote it: found by asking it.

    What it makes of zeros is its offset; of vectors moved as a whole, whether it centres; of 1 and
    −1 in turn, its gain but for a factor, which what it makes of x gives.
    ValueError for a module that is no gain of a vector, centred or not, divided by a number.
    """
    own = deepcopy(norm).cpu().double()

    def made(vectors: Tensor) -> Tensor:
        return own(vectors[None])[0].to(x)

    offset = made(torch.zeros_like(x)).flatten(0, -2)[0]
    given = made(x) - offset
    moved = made(x + x.square().mean(dim=-1, keepdim=True).sqrt()) - offset
    most = given.abs().max()
    is_centred = bool((moved - given).abs().max() <= LINEAR * most)
    plain = FrozenNorm(torch.ones_like(x), offset, is_centred)
    turns = torch.where(torch.arange(x.shape[-1]) % 2 == 1, -1.0, 1.0).to(x).expand_as(x)
    gain = (made(turns) - offset) / plain.centred(turns)
    wanted = gain * plain.centred(x)
    length = wanted.square().sum(dim=-1, keepdim=True)
    factor = (given * wanted).sum(dim=-1, keepdim=True) / length.where(length > 0, 1.0)
    if not (given - factor * wanted).abs().max() <= LINEAR * most:
        raise ValueError(
            f"a {type(norm).__name__} is no norm: what parts add cannot be told apart behind it"
        )
    return FrozenNorm(factor * gain, offset, is_centred)


def pulled(norms: Sequence[FrozenNorm], direction: Tensor) -> Tensor:
    """The direction before some norms, the last one first, of what `direction` reads after."""
    for norm in norms:
        direction = norm.pulled(direction)
    return direction
