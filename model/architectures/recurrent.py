"""A source read and a target written by gated units, with additive attention or without."""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor, nn

from model.architectures.base import Model
from model.config import RecurrentConfig


class GatedUnit(nn.Module):
    """A state that each input changes: how much of it goes on, two gates say.

    z = σ(W_z x + U_z h + b_z), r = σ(W_r x + U_r h + b_r), h̃ = tanh(W x + U (r ∘ h) + b),
    h' = (1 − z) ∘ h + z ∘ h̃ (Cho et al. 2014, eq. 5 to 8; Bahdanau et al. 2015, appendix A.1.1).
    The rows of `of_input` are W_z, W_r, W, one below the other.
    """

    def __init__(self, n_inputs: int, n_states: int) -> None:
        super().__init__()
        self.of_input = nn.Linear(n_inputs, 3 * n_states)  # W and b
        self.of_gates = nn.Linear(n_states, 2 * n_states, bias=False)  # U_z and U_r
        self.of_state = nn.Linear(n_states, n_states, bias=False)  # U

    def step(self, projected: Tensor, h: Tensor) -> Tensor:
        """The next state, (B, h). projected: `of_input` of the input, (B, 3h); h: (B, h)."""
        of_gates, of_candidate = projected.split((2 * h.shape[-1], h.shape[-1]), dim=-1)
        z, r = torch.sigmoid(of_gates + self.of_gates(h)).chunk(2, dim=-1)  # (B, h) each
        candidate = torch.tanh(of_candidate + self.of_state(r * h))  # (B, h)
        return h + z * (candidate - h)

    def forward(self, x: Tensor, *, backwards: bool = False) -> Tensor:
        """The state after each input, from a state of zeros on. x: (B, T, D). Returns (B, T, h).

        One step after the other: each needs the state before it.
        """
        projected = self.of_input(x)  # (B, T, 3h), all at once: no state is needed for it
        h = x.new_zeros(len(x), self.of_state.in_features)
        states = []
        places = range(x.shape[1])
        for t in reversed(places) if backwards else places:
            h = self.step(projected[:, t], h)
            states.append(h)
        return torch.stack(states[::-1] if backwards else states, dim=1)


class Looked(NamedTuple):
    """One step of attention: energies and weights over the source (B, Ts), context (B, 2h)."""

    energies: Tensor
    weights: Tensor
    context: Tensor


class AdditiveAttention(nn.Module):
    """e_j = v · tanh(W s + U h_j), α = softmax(e) (Bahdanau et al. 2015, §3.1 and A.1.2)."""

    def __init__(self, n_states: int, n_annotations: int, n_hidden: int) -> None:
        super().__init__()
        self.of_state = nn.Linear(n_states, n_hidden, bias=False)  # W
        self.of_annotations = nn.Linear(n_annotations, n_hidden, bias=False)  # U
        self.v = nn.Linear(n_hidden, 1, bias=False)

    def forward(self, state: Tensor, annotations: Tensor, projected: Tensor) -> Looked:
        """One query. state: (B, s); annotations: (B, Ts, 2h); projected: U of them, (B, Ts, a)."""
        hidden = torch.tanh(self.of_state(state)[:, None] + projected)  # (B, Ts, a)
        energies = self.v(hidden)[..., 0]  # (B, Ts)
        weights = energies.softmax(dim=-1)
        return Looked(energies, weights, (weights[:, None] @ annotations)[:, 0])


class Recurrent(Model):
    """An encoder of two gated units, one for each direction, and a decoder that is a third.

    With attention each step of the decoder has a context of its own, c_i = Σ_j α_ij h_j; without,
    all have the one vector of both last states of the encoder (Cho et al. 2014, §2.2).
    """

    config: RecurrentConfig

    def __init__(self, config: RecurrentConfig) -> None:
        super().__init__(config)
        e, h, s = config.n_embedding, config.n_encoder, config.n_decoder
        self.embed = nn.Embedding(config.vocab_size, e)
        self.forwards, self.backwards = GatedUnit(e, h), GatedUnit(e, h)
        self.first_state = nn.Linear(2 * h if not config.n_attention else h, s)
        self.decoder = GatedUnit(e + 2 * h, s)
        self.output = nn.Linear(s + e + 2 * h, config.vocab_size)
        self.attention = (
            AdditiveAttention(s, 2 * h, config.n_attention) if config.n_attention else None
        )

    def annotate(self, source_ids: Tensor) -> Tensor:
        """h_j: what both directions are after reading up to token j, side by side. (B, Ts, 2h)."""
        x = self.embed(source_ids)  # (B, Ts, E)
        return torch.cat([self.forwards(x), self.backwards(x, backwards=True)], dim=-1)

    def begin(
        self, source_ids: Tensor, looked: list[Looked] | None = None
    ) -> Callable[[Tensor], Tensor]:
        """See `EncoderDecoderTransformer`. What each step attends to is added to `looked`."""
        self.check_length(source_ids.shape[1])
        annotations, h = self.annotate(source_ids), self.config.n_encoder
        ends = torch.cat([annotations[:, -1, :h], annotations[:, 0, h:]], dim=-1)  # (B, 2h)
        projected = None if self.attention is None else self.attention.of_annotations(annotations)
        first = ends if self.attention is None else ends[:, h:]  # eq. of s_0 in either paper
        state = torch.tanh(self.first_state(first))  # (B, s)

        def step(last: Tensor) -> Tensor:
            nonlocal state
            context = ends
            if self.attention is not None and projected is not None:
                now = self.attention(state, annotations, projected)
                context = now.context
                if looked is not None:
                    looked.append(now)
            given = torch.cat([self.embed(last), context], dim=-1)  # (B, E + 2h)
            state = self.decoder.step(self.decoder.of_input(given), state)
            return self.output(torch.cat([state, given], dim=-1))

        return step

    def forward(self, source_ids: Tensor, target_ids: Tensor) -> Tensor:
        """Logits of the token after each position of the target, one step after the other.

        source_ids: (B, Ts), target_ids: (B, Tt). Returns (B, Tt, V). Raises ValueError when Ts or
        Tt is 0 or above `max_seq_len`.
        """
        self.check_length(target_ids.shape[1])
        step = self.begin(source_ids)
        return torch.stack([step(last) for last in target_ids.unbind(dim=1)], dim=1)
