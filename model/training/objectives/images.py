"""Tell what a picture shows (Dosovitskiy et al. 2021, §3.1)."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
from torch import Tensor

from model.architectures.base import Model
from model.data.images import Images, jittered, read_images
from model.data.tokenizer import Tokenizer
from model.training.objectives.base import Accuracy, Examples, Objective, accuracy, cross_entropy
from model.training.plan import Plan
from model.training.randomness import generator_of


class ImageClasses(Objective):
    """Tell the class of each picture, moved a little each time it comes.

    A stage's `seq_len` counts the patches of a picture and the class token; a batch has as many
    pictures as `batch_tokens` holds.
    """

    architectures = ("vision",)
    reads_text = False

    def __init__(self, tokenizer: Tokenizer | None, data: Images, plan: Plan) -> None:
        super().__init__(tokenizer, data, plan)
        self.data = data
        self.n_tokens = len(data.labels) * plan.stages[0].seq_len

    @classmethod
    def read(cls, corpus: Sequence[Path], held_out: Sequence[Path]) -> Images:
        """An .npz file, and others whose test part is held out."""
        return read_images(corpus, held_out)

    def batches(self, steps_done: int) -> Iterator[Examples]:
        """Pictures (B, S, S) and their classes (B,), each picture once per epoch."""
        first = step = 0
        for stage in self.plan.stages:
            size = self.plan.batch_size(stage)
            for _ in range(stage.steps):
                if step >= steps_done:
                    yield self._batch(first, size, step)
                first, step = first + size, step + 1

    def loss(self, model: Model, batch: Examples) -> Tensor:
        """Cross-entropy of the classes, smoothed as the plan says.

        ValueError where a class is not one of the model's.
        """
        n_classes = getattr(model.config, "n_classes", 0)
        if int(batch.targets.max()) >= n_classes:
            raise ValueError(
                f"a picture is of class {int(batch.targets.max())} but the model has n_classes "
                f"{n_classes}; raise it"
            )
        return cross_entropy(model, batch, self.plan.label_smoothing)

    def evaluate(self, model: Model) -> dict[str, Accuracy]:
        """How many held-out pictures are told right."""
        return {
            name: accuracy(model, whole_batches(images))
            for name, images in self.data.held_out.items()
        }

    def _batch(self, first: int, size: int, step: int) -> Examples:
        n_images, seed = len(self.data.labels), self.plan.seed
        places = [divmod(first + row, n_images) for row in range(size)]
        orders = {epoch: _order(seed, epoch, n_images) for epoch in {epoch for epoch, _ in places}}
        images, labels = self.data.tensors([orders[epoch][place] for epoch, place in places])
        generator = generator_of(seed, step)
        return Examples({"images": jittered(images, generator)}, labels)


def whole_batches(images: Images, batch_size: int = 250) -> Iterator[Examples]:
    """All pictures as they are, in their order."""
    for first in range(0, len(images.labels), batch_size):
        pictures, labels = images.tensors(slice(first, first + batch_size))
        yield Examples({"images": pictures}, labels)


@lru_cache(maxsize=4)
def _order(seed: int, epoch: int, n_images: int) -> np.ndarray:
    """In which order the pictures come in an epoch."""
    return np.random.default_rng([seed, epoch]).permutation(n_images)
