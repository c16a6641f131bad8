"""A stream as a sum of words: what MLPs and heads write is handed on to what they read.

The gate of each neuron, its activation over what `up` made, and the pattern of each head are held
as they were in this run; then both are linear in what they read. What is left are the embeddings of
words, at whatever token they were brought to, positions, and biases.

Parts are float32, which halves the time; what they miss of the stream by rounding is counted with
the biases, in float64, so that the sum stays exact.
"""

from collections.abc import Callable, Collection, Generator

import numpy as np
import torch
from torch import Tensor

from model.analysis.branching import values_of
from model.analysis.writers import Addition, Stretch, Writer, Written, begun, bias_of, tensor
from model.architectures.base import Transformer
from model.blocks import matrix_of
from model.device import wide
from model.frozen_norm import frozen
from model.parts import STREAMS
from model.work import Steps

# Of its largest value: so much may what a part hands on miss what it wrote.
HANDED_ON = 1e-4


def with_mlps_opened(of: Stretch, split: Collection[tuple[int, int]] = ()) -> Steps[Written]:
    """A stream as `written` has it, without MLPs: what they wrote is of those that they read.

    An MLP of which no one matrix is known, as one of experts, stays.
    """
    return _opening(of, split, heads=False)


def in_words(of: Stretch) -> Generator[Written, None, Written]:
    """A stream as a sum of the words it began with, each a writer at its own token.

    On the way it gives the stream so far: from its start on, after each sublayer.
    What cross-attention brought, and heads whose W_V is not known, stay.
    """
    return _opening(of, (), heads=True)


def _opening(
    of: Stretch, split: Collection[tuple[int, int]], *, heads: bool
) -> Generator[Written, None, Written]:
    start = begun(of.stream)
    start = _by_word(start) if heads else start
    so_far = at_start = start._replace(terms=start.terms.float())
    yield so_far
    for added in of.additions(_neurons(of)):
        if added.sublayer.writes == "attn_out":
            at_start = so_far
        read = at_start if added.sublayer.reads == STREAMS[0] else so_far
        made = _handed_on(added, read, of.model, heads=heads) or added.written(split)
        so_far = so_far.plus([made])
        so_far = so_far if added.norm is None else so_far.through(added.norm)
        yield so_far
    return so_far


def _by_word(start: Written) -> Written:
    """The start of a stream with a writer for each token's embedding."""
    n_tokens = start.terms.shape[1]
    words = torch.diag_embed(start.terms[0].T).permute(1, 2, 0)  # (T, T, D), its own row alone
    writers = (*(Writer("word", token=at) for at in range(n_tokens)), *start.writers[1:])
    return Written(writers, torch.cat([words, start.terms[1:]]), start.biases)


def _neurons(of: Stretch) -> dict[int, Tensor]:
    """Activations (T, F) of each layer of a stack, of one more run."""
    values = values_of(of.model, of.trace.given, {"activation"})
    layers = range(len(of.stream.residuals))
    found = {layer: values.get(f"{of.stack}.blocks.{layer}.ffn.activation") for layer in layers}
    return {layer: wide(x.flatten(0, -2)) for layer, x in found.items() if x is not None}


def _handed_on(
    added: Addition, read: Written, model: Transformer, *, heads: bool
) -> Written | None:
    """What a sublayer wrote, as what each of those that it read wrote; None where it stays."""
    one = added.sublayer
    if added.inner is None or one.matrix is None:
        return None
    if one.read is not None:
        read = read.through(frozen(one.read, read.whole))
    if added.record is None:
        made = _fed(added, read)
    else:
        made = _moved(added, read, model) if heads and one.writes == "attn_out" else None
    if made is None:
        return None
    made = made if added.own_norm is None else made.through(added.own_norm)
    rest = added.out - made.whole
    if not rest.abs().max() <= HANDED_ON * added.out.abs().max():
        return None
    return made._replace(biases=made.biases + rest)  # of rounding


def _fed(added: Addition, read: Written) -> Written | None:
    """What an MLP makes of parts of what it read, with the gate of each neuron held."""
    up, activation = added.sublayer.up, added.inner
    if up is None or activation is None:
        return None
    matrix, bias = wide(matrix_of(up).detach()), bias_of(up)
    whole = read.whole @ matrix + bias  # (T, F)
    gates = torch.where(whole == 0, 0.0, activation / whole)

    def feed(x: Tensor, token: Tensor) -> Tensor:
        return (x @ matrix.to(x) * gates.to(x)[token]) @ added.matrix.to(x)

    rest = (read.biases @ matrix + bias) * gates
    terms = _by_token(read.terms, feed)
    return Written(read.writers, terms, rest @ added.matrix + added.bias)


def _moved(added: Addition, read: Written, model: Transformer) -> Written | None:
    """What heads bring of parts of what they read, with their patterns held."""
    record = added.record
    assert record is not None
    values = model.value_weights(record.site)  # (H, Dh, D)
    if values is None:
        return None
    matrix, n_heads = wide(values.detach()).flatten(0, 1).T, record.n_heads
    shared = [record.kv_head(head) for head in range(n_heads)]
    own = tensor(record.v[shared]).transpose(0, 1).flatten(1)  # (T, H · Dh)
    bias = own - read.whole @ matrix  # the same at every token, or it is no bias
    if not (bias - bias[:1]).abs().max() <= HANDED_ON * own.abs().max():
        return None
    pattern = tensor(np.asarray(record.pattern))  # (H, Tq, Tk)

    def times(parts: Tensor, by: Tensor) -> Tensor:
        return _by_token(parts, lambda x, _: x @ by.to(x))

    def brought(x: Tensor) -> Tensor:
        """x: (…, T, H · Dh)."""
        by_head = x.unflatten(-1, (n_heads, -1)).transpose(-3, -2)  # (…, H, T, Dh)
        return (pattern.to(x) @ by_head).transpose(-3, -2).flatten(-2)

    return Written(
        read.writers,
        times(brought(times(read.terms, matrix)), added.matrix),
        brought(read.biases @ matrix + bias) @ added.matrix + added.bias,
    )


def _by_token(parts: Tensor, make: Callable[[Tensor, Tensor], Tensor]) -> Tensor:
    """What is made of parts (W, T, N), without the tokens to which a part has not come.

    make: what it makes of vectors (n, N) at tokens (n,).
    """
    part, token = parts.any(dim=-1).nonzero(as_tuple=True)
    made = make(parts[part, token], token)
    whole = made.new_zeros(*parts.shape[:-1], made.shape[-1])
    whole[part, token] = made
    return whole
