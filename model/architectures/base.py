"""What every architecture is to the rest of the house."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy

import torch
from torch import Tensor, nn

from model.attention import MultiHeadAttention
from model.blocks import matrix_of
from model.config import BlockConfig, ModelConfig
from model.parts import StackParts, Step, Sublayer
from model.positions import Position
from model.tap import NO_TAP, Tap
from model.trace import Site
from model.work import Steps

PIECES = 8  # in which what an attention makes of parts is made, of either side


class Model(nn.Module):
    """A model with its config; it runs where its weights are."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config

    @property
    def tied(self) -> dict[str, str]:
        """Weights that are another one under a second name: that name, and the other's."""
        return {}

    @property
    def tied_weights(self) -> frozenset[str]:
        """The second names, under which nothing is stored."""
        return frozenset(self.tied)

    def tie_weights(self) -> None:
        """Make tied weights the same tensor again after others were put in place."""
        for name, other in self.tied.items():
            module, _, weight = name.rpartition(".")
            setattr(self.get_submodule(module), weight, self.get_parameter(other))

    @property
    def device(self) -> torch.device:
        """Where the model runs."""
        return next(self.parameters()).device

    @property
    def dtype(self) -> torch.dtype:
        """In which precision it runs."""
        return next(self.parameters()).dtype

    @property
    def limit(self) -> str:
        """As many tokens as it runs, called by what bounds them."""
        return f"the model's context of {self.config.max_seq_len:,} tokens"

    def check_length(self, n_new: int, n_cached: int = 0) -> None:
        """ValueError when there is no token, or more than the context has room for."""
        if n_new == 0:
            raise ValueError("the text has 0 tokens; give at least 1")
        if n_cached + n_new > self.config.max_seq_len:
            cached = f", {n_cached} of them in the cache" if n_cached else ""
            raise ValueError(
                f"the text has {n_cached + n_new} tokens{cached}, more than {self.limit}; "
                f"shorten it to {self.config.max_seq_len} tokens"
            )


