"""Parts in notebooks, where anywidget is installed: its model carries what other hosts carry."""

import io
import zlib
from base64 import b64encode
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
from PIL import Image, ImageColor

from model.lines import one_line
from viz.kit.files import PLOTLY, packed_plotly, part_style
from viz.kit.join import joined
from viz.kit.part import Part, answer, piece
from viz.kit.tiles import MASKED, ZERO, tile_weights, tiles
from viz.theme import LIGHT, along, weight_shares

try:
    import anywidget
    import traitlets
    from IPython import display as ipython
except ModuleNotFoundError as error:
    message = f"{error.name} is not installed; a notebook needs it: pip install anywidget"
    raise ModuleNotFoundError(message, name=error.name) from error

OPENS = """export default async () => {
  const [{ host }, part] = await Promise.all(%s.map((name) => import(urls[name])));
  return host(part.default);
};
"""


AHEAD = 'export default async () => import(urls["kit/hosts/jupyter.js"]);'


class PartWidget(anywidget.AnyWidget):
    """The wire: what Python says goes as traits, what a person chose and asks for as messages."""

    spec = traitlets.Dict().tag(sync=True)
    settings = traitlets.Dict().tag(sync=True)
    arrays = traitlets.Dict().tag(sync=True)
    themes = traitlets.Dict().tag(sync=True)
    asks = traitlets.Bool().tag(sync=True)
    acked = traitlets.Dict().tag(sync=True)  # the turn taken over of each view

    def __init__(self, part: Part) -> None:
        super().__init__(**part.told)
        self.part = part
        self.on_msg(self._hear)

    def __repr__(self) -> str:
        """What stands below the still of a notebook that is opened again and not run."""
        return f"<{self.part.name}>"

    def _hear(self, _: object, message: dict[str, Any], __: object) -> None:
        """In a thread of its own where the kernel has subshells (ipykernel 7)."""
        if "sent" in message:
            self._take_over(**message["sent"])
        elif "id" in message:
            self._answer(**message)

    def _answer(self, id: str, path: str = "", question: Mapping[str, Any] | None = None) -> None:
        """Send an array, or what the part answers; or why not, in words."""
        try:
            if question is None:
                self.send({"id": id}, [self._packed(*path.split("/"))])
            elif self.part.answers is not None:
                self.send({"id": id}, [zlib.compress(answer(self.part.answers, question), 1)])
        except LookupError:
            self.send({"id": id, "error": "There is no such array"})
        except ValueError as error:
            self.send({"id": id, "error": one_line(str(error))})

    def _packed(self, name: str, *at: str) -> bytes:
        """What is asked for, deflated: much of a pattern is masked."""
        if name == PLOTLY.name:
            return packed_plotly()
        return zlib.compress(piece(self.part.by_id[name], at), 1)

    def _take_over(self, by: str, turn: int, changes: dict[str, Any]) -> None:
        known = {name: value for name, value in changes.items() if name in self.settings}
        with self.hold_sync():
            self.settings = {**self.settings, **known}
            self.acked = {**self.acked, by: turn}


@cache
def _kind(name: str) -> type[PartWidget]:
    """A class for each kind of part: its code is sent once for each of its widgets."""
    modules = ["kit/hosts/jupyter.js", f"kit/parts/{name}.js"]
    text = joined(modules, OPENS % modules)
    return type(f"{name.title()}Widget", (PartWidget,), {"_esm": text, "_css": part_style(name)})


def widget(part: Part) -> PartWidget:
    """A widget that shows a part; `settings` is what is chosen in it now."""
    return _kind(part.name)(part)


def prepare() -> PartWidget:
    """Have the page of a notebook load plotly.js, before there is a picture; nothing is shown."""
    text = joined(["kit/hosts/jupyter.js"], AHEAD)
    return type("AheadWidget", (PartWidget,), {"_esm": text})(Part("ahead", {}, {}))


def display(part: Part) -> None:
    """Show a part, under a still picture that its widget hides.

    Of a notebook that is opened again and not run, JupyterLab shows "Loading widget…" even where
    that output holds something else it could show. An output of its own stays.
    """
    ipython.display(ipython.HTML(still(part)))
    ipython.display(widget(part))


def still(part: Part) -> str:
    """What is left of a part where nothing runs: all heads as small maps, as HTML."""
    levels = _small_maps(part)
    if levels is None:
        return '<p class="hl-still">Run the cell for the live view.</p>'
    levels = np.where(levels > ZERO, levels | 7, levels)  # 32 colours, for half of the bytes
    framed = np.pad(levels, [(0, 0)] * (levels.ndim - 2) + [(0, 2), (0, 2)])
    image = Image.fromarray(np.concatenate(np.concatenate(framed, axis=1), axis=1))
    image.putpalette(_colors().tobytes())
    file = io.BytesIO()
    image.resize((2 * image.width, 2 * image.height), Image.Resampling.NEAREST).save(file, "png")
    source = f"data:image/png;base64,{b64encode(file.getvalue()).decode()}"
    words = "A still picture; run the cell for the live one."
    return f'<figure class="hl-still">{words}<br><img alt="All heads" src="{source}"></figure>'


def _small_maps(part: Part) -> np.ndarray | None:
    """Maps of all heads of a part, (L, H, rows, columns) uint8: its own, or of its patterns."""
    own = next((of for name, of in part.shared.items() if name.endswith("tiles")), None)
    if own is not None or "pattern" not in part.shared:
        return own and own.array
    pattern = part.shared["pattern"].array  # (L, H, T, T)
    small = tiles(pattern, part.shared["mask"].array[:, None])
    return small.reshape(*pattern.shape[:2], *small.shape[1:])


def _colors() -> np.ndarray:
    """Red, green and blue of each byte of a small map, (256, 3) uint8: 0 is the gap between two."""
    shares = weight_shares(tile_weights(np.arange(256)), LIGHT)
    scale = along(LIGHT.sequential, shares)
    scale[[0, MASKED]] = [(255, 255, 255), ImageColor.getrgb(LIGHT.masked)]
    return np.rint(scale).astype(np.uint8)
