"""Protects what the app hands to browsers: the arrays of a head as they ran, and nothing else."""

import gc
import http.client
import json
import re
import weakref
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import plotly
import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from model.trace import Trace
from tests.model.builders import GROUPED, tiny_model, tiny_trace
from viz.kit import files
from viz.kit.part import Part
from viz.kit.parts.attention import attention_part
from viz.live import routes, store

INSTALLED_PLOTLY = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"
SERVED = {
    "/live/main.js": "live/main.js",
    "/kit/maths.js": "kit/maths.js",
    "/kit/parts/attention/views/map.js": "kit/parts/attention/views/map.js",
    "/kit/kit.css": "kit/kit.css",
    "/kit/hosts/page.html": "kit/hosts/page.html",
}
OUTSIDE = [
    "/live/routes.py",
    "/live/component.py",
    "/live/__init__.py",
    "/kit/parts/attention.py",
    "/kit/parts/attention/views",
    "/live/",
    "/live/main",
    "/live/nothing.js",
    "/live/../ui.py",
    "/live/%2e%2e/ui.py",
    "/live/..%2fui.py",
    "/live/%2e%2e%2fui.py",
    "/kit/%2e%2e/live/routes.py",
    "/live/%2e%2e/%2e%2e/README.md",
    "/live/%2e%2e/%2e%2e/.streamlit/config.toml",
    "/live//etc/hostname",
    "/live/%2fetc%2fhostname",
    "/live/main.js%00.py",
    "/live/main.js/..%2froutes.py",
]


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    """The routes beside Streamlit, without Streamlit."""
    with TestClient(Starlette(routes=routes.ROUTES), raise_server_exceptions=False) as client:
        yield client


def offered() -> tuple[Part, Trace]:
    """A part of a run of 2 layers whose arrays are in the store. The caller must keep the trace."""
    trace = tiny_trace(tiny_model(position="alibi", **GROUPED))
    part = attention_part(trace)
    store.share(part.by_id)
    return part, trace


def test_every_array_of_a_run_is_had_piece_by_piece(client: TestClient) -> None:
    part, _kept = offered()
    for name, shared in part.shared.items():
        for at in shared.pieces():
            response = client.get("/".join(("/kit/arrays", shared.about["id"], *map(str, at))))
            assert response.status_code == 200, name
            assert response.content == shared.array[at].tobytes(), name


@pytest.mark.parametrize(
    "at", ["2", "-1", "99999999999999999999", "1.5", "", "0/0/0/0/0", "x", "²"]
)
def test_what_does_not_exist_is_not_found(at: str, client: TestClient) -> None:
    part, _kept = offered()
    for name in ("decoder.blocks.0.attn.k", "decoder.attn.mean.layer"):
        address = f"/kit/arrays/{part.known[name]['id']}"
        assert client.get(f"{address}/{at}").status_code == 404, name
        assert client.get(f"{address}/1").status_code == 200, name


def test_without_its_id_there_is_nothing(client: TestClient) -> None:
    part, _kept = offered()
    key = part.known["decoder.blocks.0.attn.q"]["id"]
    assert len(key) >= 32
    for wrong in ("nonsense", "0" * 32, key[:-1], key + "0", key.upper() + "x", "%2e%2e", "*"):
        answer = client.get(f"/kit/arrays/{wrong}/0")
        assert (answer.status_code, answer.content) in ((204, b""), (404, b"Not Found")), wrong


def test_a_dropped_run_is_gone(client: TestClient) -> None:
    """The store, what is kept of a run and an answered request keep nothing alive."""
    part, trace = offered()
    addresses = [f"/kit/arrays/{shared.about['id']}/0" for shared in part.shared.values()]
    assert client.get(addresses[1]).status_code == 200
    alive = weakref.ref(trace)
    del part, trace
    gc.collect()
    assert alive() is None
    assert {client.get(at).status_code for at in addresses} == {204}  # a console would list a 404


