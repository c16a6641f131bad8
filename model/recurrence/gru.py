"""The gated recurrent unit (Cho et al. 2014, eq. 5 to 8; Bahdanau et al. 2015, appendix A.1.1)."""

import torch
from torch import Tensor, nn


class GatedUnit(nn.Module):
    """A state that each input changes: how much of it goes on, two gates say.

    z = σ(W_z x + U_z h + b_z), r = σ(W_r x + U_r h + b_r), h̃ = tanh(W x + U (r ∘ h) + b),
    h' = (1 − z) ∘ h + z ∘ h̃. The rows of `of_input` are W_z, W_r, W, one below the other.
    """

    def __init__(self, n_inputs: int, n_states: int) -> None:
        super().__init__()
        self.of_input = nn.Linear(n_inputs, 3 * n_states)  # W and b
        self.of_gates = nn.Linear(n_states, 2 * n_states, bias=False)  # U_z and U_r
        self.of_state = nn.Linear(n_states, n_states, bias=False)  # U
        for weight in (self.of_gates.weight, self.of_state.weight):
            for square in weight.split(n_states):
                nn.init.orthogonal_(square)

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
