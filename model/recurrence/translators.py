"""The three translators: recurrent with a fixed vector, with additive attention, a Transformer.

Each gives the logits of a whole known target at once, and of a target while it is written.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from model.architectures.encoder_decoder import EncoderDecoderTransformer
from model.config import EncoderDecoderConfig
from model.kv_cache import KVCache
from model.recurrence.gru import GatedUnit
from model.recurrence.task import END, START, VOCAB_SIZE
from model.weights import initialise_evenly

RECURRENT = "recurrent"  # what config.json calls the architecture
Step = Callable[[Tensor], Tensor]  # the tokens written last (B,) → logits of the next (B, V)


class Translator(nn.Module, ABC):
    """What turns a source into a target."""

    @abstractmethod
    def forward(self, sources: Tensor, targets: Tensor) -> Tensor:
        """Logits after each token of known targets. (B, Ts) and (B, Tt) ids. (B, Tt, V)."""

    @abstractmethod
    def begin(self, sources: Tensor) -> Step:
        """Read sources (B, Ts); what comes back writes their targets, one token per call."""

    @abstractmethod
    def fields(self) -> dict[str, Any]:
        """Its sizes, as config.json has them."""

    def own_weights(self) -> dict[str, Tensor]:
        """What a file must hold, by name."""
        return self.state_dict()


@torch.inference_mode()
def write(model: Translator, sources: Tensor, most: int) -> Tensor:
    """Greedy targets, (B, at most `most`), up to where all have their end; ends after an end."""
    step, last, written = model.begin(sources), torch.full((len(sources),), START), []
    ended = torch.zeros(len(sources), dtype=torch.bool)
    while len(written) < most and not ended.all():
        last = step(last).argmax(dim=-1).masked_fill(ended, END)
        written.append(last)
        ended |= last == END
    return torch.stack(written, dim=1)


def n_parameters(model: nn.Module) -> int:
    """Trained numbers; a tied one counts once."""
    return sum(weight.numel() for weight in model.parameters())


# --- recurrent ----------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class RecurrentConfig:
    """Sizes: embedding E, states of an encoder's direction h, of the decoder s, attention's a.

    Without attention `n_attention` is 0.
    """

    n_embedding: int
    n_encoder: int
    n_decoder: int
    n_attention: int = 0


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


class Recurrent(Translator):
    """An encoder of two gated units, one for each direction, and a decoder that is a third.

    With attention each step of the decoder has a context of its own, c_i = Σ_j α_ij h_j; without,
    all have the one vector of both last states of the encoder (Cho et al. 2014, §2.2).
    """

    def __init__(self, config: RecurrentConfig) -> None:
        super().__init__()
        e, h, s = config.n_embedding, config.n_encoder, config.n_decoder
        self.config = config
        self.embed = nn.Embedding(VOCAB_SIZE, e)
        self.forwards, self.backwards = GatedUnit(e, h), GatedUnit(e, h)
        self.first_state = nn.Linear(2 * h if not config.n_attention else h, s)
        self.decoder = GatedUnit(e + 2 * h, s)
        self.output = nn.Linear(s + e + 2 * h, VOCAB_SIZE)
        self.attention = (
            AdditiveAttention(s, 2 * h, config.n_attention) if config.n_attention else None
        )

    def annotate(self, sources: Tensor) -> Tensor:
        """h_j: what both directions are after reading up to token j, side by side. (B, Ts, 2h)."""
        x = self.embed(sources)  # (B, Ts, E)
        return torch.cat([self.forwards(x), self.backwards(x, backwards=True)], dim=-1)

    def begin(self, sources: Tensor, looked: list[Looked] | None = None) -> Step:
        """See `Translator`. What each step attends to is added to `looked`."""
        annotations, h = self.annotate(sources), self.config.n_encoder
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

    def forward(self, sources: Tensor, targets: Tensor) -> Tensor:
        """See `Translator`: one step after the other here too."""
        step = self.begin(sources)
        return torch.stack([step(last) for last in targets.unbind(dim=1)], dim=1)

    def fields(self) -> dict[str, Any]:
        """See `Translator`."""
        return {"architecture": RECURRENT, **asdict(self.config)}


# --- Transformer --------------------------------------------------------------------------------


class OfTransformer(Translator):
    """The encoder-decoder that the rest of Headlight has."""

    def __init__(self, config: EncoderDecoderConfig) -> None:
        super().__init__()
        self.config = config
        self.transformer = EncoderDecoderTransformer(config)
        initialise_evenly(self.transformer, seed=torch.initial_seed())

    def forward(self, sources: Tensor, targets: Tensor) -> Tensor:
        """See `Translator`: all positions at once."""
        return self.transformer(sources, targets)

    def begin(self, sources: Tensor) -> Step:
        """See `Translator`; keys and values of earlier tokens are kept."""
        memory = self.transformer.encode(sources)
        cache = KVCache(self.config, batch_size=len(sources))

        def step(last: Tensor) -> Tensor:
            return self.transformer.decode(last[:, None], memory, cache=cache)[:, -1]

        return step

    def fields(self) -> dict[str, Any]:
        """See `Translator`."""
        return self.config.to_dict()

    def own_weights(self) -> dict[str, Tensor]:
        """See `Translator`; a tied weight is another's and is not stored."""
        inner = self.transformer
        return {name: x for name, x in inner.state_dict().items() if name not in inner.tied_weights}