@pytest.mark.parametrize("address", SERVED)
def test_modules_are_served_as_they_are(address: str, client: TestClient) -> None:
    response = client.get(address)
    assert response.status_code == 200
    assert response.content == (files.VIZ / SERVED[address]).read_bytes()
    kinds = {".js": "javascript", ".css": "text/css", ".html": "text/html"}
    assert kinds[Path(address).suffix] in response.headers["content-type"]


@pytest.mark.parametrize("address", OUTSIDE)
def test_nothing_else_is_served(address: str, client: TestClient) -> None:
    response = client.get(address)
    assert response.status_code == 404
    assert b"import" not in response.content


def test_no_python_file_is_served_under_any_name(client: TestClient) -> None:
    paths = [path for name in files.FOLDERS for path in (files.VIZ / name).rglob("*.py*")]
    assert files.VIZ / "live/routes.py" in paths
    for path in paths:
        name = path.relative_to(files.VIZ).as_posix()
        assert client.get(f"/{name}").status_code == 404, name


def test_plotly_is_the_installed_one(client: TestClient) -> None:
    response = client.get("/live/plotly.min.js")
    assert response.content == INSTALLED_PLOTLY.read_bytes()
    assert "javascript" in response.headers["content-type"]


def test_the_style_is_that_of_all_instruments(client: TestClient) -> None:
    response = client.get("/live/live.css")
    assert response.text == files.component_style()
    assert "text/css" in response.headers["content-type"]
    sheets = {*(files.VIZ / "kit").rglob("*.css"), *(files.VIZ / "live").glob("*/*.css")}
    assert len(sheets) == 17
    assert all(sheet.read_text(encoding="utf-8") in response.text for sheet in sheets)
    assert response.text.startswith((files.VIZ / "kit/kit.css").read_text(encoding="utf-8"))


def test_no_two_style_sheets_style_one_class() -> None:
    """A bare class counts in the whole page; in the scope of an instrument, beside the kit's."""
    all_of_them, bare, scoped = files.component_style(), {}, {}
    for path in set(files.VIZ.rglob("*.css")) - {files.VIZ / "live/presenting.css"}:  # over all
        sheet = re.sub(r"/\*.*?\*/", "", text := path.read_text(encoding="utf-8"), flags=re.DOTALL)
        is_scoped = f'[data-part="{path.stem}"] {{\n{text}}}' in all_of_them
        if is_scoped:
            assert not re.search(r"@keyframes|\.hl-live", sheet), f"{path.name}: not in a scope"
        first = "" if is_scoped else r"(?:^|[{};,]|:is\()\s*"
        (scoped if is_scoped else bare)[path.stem] = set(
            re.findall(rf"{first}\.(hl-[\w-]+)", sheet)
        )
    for (one, its), (other, others) in combinations(bare.items(), 2):
        assert not its & others, (one, other)
    for name, its in scoped.items():
        assert not its & bare["page"], name


def test_the_page_comes_with_its_style_sheet(client: TestClient) -> None:
    """Sent later, it would move all that is there by then."""
    page = client.get("/")
    assert page.text.count('<link rel="stylesheet" href="./live/page.css" />') == 1
    assert '<div id="root"></div>' in page.text
    assert client.get("/live/page.css").text == files.script("live/page.css")


def test_every_module_of_the_page_is_loaded_ahead(client: TestClient) -> None:
    """Those that hold types alone, and those the page never imports, are not."""
    assert {"live/main.js", "kit/maths.js", "kit/parts/attention/views/map.js"} <= set(
        files.MODULES
    )
    assert not [name for name in files.MODULES if name.endswith("wire.js")]
    assert not {"live/loader.js", "live/early.js"} & set(files.MODULES)
    for name in files.MODULES:
        assert client.get(f"/{name}").status_code == 200, name


