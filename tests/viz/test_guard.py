"""Protects the door: who may speak to the app, and that a refused request reaches nothing."""

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocket, WebSocketDisconnect

from viz.guard import LOCAL_HOSTS, Access, Guard, access_from

reached: list[str] = []


async def page(request: Request) -> PlainTextResponse:
    reached.append(request.url.path)
    return PlainTextResponse(request.headers.get("origin", "inside"))


async def socket(websocket: WebSocket) -> None:
    reached.append(websocket.url.path)
    await websocket.accept()
    await websocket.send_text("inside")
    await websocket.close()


async def late(websocket: WebSocket) -> None:
    """Closes what is closed already, as Streamlit does where a person left in the meantime."""
    await websocket.accept()
    await websocket.close()
    reached.append("closed")
    await websocket.close()


def client_of(access: Access) -> TestClient:
    """A client of a small app behind the guard; `reached` says what got to the app."""
    reached.clear()
    sockets = [WebSocketRoute("/socket", socket), WebSocketRoute("/late", late)]
    routes = [*sockets, Route("/{path:path}", page)]
    app = Starlette(routes=routes, middleware=[Middleware(Guard, access=access)])
    return TestClient(app, base_url="http://localhost:8501")


def says_inside(client: TestClient, headers: dict[str, str]) -> set[bool]:
    """Whether HTTP and WebSocket let these headers through."""
    http = client.get("/any/path", headers=headers).status_code == 200
    try:
        with client.websocket_connect("/socket", headers=headers) as connection:
            websocket = connection.receive_text() == "inside"
    except WebSocketDisconnect:
        websocket = False
    return {http, websocket}


OWN = [
    {"host": "localhost:8501"},
    {"host": "localhost"},
    {"host": "LOCALHOST:8501"},
    {"host": "127.0.0.1:8501", "origin": "http://127.0.0.1:8501"},
    {"host": "[::1]:8501", "origin": "http://[::1]:8501"},
    {"host": "localhost:8501", "origin": "http://localhost:8501"},
    {"host": "localhost", "origin": "https://localhost"},
]
STRANGERS = [
    {"host": "evil.example"},
    {"host": "evil.example:8501", "origin": "http://evil.example:8501"},
    {"host": "localhost.evil.example"},
    {"host": "evil.example@localhost"},
    {"host": "localhost@evil.example"},
    {"host": "localhost/evil"},
    {"host": "localhost:8501:1"},
    {"host": "localhost:port"},
    {"host": "localhost."},
    {"host": " "},
    {"host": ""},
    {"host": "192.168.1.4:8501"},
    {"host": "0.0.0.0:8501"},
    {"host": "[::]:8501"},
    {"host": "localhost:8501", "origin": "http://evil.example"},
    {"host": "localhost:8501", "origin": "https://evil.example:8501"},
    {"host": "localhost:8501", "origin": "http://localhost:3000"},
    {"host": "localhost:8501", "origin": "http://LOCALHOST:8501"},
    {"host": "localhost:8501", "origin": "http://localhost:8501@evil.example"},
    {"host": "localhost:8501", "origin": "http://evil.example@localhost:8501"},
    {"host": "localhost:8501", "origin": "null"},
    {"host": "localhost:8501", "origin": ""},
    {"host": "localhost:8501", "origin": "file://localhost:8501"},
    {"host": "localhost:8501", "origin": "http://[localhost:8501"},
]


@pytest.mark.parametrize("headers", OWN, ids=str)
def test_own_pages_are_let_in(headers: dict[str, str]) -> None:
    assert says_inside(client_of(Access()), headers) == {True}
    assert reached == ["/any/path", "/socket"]


@pytest.mark.parametrize("headers", STRANGERS, ids=str)
def test_strangers_reach_nothing(headers: dict[str, str]) -> None:
    client = client_of(Access())
    assert says_inside(client, headers) == {False}
    assert client.get("/", headers=headers).status_code == 403
    assert client.post("/_stcore/agent/mcp", headers=headers).status_code == 403
    assert reached == []


def test_two_hosts_or_a_second_origin_are_refused() -> None:
    client = client_of(Access())
    for name, values in (
        ("host", ("localhost:8501", "evil.example")),
        ("origin", ("http://localhost:8501", "http://evil.example")),
    ):
        own = [] if name == "host" else [("host", "localhost:8501")]
        headers = [*own, *((name, value) for value in values)]
        assert client.get("/", headers=headers).status_code == 403, name  # pyright: ignore
    assert reached == []


def test_a_refusal_is_one_short_line_of_text() -> None:
    client = client_of(Access())
    answer = client.get("/", headers={"host": "a" * 5000})
    assert len(answer.text) < 400
    assert "\n" not in answer.text
    assert answer.headers["content-type"].startswith("text/plain")
    assert "HEADLIGHT_HOSTS" in answer.text


