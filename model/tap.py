"""The tap: what every value of a forward pass goes through, to be kept, changed, or differentiated.

The forward pass is written once, as `z = tap("z", z)`. With nothing attached a tap gives back what
it was given. Attachments may keep a value (`Recorder`, `Until`), give back another (`Editor`), or
keep it for its gradient (`Gradients`); they see a value in the order in which they were attached,
so a recorder after an editor keeps the edited value.

A tap belongs to one call, never to the model: two calls at once on one model cannot see each
other's tensors.

    address                                      shape
    decoder.embed, decoder.positions             (B, T, D), (T, D)
    decoder.blocks.3.resid_pre / mid / post      (B, T, D)
    decoder.blocks.3.attn_out, ffn_out           (B, T, D)
    decoder.blocks.3.attn.q, z                   (B, H, Tq, Dh)
    decoder.blocks.3.attn.k, v                   (B, n_kv_heads, Tk, Dh)
    decoder.blocks.3.attn.scores, pattern        (B, H, Tq, Tk)
    decoder.blocks.3.attn.mask, bias             as handed to attention, or absent
    decoder.blocks.3.attn_norm.scaled            (B, T, D), after gain and offset
    decoder.blocks.3.ffn.activation              (B, T, F), each neuron, as `down` reads it
    decoder.final_norm.…, logits                 as above; (B, T, V), of pictures (B, C)

An encoder's addresses begin with `encoder`. Where a decoder has one before it there are besides:

    encoder.memory                               (B, Ts, D), what the decoder attends to
    decoder.blocks.3.cross_attn.…                as attn, with Ts keys
    decoder.blocks.3.cross_norm.…                as attn_norm
    decoder.blocks.3.cross_out, resid_cross      (B, Tq, D); resid_mid + cross_out = resid_cross

With a cache k and v are those of all Tk tokens: views of the cache, to be copied before it is used
again.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar, cast

import torch
from torch import Tensor

Value = TypeVar("Value", Tensor, Tensor | None)


class Attachment(Protocol):
    """Something that looks at values on their way, or changes them."""

    def wants(self, address: str) -> bool:
        """Whether the value at this address must go through it."""
        ...

    def __call__(self, address: str, value: Tensor) -> Tensor:
        """Take a value it wants; give back the one to go on with."""
        ...


class Tap:
    """Nothing attached: every value goes on as it is. The base of a tap that has attachments."""

    def __call__(self, name: str, value: Value) -> Value:
        """Let a value through; None, what is absent in this pass, is shown to nobody."""
        return value

    def wants(self, *names: str) -> bool:
        """Whether any of these values is asked for, so that it must be computed on its own."""
        return False

    def scope(self, name: str) -> "Tap":
        """The same tap, one address level down."""
        return self


NO_TAP = Tap()


class _AttachedTap(Tap):
    """A tap whose values go through attachments, under the addresses of a scope."""

    def __init__(self, attachments: Sequence[Attachment], prefix: str = "") -> None:
        self.attachments, self.prefix = attachments, prefix

    def __call__(self, name: str, value: Value) -> Value:
        if value is None:
            return value
        address, current = self.prefix + name, cast("Tensor", value)  # None has gone
        for attachment in self.attachments:
            if attachment.wants(address):
                current = attachment(address, current)
        return cast("Value", current)

    def wants(self, *names: str) -> bool:
        addresses = [self.prefix + name for name in names]
        return any(item.wants(address) for item in self.attachments for address in addresses)

    def scope(self, name: str) -> Tap:
        return _AttachedTap(self.attachments, f"{self.prefix}{name}.")


def attach(*attachments: Attachment) -> Tap:
    """A tap for one forward pass. Values go through the attachments in the order given here."""
    return _AttachedTap(attachments) if attachments else NO_TAP


class Recorder:
    """Keeps the values of one forward pass under their addresses.

    `names` are the last parts of the addresses to keep, such as "pattern"; by default all.
    """

    def __init__(self, names: Collection[str] | None = None) -> None:
        self.names = names
        self.values: dict[str, Tensor] = {}

    def wants(self, address: str) -> bool:
        """Whether the value's name is one of those to keep."""
        return self.names is None or address.rpartition(".")[2] in self.names

    def __call__(self, address: str, value: Tensor) -> Tensor:
        """Keep the value as it is, without a copy."""
        self.values[address] = value
        return value


class ReachedError(Exception):
    """All that was wanted of a pass is there."""


class Until(Recorder):
    """Keeps the values at some addresses, and ends the pass by `ReachedError` with the last."""

    def __init__(self, *addresses: str) -> None:
        super().__init__()
        self.addresses = addresses

    def wants(self, address: str) -> bool:
        """Whether it is one of them."""
        return address in self.addresses

    def __call__(self, address: str, value: Tensor) -> Tensor:
        """Keep it; no value after the last of them is worked out."""
        self.values[address] = value
        if len(self.values) == len(self.addresses):
            raise ReachedError
        return value


@dataclass(frozen=True)
class Edit:
    """What becomes of the value at one address. `change` gives a new tensor of the same shape."""

    address: str
    change: Callable[[Tensor], Tensor]


def set_at(address: str, index: tuple[int | slice, ...], to: Tensor | float) -> Edit:
    """Put `to` into the part of a value that `index` names, whose first axis is the batch."""

    def change(value: Tensor) -> Tensor:
        changed = value.clone()
        changed[index] = to
        return changed

    return Edit(address, change)


class Editor:
    """Replaces values on their way; several edits of one address act in their order."""

    def __init__(self, *edits: Edit) -> None:
        self.edits: dict[str, list[Edit]] = {}
        for edit in edits:
            self.edits.setdefault(edit.address, []).append(edit)
        self.unused = set(self.edits)

    def wants(self, address: str) -> bool:
        """Whether there is an edit of this address."""
        return address in self.edits

    def __call__(self, address: str, value: Tensor) -> Tensor:
        """The edited value; ValueError when an edit changes its shape."""
        self.unused.discard(address)
        for edit in self.edits[address]:
            changed = edit.change(value)
            if changed.shape != value.shape:
                raise ValueError(
                    f"the edit of {address} gives shape {tuple(changed.shape)}; the value has "
                    f"{tuple(value.shape)}"
                )
            value = changed
        return value

    def check_used(self) -> None:
        """ValueError naming the addresses that the forward pass did not have."""
        if self.unused:
            raise ValueError(
                f"no value at {', '.join(sorted(self.unused))} went through this forward pass; "
                "check the address"
            )


class Gradients(Recorder):
    """Keeps values and gives the gradient of a number with respect to each of them.

    The forward pass must run where gradients are on, outside `torch.inference_mode`. Weights need
    none: the first value kept starts the graph.
    """

    def __call__(self, address: str, value: Tensor) -> Tensor:
        """Keep the value, as the start of a graph where it is in none; masks have no gradient."""
        if not value.is_floating_point():
            return value
        if not value.requires_grad:
            value = value.detach().clone().requires_grad_()
        return super().__call__(address, value)

    def of(self, number: Tensor) -> dict[str, Tensor]:
        """∂number/∂value by address, zeros where it does not depend on a value. number: scalar.

        May be asked for several numbers of one forward pass.
        """
        gradients = torch.autograd.grad(
            number, list(self.values.values()), retain_graph=True, materialize_grads=True
        )
        return dict(zip(self.values, gradients, strict=True))
