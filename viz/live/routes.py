"""What the app serves beside Streamlit: plotly.js, the kit's modules, arrays, and answers of parts.

Arrays go out piece by piece, so a browser loads what is looked at. Nothing of a visitor is
reachable without the id of an array or the key of what answers, and nothing is for other origins.

The server answers only after this is imported, so nothing here may import torch.
"""

import json
from functools import cache
from typing import Any

import numpy as np
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import Route

from model.lines import one_line
from viz.kit.files import (
    FIRST_MODULES,
    MODULES,
    PLOTLY,
    RECORDED,
    component_style,
    folder_of,
    served_files,
)
from viz.kit.join import gathered
from viz.kit.part import answer, page_for, piece
from viz.live import store

# Compressing for a browser on the same machine costs more than it saves; no stale code after an
# update.
HEADERS = {"Content-Encoding": "identity", "Cache-Control": "no-cache"}
MEDIA_TYPES = {".js": "text/javascript", ".css": "text/css", ".html": "text/html"}
SERVED = served_files(MEDIA_TYPES)
OPENING = "live/opening/opening.js"
MOST_ASKED = 65_536  # bytes of a question


def _not_found(what: str) -> Response:
    return PlainTextResponse(f"no such {what}", status_code=404)


def _let_go() -> Response:
    """An array is gone, or never was: the browser has the page run again. What answers goes with
    the run of the page that it was of; the browser may not have heard of the next one yet.

    That is no fault, so it is no 404, which a browser's console would list as one.
    """
    return Response(status_code=204)


async def _answer(request: Request) -> Response:
    """What a part asks between two runs of its page: a run for each question would take longer."""
    answers = store.answers(request.path_params["key"])
    asked = await _asked(request)
    if answers is None:
        return _let_go()
    if asked is None:
        return PlainTextResponse("what is asked is a short JSON object", status_code=400)
    try:
        found = await run_in_threadpool(answer, answers, asked)
    except ValueError as error:
        return PlainTextResponse(one_line(str(error)), status_code=400)
    return Response(found, media_type="application/octet-stream", headers=HEADERS)


async def _asked(request: Request) -> dict[str, Any] | None:
    """The JSON object of a request, or None for anything else or longer."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > MOST_ASKED:
            return None
    try:
        asked = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return asked if isinstance(asked, dict) else None


async def _array(request: Request) -> Response:
    """An array of a part, or a piece of one; what one id names never changes.

    What is there is sent at once, as a file is; what must be worked out takes a thread.
    """
    name, *at = request.path_params["path"].split("/")
    array = store.array(name)
    if array is None:
        return _let_go()
    try:
        is_there = isinstance(array, np.ndarray)
        data = piece(array, at) if is_there else await run_in_threadpool(piece, array, at)
    except LookupError:
        return _not_found("array")
    headers = {**HEADERS, "Cache-Control": "private, max-age=31536000, immutable"}
    return Response(data, media_type="application/octet-stream", headers=headers)


async def _asked_for(request: Request) -> Response:
    """Nothing: a browser names its page's site with a POST, and the guard refuses a stranger's."""
    return Response(status_code=204)


def _plotly(request: Request) -> Response:
    return FileResponse(PLOTLY, media_type="text/javascript", headers=HEADERS)


async def _style(request: Request) -> Response:
    return Response(component_style(), media_type="text/css", headers=HEADERS)


def _saved(request: Request) -> Response:
    """A page for a part by its name, into which a browser fills what it has loaded."""
    name = request.path_params["name"]
    if f"kit/parts/{name}.js" not in SERVED:
        return _not_found("part")
    return Response(page_for(name), media_type="text/html", headers=HEADERS)


async def _recorded(request: Request) -> Response:
    return FileResponse(RECORDED, media_type="application/json", headers=HEADERS)


@cache
def _recorded_first() -> str:
    """What the browser loads before anything of Streamlit's: a recorded run, and what plays it."""
    first = "".join(f'<link rel="modulepreload" href="./{name}" />' for name in gathered(OPENING))
    data = "".join(
        f'<link rel="preload" as="fetch" crossorigin href="./live/{name}" />'
        for name in ("opening/run.json", "live.css")
    )
    return f'{data}{first}<script type="module" async src="./{OPENING}"></script>'


@cache
def _opening_page(is_home: bool) -> bytes:
    """Streamlit's own page with our style sheet, and what loads before there is anything to show.

    Sent later, all would jump to the style sheet. It stands last, so that it counts where
    Streamlit's own rules are as specific; our script stands after Streamlit's, which first asks for
    a session. A browser that translates the page puts <font> in place of texts, and React goes on
    with those it made, out of sight: only what is not React's says that it may be translated.
    """
    page = (folder_of("streamlit") / "static" / "index.html").read_text(encoding="utf-8")
    first = "".join(f'<link rel="modulepreload" href="./{name}" />' for name in FIRST_MODULES)
    later = " ".join(name for name in MODULES if name not in FIRST_MODULES)
    sheets = ("kit/controls.css", "kit/looks.css", "live/page.css")
    style = "".join(f'<link rel="stylesheet" href="./{name}" />' for name in sheets)
    early = f'<script type="module" src="./live/early.js" data-later="{later}"></script>'
    refused = '<script defer src="./live/refused.js"></script>'
    if is_home:
        page = page.replace("<head>", f"<head>{_recorded_first()}", 1)
    before, end, after = page.rpartition("</body>")
    before = before.replace("<body", '<body translate="no"', 1)
    return f"{before}{style}{refused}{first}{early}{end}{after}".encode()


async def _opening(request: Request) -> Response:
    is_home = request.url.query in ("", "page=Home") and RECORDED.exists()
    return Response(_opening_page(is_home), media_type="text/html", headers=HEADERS)


async def _file(request: Request) -> Response:
    """One of the component's own files: scripts, styles and the page, never its Python.

    Read at once: a page asks for some forty, and a thread for each costs more than reading it.
    """
    path = SERVED.get(request.url.path.removeprefix("/"))
    if path is None:
        return _not_found("file")
    return Response(path.read_bytes(), media_type=MEDIA_TYPES[path.suffix], headers=HEADERS)


ROUTES = [
    Route("/", _opening),
    Route("/live/asked", _asked_for, methods=["POST"]),
    Route("/live/plotly.min.js", _plotly),
    Route("/live/live.css", _style),
    Route("/live/opening/run.json", _recorded),
    Route("/live/{name:path}", _file),
    Route("/kit/arrays/{path:path}", _array),
    Route("/kit/answers/{key}", _answer, methods=["POST"]),
    Route("/kit/saved/{name}.html", _saved),
    Route("/kit/{name:path}", _file),
]