class Transformer(Model):
    """A model of blocks in which tokens attend to each other.

    `name` is that of its stack, where it has one alone. What it can: a tap may make several rows of
    one on the way (`splits`); a pass may begin at a later block (`is_chain`); what a token did is
    the same whatever comes after it, as far as its mask has it (`stays`).
    """

    name: str = ""
    splits: bool = True
    is_chain: bool = False

    def __init__(self, config: BlockConfig) -> None:
        super().__init__(config)
        self.config = config

    @property
    def sites(self) -> tuple[Site, ...]:
        """Every attention, in the order of a pass."""
        raise NotImplementedError

    def attention_at(self, site: Site) -> MultiHeadAttention:
        """The module that attends at a site; ValueError where the model has none there."""
        path = site.address.removeprefix(f"{self.name}.")
        try:
            module = self.get_submodule(path)
        except AttributeError:
            module = None
        if not isinstance(module, MultiHeadAttention):
            raise ValueError(f"the model has no attention at {site.address}")
        return module

    def output_weights(self, site: Site) -> Tensor:
        """W_O of each head at a site, (H, Dh, D): what its z is multiplied by.

        ValueError where there is none that is known.
        """
        attention = self.attention_at(site)
        return matrix_of(attention.out_proj).unflatten(0, (attention.n_heads, -1))

    def value_weights(self, site: Site) -> Tensor | None:
        """W_V of each head at a site, (H, Dh, D), shared ones repeated; None where not known."""
        attention = self.attention_at(site)
        return of_each_head(attention.v_proj.weight, attention.n_heads, attention.n_kv_heads)

    def queries_and_keys(
        self, site: Site, asking: Tensor, memory: Tensor | None, rows: Sequence[Tensor]
    ) -> Steps[tuple[Tensor, Tensor]]:
        """What an attention makes of parts of what it reads, norms held. All float64.

        asking: (Wq, Tq, D), parts of the stream it is in. memory: (Wk, Tk, D), of what the keys of
        cross-attention are made of, else None. rows: the input, as `outputs` takes it. Makes
        queries (Wq, H, Tq, Dh) and keys (Wk, G, Tk, Dh), some parts at a time; the last part of
        each has what is added whatever they are made of.
        ValueError where queries or keys are no sum of what is made of parts.
        """
        attention = deepcopy(self.attention_at(site)).cpu().double()
        stack = self.get_submodule("" if site.stack == self.name else site.stack)
        position: Position = stack.get_submodule("position")  # pyright: ignore[reportAssignmentType]

        def made(project: Callable[..., Tensor], parts: Tensor) -> Steps[Tensor]:
            places = torch.arange(parts.shape[1])
            return of_parts(lambda x: project(x, position, places), parts)

        queries = yield from made(attention.project_queries, asking)
        keys = yield from made(attention.project_keys, asking if memory is None else memory)
        return queries, keys

    def n_heads_at(self, site: Site) -> int:
        """Heads at a site."""
        return self.attention_at(site).n_heads

    def n_blocks(self, stack: str) -> int:
        """Blocks of a stack, by its name."""
        return 1 + max(site.layer for site in self.sites if site.stack == stack)

    @property
    def n_neurons(self) -> int | None:
        """Neurons of each feed-forward; None where they were not found, or layers differ."""
        return self.config.d_ff

    @property
    def stays(self) -> bool:
        """See the class."""
        return True

    @property
    def is_training(self) -> bool:
        """Whether it was told to train, as dropout reads it."""
        return self.training

    @property
    def classes(self) -> Mapping[int, str]:
        """Names of the classes that it tells apart, by number, as far as they are known."""
        return {}

    @property
    def token_table(self) -> Tensor:
        """The embeddings of all tokens, (V, D)."""
        return self.embedding.get_parameter("weight")

    def is_long(self, lengths: Mapping[str, int]) -> bool:
        """Whether a run has more weights than are kept: scores and patterns are then worked out.

        lengths: tokens of each stream.
        """
        return False

    def score_bias(self, n_tokens: int) -> Tensor | None:
        """What positions add to the scores of so many tokens, (H, T, T); None where not known."""
        return None

    def outputs(
        self, rows: Sequence[Tensor], *, tap: Tap = NO_TAP, one_source: bool = False
    ) -> Tensor:
        """What `forward` gives of an input, (B, …) each part of it.

        one_source: the B sources are one, which nothing changes.
        """
        return self(*rows, tap=tap)

    def predict(
        self, rows: Sequence[Tensor], position: int | slice, *, tap: Tap = NO_TAP, first: int = 0
    ) -> Tensor:
        """What `outputs` gives at a position, (B, V), at several (B, T, V); of pictures (B, C).

        The unembedding runs there alone where it can. first: the block to begin with, see
        `is_chain`; what goes through the tap must give it its stream.
        """
        raise ValueError(f"a {type(self).__name__} predicts no token at a position")

    @property
    def embedding(self) -> nn.Module:
        """What makes vectors (B, T, D) of ids (B, T), with whatever they are multiplied by."""
        raise NotImplementedError

    @property
    def stacks(self) -> tuple[StackParts, ...]:
        """What it is made of, in the order of a pass; empty where that was not found."""
        raise NotImplementedError

    @property
    def last_steps(self) -> Iterator[Step]:
        """What makes logits after all else, where it has what does."""
        unembed = getattr(self, "unembed", None)
        if isinstance(unembed, nn.Linear):
            yield Step("unembedding", unembed.out_features, tuple(unembed.parameters()))

    @property
    def sublayers(self) -> tuple[Sublayer, ...]:
        """What writes into the stream that logits are read from, in the order of a pass."""
        return tuple(one for stack in self.stacks[-1:] for one in stack.sublayers)

    @property
    def ending(self) -> tuple[nn.Module, nn.Linear]:
        """What makes logits of that stream: the last norm, and the unembedding.

        ValueError where logits are made in another way.
        """
        raise NotImplementedError

    def read_out(self, stream: Tensor) -> Tensor:
        """Logits (…, V) of a residual stream (…, D), as after the last block.

        ValueError as `ending`.
        """
        norm, unembed = self.ending
        return unembed(norm(stream))


@torch.inference_mode()
def of_parts(make: Callable[[Tensor], Tensor], parts: Tensor) -> Steps[Tensor]:
    """What something linear but for a constant makes of parts (W, …), some of them at a time.

    The last has the constant.
    """
    constant = make(torch.zeros_like(parts[:1]))
    pieces = []
    for some in parts.chunk(PIECES):
        pieces.append(make(some) - constant)
        yield
    made = torch.cat(pieces)
    made[-1] += constant[0]
    return made


def of_each_head(weights: Tensor, n_heads: int, n_kv_heads: int) -> Tensor:
    """Weights (G · Dh, D) of key-value heads as each head has them, (H, Dh, D)."""
    return weights.unflatten(0, (n_kv_heads, -1)).repeat_interleave(n_heads // n_kv_heads, dim=0)