def test_the_environment_names_more_hosts() -> None:
    access = access_from({"HEADLIGHT_HOSTS": "Lab.School.example, 192.168.1.4 [fe80::1]"}, None)
    client = client_of(access)
    assert access.hosts >= LOCAL_HOSTS | {"lab.school.example", "192.168.1.4", "[fe80::1]"}
    for host in ("lab.school.example", "192.168.1.4:8501", "[fe80::1]:80"):
        assert says_inside(client, {"host": host, "origin": f"http://{host}"}) == {True}
    assert says_inside(client, {"host": "school.example"}) == {False}


@pytest.mark.parametrize("host", ["localhost:8501", "localhost", "x-8501.app.example"])
@pytest.mark.parametrize("port", ["", ":8443"])
def test_a_proxy_may_hand_on_what_came_under_a_name_that_was_told(host: str, port: str) -> None:
    headers = {"host": host, "origin": f"https://x-8501.app.example{port}"}
    told = access_from({"HEADLIGHT_HOSTS": "x-8501.app.example"}, None)
    assert says_inside(client_of(told), headers) == {True}
    answer = client_of(told).get("/", headers=headers).text
    assert answer == f"http://{host}", "another, Streamlit would look up at machines outside"
    for access, origin in (
        (Access(), headers["origin"]),
        (told, "http://localhost:3000"),
        (told, "https://x-8501.app.example.evil"),
        (told, "https://x-8501.app.example@evil.example"),
    ):
        refused = headers | {"origin": origin}
        assert says_inside(client_of(access), refused) == {False}, refused
    if host in LOCAL_HOSTS:
        assert headers["origin"] in client_of(Access()).get("/", headers=headers).text


@pytest.mark.parametrize(
    ("address", "added"),
    [
        (None, set()),
        ("localhost", set()),
        ("0.0.0.0", set()),
        ("::", set()),
        ("192.168.1.4", {"192.168.1.4"}),
        ("fe80::1", {"[fe80::1]"}),
    ],
)
def test_the_address_it_was_started_at_is_a_host(address: str | None, added: set[str]) -> None:
    assert access_from({}, address).hosts == LOCAL_HOSTS | added


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("HEADLIGHT_HOSTS", "*"),
        ("HEADLIGHT_HOSTS", "http://lab.example"),
        ("HEADLIGHT_HOSTS", "lab.example:8501"),
        ("HEADLIGHT_HOSTS", "lab.example/path"),
        ("HEADLIGHT_EMBED_IN", "*"),
        ("HEADLIGHT_EMBED_IN", "moodle.example"),
        ("HEADLIGHT_EMBED_IN", "https://moodle.example; script-src *"),
        ("HEADLIGHT_EMBED_IN", "javascript:alert(1)"),
    ],
)
def test_a_wrong_entry_is_named(variable: str, value: str) -> None:
    with pytest.raises(ValueError, match=variable) as caught:
        access_from({variable: value}, None)
    assert "\n" not in str(caught.value)


def test_every_answer_carries_the_headers() -> None:
    access = access_from({"HEADLIGHT_EMBED_IN": "https://moodle.example"}, None)
    client = client_of(access)
    for answer in (client.get("/"), client.get("/", headers={"host": "evil.example"})):
        policy = dict(
            part.split(" ", 1) for part in answer.headers["content-security-policy"].split("; ")
        )
        assert policy["frame-ancestors"] == "'self' https://moodle.example"
        assert policy["object-src"] == "'none'"
        assert "'sha256-" in policy["script-src"]
        assert not any(
            "*" in of or "http:" in of or "unsafe-inline" in of
            for name, of in policy.items()
            if name != "style-src"
        )
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
    frames = client_of(Access()).get("/").headers["content-security-policy"]
    assert "frame-ancestors 'self'" in frames
    assert "moodle" not in frames


def test_metrics_are_closed_unless_asked_for() -> None:
    for path in ("/_stcore/metrics", "/_stcore/metrics/"):
        assert client_of(Access()).get(path).status_code == 403
        assert reached == []
    client = client_of(access_from({"HEADLIGHT_METRICS": "1"}, None))
    assert client.get("/_stcore/metrics").status_code == 200


def test_files_come_from_the_own_machine_alone() -> None:
    path = "/_stcore/upload_file/a/b"
    assert client_of(Access()).get(path).status_code == 200
    reached.clear()
    for shared in (
        access_from({"HEADLIGHT_HOSTS": "school.example"}, None),
        access_from({}, "192.168.1.20"),
    ):
        assert client_of(shared).put(path).status_code == 403
    stranger = {"Host": "localhost", "Origin": "http://evil.example"}
    assert client_of(Access()).put(path, headers=stranger).status_code == 403
    assert reached == []


def test_who_leaves_early_is_no_error() -> None:
    """The server would log every such person with a traceback of a hundred lines."""
    client = client_of(Access())
    late_one = client.websocket_connect("/late", headers=OWN[0])
    with late_one as websocket, pytest.raises(WebSocketDisconnect):
        websocket.receive_text()
    assert reached == ["closed"]
