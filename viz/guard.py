"""Who may speak to the app, and what a browser may do with its answers: a guard before Streamlit.

A page of another site can have a browser send requests to this machine, and can let a name of its
own lead here (DNS rebinding). Both show in the request's `Host` and `Origin`: they are looked at
before anything else is, so that a refused request runs no line of Streamlit or of the app.
"""

import re
from base64 import b64encode
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocketClose, WebSocketDisconnected

from model.lines import quoted

HOSTS_VARIABLE = "HEADLIGHT_HOSTS"
EMBED_VARIABLE = "HEADLIGHT_EMBED_IN"
METRICS_VARIABLE = "HEADLIGHT_METRICS"
VISITORS_VARIABLE = "HEADLIGHT_VISITORS"
MOST_VISITORS = 100
LOCAL_HOSTS = frozenset({"localhost", "127.0.0.1", "[::1]"})
WILDCARDS = frozenset({"", "0.0.0.0", "::"})  # noqa: S104, compared with, not listened on

HOST_NAME = re.compile(r"[a-z0-9]([a-z0-9._-]*[a-z0-9])?|\[[0-9a-f:.]+\]")
HOST_HEADER = re.compile(rf"({HOST_NAME.pattern})(:[0-9]{{1,5}})?", re.IGNORECASE)
SITE = re.compile(rf"https?://({HOST_NAME.pattern})(:[0-9]{{1,5}})?")

# What nobody from elsewhere needs: uploads would fill the memory, metrics tell of other visitors.
UPLOADS = "/_stcore/upload_file"
METRICS = "/_stcore/metrics"

INLINE_SCRIPT = re.compile(rb"<script>(.*?)</script>", re.DOTALL)

# Streamlit styles elements in place and runs a component's code from a blob; plotly.js compiles
# the shaders' helpers of its 3D charts. Nothing may be loaded from, or sent to, anywhere else.
POLICY = {
    "default-src": "'self'",
    "script-src": "'self' 'unsafe-eval' blob:",
    "style-src": "'self' 'unsafe-inline'",
    "img-src": "'self' data: blob:",
    "font-src": "'self' data:",
    "connect-src": "'self' blob: data:",
    "worker-src": "'self' blob:",
    "object-src": "'none'",
    "base-uri": "'self'",
    "form-action": "'none'",
}


@dataclass(frozen=True)
class Access:
    """The names the app answers to, the sites that may frame it, and who sees metrics."""

    hosts: frozenset[str] = LOCAL_HOSTS
    named: frozenset[str] = frozenset()  # those of them that a proxy may answer to, at any port
    embed_in: tuple[str, ...] = ()
    shows_metrics: bool = False

    @property
    def is_local(self) -> bool:
        """Whether only the person at this machine is here."""
        return self.hosts == LOCAL_HOSTS

    @property
    def headers(self) -> dict[str, str]:
        """What every answer says to the browser about itself."""
        policy = POLICY | {
            "script-src": " ".join((POLICY["script-src"], *_inline_scripts())),
            "frame-ancestors": " ".join(("'self'", *self.embed_in)),
        }
        return {
            "Content-Security-Policy": "; ".join(f"{name} {of}" for name, of in policy.items()),
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
            "Cross-Origin-Resource-Policy": "same-origin",
        }


@cache
def _inline_scripts() -> tuple[str, ...]:
    """What allows the scripts that stand in Streamlit's own page, and no other, by their hash."""
    spec = find_spec("streamlit")
    if spec is None or spec.origin is None:
        return ()
    page = Path(spec.origin).parent / "static" / "index.html"
    scripts = INLINE_SCRIPT.findall(page.read_bytes())
    return tuple(f"'sha256-{b64encode(sha256(script).digest()).decode()}'" for script in scripts)


