"""What words on the right are worth: a decoder's loss less an encoder's, of the same tokens."""

from collections.abc import Sequence
from dataclasses import dataclass

from model.verify.independent import IndependentRun
from model.verify.named import Made, Named
from model.verify.texts import Vocabulary


@dataclass(frozen=True, eq=False)
class IndependentGain(Named):
    """A decoder and an encoder, each on a text whose first n tokens are the same.

    Asked for by address: right.gained.n, the loss of all these tokens but the first, by the
    decoder less by the encoder, each of whose tokens is hidden by itself.
    """

    encoder: IndependentRun
    decoder: IndependentRun
    n: int

    @property
    def words(self) -> Vocabulary:
        """See `Named`."""
        return self.encoder.vocabulary

    @property
    def row(self) -> Sequence[int]:
        """See `Named`."""
        return self.encoder.array("encoder.ids").tolist()

    def made(self) -> Made:
        """See `Named`."""
        own, other = f"pseudo.total.{self.n}", f"before.total.{self.n}"
        return {
            f"right.gained.{self.n}": lambda: self.decoder.array(other) - self.encoder.array(own)
        }
