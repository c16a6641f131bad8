"""The setting that says which parts of a model are off, as an address has it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from model.analysis.ablation import EVERYTHING, part_of
from viz.frame.kinds import Setting

MOST_OFF = 400


@dataclass(frozen=True)
class Switched(Setting[tuple[str, ...]]):
    """Parts by their spellings, such as decoder.attn.3.4, with commas between them.

    `sizes` says what there is in this run: see `model.analysis.ablation.sizes_of`.
    """

    sizes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    @property
    def is_dragged(self) -> bool:
        """Each is a step of Back."""
        return False

    def nearest(self, raw: object) -> tuple[tuple[str, ...], str | None]:
        """Those that exist, each once; of the others the first is named."""
        several = raw if isinstance(raw, list | tuple) else str(raw or "").split(",")
        texts = [str(text) for text in several if str(text)][:MOST_OFF]
        if EVERYTHING in texts:
            return (EVERYTHING,), None
        known, lost = [], []
        for text in texts:
            try:
                known.append(part_of(text, self.sizes).text)
            except ValueError as error:
                lost.append(f"{self.label}: {error}.")
        return tuple(dict.fromkeys(known)), lost[0] if lost else None

    def text(self, value: tuple[str, ...]) -> str:
        """The spellings with commas between them."""
        return ",".join(value)