def access_from(environment: Mapping[str, str], address: str | None) -> Access:
    """What the environment and the server's own address say about access.

    HEADLIGHT_HOSTS: more names, as in "headlight.school.example, 192.168.1.20".
    HEADLIGHT_EMBED_IN: sites that may embed the app, as in "https://moodle.school.example".
    HEADLIGHT_METRICS: "1" opens Streamlit's /_stcore/metrics.
    ValueError names the entry that is none of these.
    """
    named = _entries(environment, HOSTS_VARIABLE, HOST_NAME, "a name without scheme or port")
    sites = _entries(environment, EMBED_VARIABLE, SITE, "a site: scheme and host, no path")
    own = set() if (address or "") in WILDCARDS else {_bracketed(str(address).lower())}
    hosts = LOCAL_HOSTS | set(named) | own
    return Access(hosts, frozenset(named), sites, environment.get(METRICS_VARIABLE) == "1")


def most_visitors(environment: Mapping[str, str]) -> int:
    """How many may be here at once, by HEADLIGHT_VISITORS; ValueError where that is no count."""
    given = environment.get(VISITORS_VARIABLE, str(MOST_VISITORS))
    if not re.fullmatch("[1-9][0-9]{0,8}", given):
        raise ValueError(
            f"{VISITORS_VARIABLE} is {quoted(given)!r}; it must be a whole number above 0"
        )
    return int(given)


def _bracketed(address: str) -> str:
    """An IPv6 address as it stands in a Host header."""
    return f"[{address}]" if ":" in address and not address.startswith("[") else address


def _entries(
    environment: Mapping[str, str], variable: str, wanted: re.Pattern[str], what: str
) -> tuple[str, ...]:
    entries = tuple(re.split(r"[\s,]+", environment.get(variable, "").strip().lower()))
    entries = tuple(entry for entry in entries if entry)
    for entry in entries:
        if not wanted.fullmatch(entry):
            raise ValueError(f"{variable} has {quoted(entry)!r}, which is not {what}")
    return entries


class Guard:
    """ASGI middleware: refuses strangers with 403, and adds its headers to every answer."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self.app, self.access = app, access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or answer it here."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        refusal = refusal_of(Headers(scope=scope), self.access) or _closed(scope, self.access)
        if refusal is None:
            _rename_origin(scope)
            # Streamlit answers who left before it noticed: that is no error of the app.
            with suppress(WebSocketDisconnected):
                await self.app(scope, receive, self._with_headers(send))
        elif scope["type"] == "websocket":
            await WebSocketClose(code=1008, reason="refused")(scope, receive, send)
        else:
            response = PlainTextResponse(refusal, status_code=403)
            await response(scope, receive, self._with_headers(send))

    def _with_headers(self, send: Send) -> Send:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(self.access.headers)
            await send(message)

        return send_with_headers


def refusal_of(headers: Headers, access: Access) -> str | None:
    """Why these headers are a stranger's, in one line; None for one who may speak.

    The origin is the host letter for letter, or of a name that the environment has: what a proxy
    answers to, which hands requests on under the host's own name, or without its port.
    """
    hosts, origins = headers.getlist("host"), headers.getlist("origin")
    if len(hosts) != 1 or not (found := HOST_HEADER.fullmatch(hosts[0])):
        return "Headlight needs one Host header that names it."
    if found[1].lower() not in access.hosts:
        return (
            f"Headlight does not answer to the name {quoted(found[1])}. "
            f"Whoever runs it can allow the name by starting it with {HOSTS_VARIABLE}=NAME."
        )
    for origin in origins:
        site = SITE.fullmatch(origin)
        if site is None or (origin.partition("//")[2] != hosts[0] and site[1] not in access.named):
            name = site[1] if site else "NAME"
            return (
                f"This page was opened as {quoted(origin)}, which Headlight does not answer to. "
                f"Whoever runs it can allow the name by starting it with {HOSTS_VARIABLE}={name}."
            )
    return None


def _rename_origin(scope: Scope) -> None:
    """An origin that is let in becomes the host's: what differs, Streamlit would look up."""
    headers = MutableHeaders(scope=scope)
    if "origin" in headers:
        headers["origin"] = f"http://{headers['host']}"


def _closed(scope: Scope, access: Access) -> str | None:
    """Why nobody may use this path, in one line; None for one that is open."""
    path = scope["path"].rstrip("/")
    if path.startswith(UPLOADS) and not access.is_local:
        return "Headlight takes files from the person at its own machine alone."
    if path == METRICS and not access.shows_metrics:
        return f"Metrics are closed; {METRICS_VARIABLE}=1 opens them."
    return None
