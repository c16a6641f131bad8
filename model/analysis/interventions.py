"""One input run with many different edits as one batch: row b has edits of its own."""

from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor

from model.architectures.base import Transformer
from model.architectures.encoder_decoder import DECODER
from model.tap import Edit, Editor, attach

MOST_AT_ONCE = 2048  # tokens of a batch
UNBATCHED = ("positions", "mask", "bias")  # values that all rows of a batch share
Row = list[int] | range | np.ndarray  # ids (T,), or pixels (S, S)
Given = Row | tuple[Row, ...]


@torch.inference_mode()
def run_rows(model: Transformer, given: Given, rows: Sequence[Sequence[Edit]]) -> Tensor:
    """The model's output on one input, once for each row of edits.

    given: ids (T,), of a translation those of source and target, or pixels (S, S), as `Trace.given`
    has it. rows: B rows of edits, each made for a batch of one, as `set_at` makes them; a row
    without an edit is the model as it is.
    Returns (B, T, V), of a target (B, Tt, V), of a picture (B, C). Raises ValueError when there is
    no row, for an address that the forward pass does not have, and for a value all rows share.
    """
    if not rows:
        raise ValueError("there are 0 rows of edits; give at least 1")
    editor = editor_of_rows(rows) if len(rows) > 1 else Editor(*rows[0])
    is_whole = not all(_is_late(address) for address in editor.edits)
    batch = batch_of(model, given, len(rows))
    output = model.outputs(batch, tap=attach(editor), one_source=not is_whole)
    editor.check_used()
    return output


def editor_of_rows(rows: Sequence[Sequence[Edit]]) -> Editor:
    """An editor of a batch in which row b has the edits of `rows[b]`, and the others keep theirs.

    ValueError for an edit of a value that has no axis of rows.
    """
    by_address: dict[str, list[tuple[int, Edit]]] = {}
    for number, row in enumerate(rows):
        for edit in row:
            if edit.address.rpartition(".")[2] in UNBATCHED:
                raise ValueError(
                    f"all {len(rows)} rows of the batch share {edit.address}; edit another value"
                )
            by_address.setdefault(edit.address, []).append((number, edit))
    return Editor(*(Edit(address, _changing(own)) for address, own in by_address.items()))


def is_picture(given: Given) -> bool:
    """Whether what is given is pixels (S, S)."""
    return isinstance(given, np.ndarray) and given.ndim == 2


def n_at_once(given: Given, most: int = MOST_AT_ONCE) -> int:
    """How many rows make a batch of at most so many tokens; at least one."""
    parts = given if isinstance(given, tuple) else (given,)
    return max(1, most // max(1, sum(np.asarray(part).size for part in parts)))


def _changing(own: Sequence[tuple[int, Edit]]) -> Callable[[Tensor], Tensor]:
    """A change of a whole batch that applies each edit to its row, in their order."""

    def change(value: Tensor) -> Tensor:
        changed = value.clone()
        for number, edit in own:
            row = changed[number : number + 1]
            new = edit.change(row)
            if new.shape != row.shape:
                raise ValueError(
                    f"the edit of {edit.address} gives shape {tuple(new.shape)}; the value of one "
                    f"row has {tuple(row.shape)}"
                )
            changed[number] = new[0]
        return changed

    return change


def _is_late(address: str) -> bool:
    """Whether nothing of an encoder before a decoder depends on a value."""
    return address.startswith(f"{DECODER}.")


def batch_of(model: Transformer, given: Given, n_rows: int = 1) -> tuple[Tensor, ...]:
    """What a model's forward takes, (B, …) each: n equal rows."""
    parts = given if isinstance(given, tuple) else (given,)
    kind = torch.float32 if is_picture(given) else torch.long
    batches = (torch.tensor(np.asarray(x), dtype=kind, device=model.device)[None] for x in parts)
    return tuple(x.expand(n_rows, *x.shape[1:]) for x in batches)