def test_nothing_is_sent_compressed_or_kept_past_an_update(client: TestClient) -> None:
    for address in [*SERVED, "/live/plotly.min.js", "/live/live.css", "/kit/saved/attention.html"]:
        headers = client.get(address, headers={"Accept-Encoding": "gzip"}).headers
        assert headers["content-encoding"] == "identity", address
        assert headers["cache-control"] == "no-cache"


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
def test_the_routes_only_answer_questions(method: str, client: TestClient) -> None:
    for address in ("/live/main.js", "/kit/arrays/nonsense/0"):
        assert client.request(method, address).status_code == 405


def test_the_running_app_gives_only_what_is_served(app_url: str) -> None:
    """Through all that Streamlit and the guard add; other origins get 403, see tests/test_walls."""
    address = app_url.removeprefix("http://")
    asked = {
        "/live/main.js": 200,
        "/live/plotly.min.js": 200,
        "/live/live.css": 200,
        "/kit/saved/attention.html": 200,
        "/kit/saved/nothing.html": 404,
        "/kit/arrays/nonsense/0": 204,
        "/live/routes.py": 404,
        "/live/%2e%2e/ui.py": 400,
    }
    for path, status in asked.items():
        connection = http.client.HTTPConnection(address, timeout=60)
        connection.request("GET", path)
        response = connection.getresponse()
        body = response.read()
        connection.close()
        assert (path, response.status) == (path, status)
        named = [name.lower() for name, _ in response.getheaders()]
        assert not any(name.startswith("access-control-") for name in named), path
        assert status == 200 or b"import" not in body


class Asked:
    """What answers a part, and notes what it was asked."""

    def __init__(self, fault: str = "") -> None:
        self.fault, self.questions = fault, []

    def more(self, asked: dict[str, object]) -> dict[str, object]:
        """What came, or the fault."""
        if self.fault:
            raise ValueError(self.fault)
        self.questions.append(asked)
        return {"steps": [1, 2]}


def test_what_a_part_asks_is_answered_who_has_its_key(client: TestClient) -> None:
    text = Asked()
    path = f"/kit/answers/{store.offer(text)}"
    assert path.endswith(store.offer(text)), "the same at each run"
    answer = client.post(path, content=b'{"known": 3}')
    assert (answer.status_code, json.loads(answer.text)) == (200, {"steps": [1, 2], "arrays": {}})
    assert text.questions == [{"known": 3}]
    assert client.post("/kit/answers/0123", content=b"{}").status_code == 204
    assert client.get(path).status_code in (404, 405)


@pytest.mark.parametrize(
    "body",
    [b"", b"x", b"[]", b"null", b"3", b'"a"', b"\xff", b"[" * 4000, b"{" + b" " * 70_000 + b"}"],
    ids=lambda body: f"{body[:4]!r} {len(body)}",
)
def test_an_odd_question_is_refused_in_one_line(client: TestClient, body: bytes) -> None:
    text = Asked()
    answer = client.post(f"/kit/answers/{store.offer(text)}", content=body)
    assert (answer.status_code, answer.text) == (400, "what is asked is a short JSON object")
    assert text.questions == []


def test_what_a_text_refuses_is_one_line(client: TestClient) -> None:
    text = Asked("the context of 8 tokens is full;\nshorten the text")
    answer = client.post(f"/kit/answers/{store.offer(text)}", content=b"{}")
    assert answer.status_code == 400
    assert answer.text.splitlines() == [answer.text]
    assert "context of 8" in answer.text


def test_a_recorded_run_is_asked_for_at_the_plain_address_alone(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def has_it(address: str) -> bool:
        return routes.OPENING in client.get(address).text

    assert has_it("/") and has_it("/?page=Home")
    for other in ("/?page=Masks", "/?page=Home&sentence=a", "/?model=blank"):
        assert not has_it(other)
    monkeypatch.setattr(routes, "RECORDED", Path("nowhere"))
    assert not has_it("/"), "there is none"
