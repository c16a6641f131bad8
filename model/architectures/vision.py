"""A picture as a row of patches, as in ViT: which class does it show?"""

from collections.abc import Iterator, Sequence

from torch import Tensor, nn

from model.architectures.stack import Stack
from model.config import VisionConfig
from model.embeddings import PatchEmbedding
from model.parts import Step
from model.tap import NO_TAP, Tap

STACK = "encoder"  # the first part of every address, as the paper calls it


class VisionTransformer(Stack):
    """Patches of a picture attend to each other; the class token before them says what it is.

    (Dosovitskiy et al. 2021, §3.1.)
    """

    config: VisionConfig

    def __init__(self, config: VisionConfig) -> None:
        super().__init__(config, STACK, PatchEmbedding(config))
        self.unembed = nn.Linear(config.d_model, config.n_classes, bias=config.bias)

    @property
    def first_step(self) -> Step:
        """See `Stack`."""
        side = self.config.patch_size
        detail = f"{side} × {side} pixels each, [CLS] before them"
        weights = tuple(self.embed.parameters())
        return Step("patches", self.config.d_model, weights, detail=detail)

    @property
    def last_steps(self) -> Iterator[Step]:
        """See `Stack`; of the class token alone."""
        yield Step("class_token", self.config.d_model, (), rows=1)
        yield from (step._replace(rows=1) for step in super().last_steps)

    def predict(
        self, rows: Sequence[Tensor], position: int | slice, *, tap: Tap = NO_TAP, first: int = 0
    ) -> Tensor:
        """See `Transformer`: the class token alone predicts."""
        return self(*rows, tap=tap)

    def forward(self, images: Tensor, *, mask: Tensor | None = None, tap: Tap = NO_TAP) -> Tensor:
        """Logits of every class, (B, C).

        images: (B, S, S), each pixel from 0 to 1. mask: bool, broadcastable to (B, H, T, T) with
        T = P + 1, the class token first. Raises ValueError for pictures of another size.
        """
        size = self.config.image_size
        if images.ndim != 3 or images.shape[1:] != (size, size):
            raise ValueError(
                f"the pictures have shape {tuple(images.shape)}; expected (B, {size}, {size})"
            )
        stream = self.stream(images, mask=mask, tap=tap)  # (B, T, D)
        return tap("logits", self.unembed(stream[:, 0]))
