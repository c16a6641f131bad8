"""What went through a tap in one forward pass over a batch → streams and attention records."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from torch import Tensor

from model.tap import Attachment, Editor, Recorder, Tap, attach
from model.trace import (
    ATTENTION_NAMES,
    RESIDUAL_NAMES,
    AttentionRecord,
    ResidualRecord,
    Site,
    Stream,
)
from model.worked_out import Attending, Square, WorkedOut

# What attention says of itself besides its arrays; ours leaves it out where it is the usual.
NUMBERS = ("scale", "softcap")
EDITED, ONES = "edited", np.ones((), bool)
SQUARES = ("scores", "pattern")  # (H, Tq, Tk), which grow with the square of the text
TRACED = frozenset(("embed", "positions", *ATTENTION_NAMES, *NUMBERS, *RESIDUAL_NAMES))

Arrays = Mapping[str, np.ndarray]


class _Sparing(Recorder):
    """Keeps scores and patterns only where something attached may change them."""

    def __init__(self, attachments: Sequence[Attachment]) -> None:
        super().__init__(TRACED)
        self._attachments = attachments

    def wants(self, address: str) -> bool:
        site, _, name = address.rpartition(".")
        if name not in SQUARES:
            return super().wants(address)
        return any(item.wants(f"{site}.{x}") for item in self._attachments for x in SQUARES)


class Recording:
    """A recorder behind other attachments: they see each value before it is kept.

    Where it is `sparing`, scores and patterns that nothing attached wants are left to be worked out
    when they are looked at.
    """

    def __init__(self, attachments: Sequence[Attachment], *, sparing: bool = False) -> None:
        self._attachments = attachments
        self._recorder = _Sparing(attachments) if sparing else Recorder(TRACED)

    @property
    def tap(self) -> Tap:
        """What to hand to the forward pass."""
        return attach(*self._attachments, self._recorder)

    def values(self) -> Arrays:
        """All values kept, by address; ValueError when an edit named an address there is not."""
        for item in self._attachments:
            if isinstance(item, Editor):
                item.check_used()
        arrays = {address: to_numpy(x) for address, x in self._recorder.values.items()}
        sites = [name.removesuffix(".z") for name in arrays if name.endswith(".z")]
        return arrays | {f"{site}.{EDITED}": ONES for site in sites if self._is_edited(site)}

    def _is_edited(self, site: str) -> bool:
        """Whether scores or weights are others than those that follow from q and k."""
        editors = [item for item in self._attachments if isinstance(item, Editor)]
        return any(item.wants(f"{site}.{name}") for item in editors for name in SQUARES)


@dataclass(frozen=True)
class Row:
    """One row of a batch, as the parts of its trace. `values` are those of the whole batch."""

    values: Arrays
    number: int

    def stream(self, stream: Stream, n_layers: int) -> Stream:
        """The stream with what happened in it; it has its name, kind, labels and input already."""
        there = range(n_layers) if f"{stream.name}.blocks.0.resid_pre" in self.values else ()
        residuals = tuple(self._residuals(stream.name, layer) for layer in there)
        if f"{stream.name}.embed" not in self.values:
            return replace(stream, residuals=residuals)
        embed = self._of(f"{stream.name}.embed")
        positions = self.values.get(f"{stream.name}.positions", _zeros_like(embed))
        return replace(stream, embed=embed, positions=positions, residuals=residuals)

    def attention(self, site: Site, keys: str | None = None) -> AttentionRecord:
        """What happened at a site; keys: the stream of the columns, by default its own."""
        q, k, v, z = (self._of(f"{site.address}.{name}") for name in ("q", "k", "v", "z"))
        given = Attending(
            q=q,
            k=k,
            scale=self._number(site, "scale", q.shape[-1] ** -0.5),
            bias=self.values.get(f"{site.address}.bias"),
            mask=self._mask(site, (*q.shape[:2], k.shape[1])),
            softcap=self._number(site, "softcap", None),
            sinks=self.values.get(f"{site.address}.sinks"),
            further=(EDITED,) if f"{site.address}.{EDITED}" in self.values else (),
        )
        return AttentionRecord(
            **vars(given),
            site=site,
            queries=site.stack,
            keys=keys or site.stack,
            v=v,
            scores=self._square(given, site, "scores"),
            pattern=self._square(given, site, "pattern"),
            z=z,
        )

    def _square(self, given: Attending, site: Site, name: Square) -> np.ndarray:
        """Scores or pattern as they ran, or what works them out, which is used as an array is."""
        address = f"{site.address}.{name}"
        is_kept = address in self.values
        return self._of(address) if is_kept else cast("np.ndarray", WorkedOut(given, name))

    def _number(self, site: Site, name: str, usual: float | None) -> Any:  # noqa: ANN401
        value = self.values.get(f"{site.address}.{name}")
        return usual if value is None else float(value)

    def _of(self, address: str) -> np.ndarray:
        return self.values[address][self.number]

    def _residuals(self, stack: str, layer: int) -> ResidualRecord:
        block = f"{stack}.blocks.{layer}"
        there = [name for name in RESIDUAL_NAMES if f"{block}.{name}" in self.values]
        return ResidualRecord(**{name: self._of(f"{block}.{name}") for name in there})

    def _mask(self, site: Site, shape: tuple[int, ...]) -> np.ndarray:
        """The mask: (Tq, Tk) where all heads share it, else (H, Tq, Tk). shape: (H, Tq, Tk)."""
        mask = self.values.get(f"{site.address}.mask")
        if mask is None:  # nothing was masked
            return read_only(np.ones(shape[1:], dtype=bool))
        if mask.ndim == 2:
            return mask
        mine = mask[self.number]  # (1 or H, Tq, Tk)
        return mine[0] if len(mine) == 1 else mine


def to_numpy(x: Tensor) -> np.ndarray:
    """A value as a read-only array, numbers in float32."""
    return read_only((x.float() if x.is_floating_point() else x).cpu().numpy())


def read_only(array: np.ndarray) -> np.ndarray:
    """The same array, frozen."""
    array.flags.writeable = False
    return array


def _zeros_like(array: np.ndarray) -> np.ndarray:
    return read_only(np.zeros_like(array))
