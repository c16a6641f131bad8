"""What the app serves beside Streamlit: plotly.js, the component's modules, and arrays of a trace.

Arrays go out as safetensors, one head at a time, so a browser loads what is looked at. Nothing here
is reachable without the key of a trace, and nothing is for other origins.

The server answers only after this is imported, so nothing here may import torch.
"""

import re
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import Route

from model.trace import AttentionRecord, Trace
from viz.live import store
from viz.live.core.arrays import encoded, head_arrays, summary_arrays
from viz.live.files import component_style, served_files

# Compressing for a browser on the same machine costs more than it saves; no stale code after an
# update.
HEADERS = {"Content-Encoding": "identity", "Cache-Control": "no-cache"}
MEDIA_TYPES = {".js": "text/javascript", ".css": "text/css", ".html": "text/html"}
SERVED = served_files(MEDIA_TYPES)


def _folder_of(package: str) -> Path:
    """Where a package is; importing it would take a while."""
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"{package} is not installed: pip install -r requirements.txt")
    return Path(spec.origin).parent


PLOTLY = _folder_of("plotly") / "package_data" / "plotly.min.js"
SHORT_NUMBER = re.compile(r"[0-9]{1,6}")


def _arrays_response(arrays: dict[str, np.ndarray]) -> Response:
    return Response(encoded(arrays), media_type="application/octet-stream", headers=HEADERS)


def _not_found(what: str) -> Response:
    return PlainTextResponse(f"no such {what}", status_code=404)


def _number(text: str) -> int:
    """A layer or head number; what is none is larger than any."""
    return int(text) if SHORT_NUMBER.fullmatch(text) else sys.maxsize


def _record(trace: Trace | None, address: str) -> AttentionRecord | None:
    """The attention at an address, or None where there is none."""
    records = trace.attention if trace else ()
    return next((record for record in records if record.site.address == address), None)


def _head(request: Request) -> Response:
    record = _record(store.get(request.path_params["key"]), request.path_params["site"])
    head = _number(request.path_params["head"])
    if record is None or head >= record.n_heads:
        return _not_found("head")
    return _arrays_response(head_arrays(record, head))


def _summary(request: Request) -> Response:
    trace = store.get(request.path_params["key"])
    if trace is None:
        return _not_found("trace")
    how, over = (request.path_params[name] for name in ("how", "over"))
    index = _number(request.path_params["index"])
    try:
        group = trace.group(request.path_params["group"])
        return _arrays_response(summary_arrays(group, how, over, index))
    except ValueError as error:
        return PlainTextResponse(str(error), status_code=404)


def _plotly(request: Request) -> Response:
    return FileResponse(PLOTLY, media_type="text/javascript", headers=HEADERS)


async def _style(request: Request) -> Response:
    return Response(component_style(), media_type="text/css", headers=HEADERS)


async def _file(request: Request) -> Response:
    """One of the component's own files: scripts, styles and the page, never its Python.

    Read at once: a page asks for some forty, and a thread for each costs more than reading it.
    """
    path = SERVED.get(request.path_params["name"])
    if path is None:
        return _not_found("file")
    return Response(path.read_bytes(), media_type=MEDIA_TYPES[path.suffix], headers=HEADERS)


ROUTES = [
    Route("/live/plotly.min.js", _plotly),
    Route("/live/live.css", _style),
    Route("/live/arrays/{key}/head/{site}/{head}", _head),
    Route("/live/arrays/{key}/summary/{group}/{how}/{over}/{index}", _summary),
    Route("/live/{name:path}", _file),
]
