"""What the app serves beside Streamlit: plotly.js, the component's modules, and arrays of a trace.

Arrays go out as safetensors, one head at a time, so a browser loads what is looked at. Nothing here
is reachable without the key of a trace, and nothing is for other origins.

The server answers only after this is imported, so nothing here may import torch at the top.
"""

import re
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from viz.live import store
from viz.live.arrays import encoded, head_arrays

FOLDER = Path(__file__).parent
PLOTLY = Path(find_spec("plotly").origin).parent / "package_data" / "plotly.min.js"
# Compressing for a browser on the same machine costs more than it saves; no stale code after an
# update.
HEADERS = {"Content-Encoding": "identity", "Cache-Control": "no-cache"}
# The microscope's modules, each after those it imports; a saved page has them in this order.
MODULES = [
    "maths", "arrays", "conversation", "dom", "colors", "plots", "operands", "overview", "exports",
    "views/shared", "views/map", "views/lines", "views/sentence", "views/whatif", "views/compare",
    "views/summary", "microscope", "offline",
]  # fmt: skip
SHORT_NUMBER = re.compile(r"[0-9]{1,6}")
IMPORT = re.compile(r"^import\b[^;]*;\n", re.MULTILINE)


def offline_program() -> str:
    """The modules as one script that needs no server: imports and exports taken away."""
    sources = ((FOLDER / f"{name}.js").read_text(encoding="utf-8") for name in MODULES)
    bodies = (re.sub(r"^export ", "", IMPORT.sub("", text), flags=re.MULTILINE) for text in sources)
    return f"const HeadlightOffline = (() => {{\n{''.join(bodies)}return {{ open }};\n}})();\n"


def _arrays_response(arrays: dict[str, np.ndarray]) -> Response:
    return Response(encoded(arrays), media_type="application/octet-stream", headers=HEADERS)


def _number(text: str) -> int:
    """A layer or head number; what is none is larger than any."""
    return int(text) if SHORT_NUMBER.fullmatch(text) else sys.maxsize


def _head(request: Request) -> Response:
    layer, head = (_number(request.path_params[name]) for name in ("layer", "head"))
    trace = store.get(request.path_params["key"])
    if trace is None or layer >= len(trace.attention) or head >= len(trace.attention[layer].q):
        return PlainTextResponse("no such head", status_code=404)
    return _arrays_response(head_arrays(trace.attention[layer], head))


def _summary(request: Request) -> Response:
    from model.analysis.summary import summarise_patterns  # brings torch

    trace = store.get(request.path_params["key"])
    if trace is None:
        return PlainTextResponse("no such trace", status_code=404)
    patterns = np.stack([record.pattern for record in trace.attention])
    how, over = (request.path_params[name] for name in ("how", "over"))
    index = _number(request.path_params["index"])
    try:
        return _arrays_response({"pattern": summarise_patterns(patterns, how, over, index)})
    except ValueError as error:
        return PlainTextResponse(str(error), status_code=404)


def _plotly(request: Request) -> Response:
    return FileResponse(PLOTLY, media_type="text/javascript", headers=HEADERS)


def _offline(request: Request) -> Response:
    return Response(offline_program(), media_type="text/javascript", headers=HEADERS)


class _Modules(StaticFiles):
    """The component's own files: scripts, style and page, never its Python."""

    SERVED = (".js", ".css", ".html")

    def file_response(self, full_path: str | Path, *rest: object, **named: object) -> Response:
        if Path(full_path).suffix not in self.SERVED:
            return PlainTextResponse("not found", status_code=404)
        response = super().file_response(full_path, *rest, **named)
        response.headers.update(HEADERS)
        return response


ROUTES = [
    Route("/live/plotly.min.js", _plotly),
    Route("/live/program.js", _offline),
    Route("/live/arrays/{key}/head/{layer}/{head}", _head),
    Route("/live/arrays/{key}/{how}/{over}/{index}", _summary),
    Mount("/live", _Modules(directory=FOLDER)),
]
