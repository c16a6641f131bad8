"""Protects what the app hands to browsers: the arrays of a head as they ran, and nothing else."""

import gc
import http.client
import weakref
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import plotly
import pytest
from safetensors.numpy import load
from starlette.applications import Starlette
from starlette.testclient import TestClient

from model.trace import Trace
from tests.model.builders import GROUPED, tiny_model, tiny_trace
from viz.live import routes, shelf

INSTALLED_PLOTLY = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"
VARIANTS = {
    "plain": {},
    "grouped": GROUPED,
    "one-kv-head": {"n_kv_heads": 1},
    "alibi": {"position": "alibi"},
    "grouped-alibi": {"position": "alibi", **GROUPED},
    "window": {"mask": "sliding_window", "window": 3},
}
SERVED = {
    "/live/main.js": "main.js",
    "/live/maths.js": "maths.js",
    "/live/views/map.js": "views/map.js",
    "/live/live.css": "live.css",
    "/live/offline.html": "offline.html",
}
OUTSIDE = [
    "/live/routes.py",
    "/live/component.py",
    "/live/__init__.py",
    "/live/views",
    "/live/",
    "/live/main",
    "/live/nothing.js",
    "/live/../ui.py",
    "/live/%2e%2e/ui.py",
    "/live/..%2fui.py",
    "/live/%2e%2e%2fui.py",
    "/live/views/%2e%2e/routes.py",
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


def offered(**changes: object) -> tuple[str, Trace]:
    """A trace of 2 layers on the shelf, and its key. The caller must keep the trace."""
    trace = tiny_trace(tiny_model(**changes))
    return shelf.put(trace), trace


def arrays(client: TestClient, address: str) -> dict[str, np.ndarray]:
    """The arrays at an address."""
    response = client.get(address)
    assert response.status_code == 200, address
    return load(response.content)


@pytest.mark.parametrize("variant", VARIANTS)
def test_arrays_of_a_head_are_those_of_the_trace(variant: str, client: TestClient) -> None:
    """Heads that share a key and value head get that one, and a bias goes along where there is."""
    key, trace = offered(**VARIANTS[variant])
    for layer, record in enumerate(trace.attention):
        shared = len(record.q) // len(record.k)
        for head in range(len(record.q)):
            found = arrays(client, f"/live/arrays/{key}/head/{layer}/{head}")
            expected = {
                "q": record.q[head],
                "k": np.repeat(record.k, shared, axis=0)[head],
                "v": np.repeat(record.v, shared, axis=0)[head],
                "mask": record.mask.astype(np.uint8),
                "scores": record.scores[head],
                "pattern": record.pattern[head],
                "z": record.z[head],
            }
            if record.bias is not None:
                expected["bias"] = record.bias[head]
            assert found.keys() == expected.keys()
            for name, array in expected.items():
                np.testing.assert_array_equal(found[name], array, err_msg=name)
                assert found[name].dtype == array.dtype


def test_only_alibi_has_a_bias(client: TestClient) -> None:
    for position, has_bias in [("alibi", True), ("rope", False)]:
        key, _kept = offered(position=position)
        assert ("bias" in arrays(client, f"/live/arrays/{key}/head/0/0")) == has_bias


def test_what_arrives_computes_to_the_traced_scores(client: TestClient) -> None:
    """With the wrong head among the shared ones, or without the bias, it would not."""
    key, trace = offered(position="alibi", **GROUPED)
    for head in range(6):
        found = arrays(client, f"/live/arrays/{key}/head/1/{head}")
        scores = found["q"] @ found["k"].T / np.sqrt(found["q"].shape[1]) + found["bias"]
        np.testing.assert_allclose(scores, trace.attention[1].scores[head], atol=1e-4)


def test_summaries_are_over_the_heads_asked_for(client: TestClient) -> None:
    key, trace = offered()
    patterns = np.stack([record.pattern for record in trace.attention])  # (2, 3, 7, 7)
    expected = {
        "mean/layer/1": patterns[1].mean(axis=0),
        "maximum/layer/0": patterns[0].max(axis=0),
        "mean/head/2": patterns[:, 2].mean(axis=0),
        "maximum/head/0": patterns[:, 0].max(axis=0),
        "mean/all/0": patterns.mean(axis=(0, 1)),
        "maximum/all/0": patterns.max(axis=(0, 1)),
    }
    for address, pattern in expected.items():
        found = arrays(client, f"/live/arrays/{key}/{address}")
        assert list(found) == ["pattern"]
        assert found["pattern"].dtype == np.float32
        np.testing.assert_allclose(found["pattern"], pattern, atol=1e-7, err_msg=address)


@pytest.mark.parametrize(
    "address",
    [
        "head/2/0",
        "head/0/3",
        "head/-1/0",
        "head/0/-1",
        "head/0",
        "head/0/0/0",
        "head/99999999999999999999/0",
        "head/one/two",
        "head/0/1.5",
        "median/layer/0",
        "mean/row/0",
        "mean/layer/2",
        "mean/head/3",
        "mean/layer/-1",
        "mean/layer/99999999999999999999",
        "",
    ],
)
def test_what_does_not_exist_is_not_found(address: str, client: TestClient) -> None:
    key, _kept = offered()
    assert client.get(f"/live/arrays/{key}/{address}").status_code == 404
    assert client.get(f"/live/arrays/{key}/head/1/2").status_code == 200


@pytest.mark.parametrize("address", ["head/0/0", "mean/all/0"])
def test_without_the_key_there_is_nothing(address: str, client: TestClient) -> None:
    key, _kept = offered()
    for wrong in ("nonsense", "0" * 32, key[:-1], key + "0", key.upper() + "x", "%2e%2e", "*"):
        assert client.get(f"/live/arrays/{wrong}/{address}").status_code == 404, wrong
    assert client.get(f"/live/arrays/{key}/{address}").status_code == 200


def test_keys_are_long_and_never_the_same() -> None:
    """Also for the same trace twice: a key tells nothing about what it opens."""
    trace = tiny_trace(tiny_model())
    keys = {shelf.put(trace) for _ in range(100)}
    assert len(keys) == 100
    assert min(map(len, keys)) >= 32
    assert all(shelf.get(key) is trace for key in keys)


def test_a_dropped_trace_is_gone(client: TestClient) -> None:
    """The shelf and an answered request keep nothing alive."""
    key, trace = offered()
    address = f"/live/arrays/{key}/head/0/0"
    assert client.get(address).status_code == 200
    alive = weakref.ref(trace)
    del trace
    gc.collect()
    assert alive() is None
    assert shelf.get(key) is None
    assert client.get(address).status_code == 404


@pytest.mark.parametrize("address", SERVED)
def test_modules_are_served_as_they_are(address: str, client: TestClient) -> None:
    response = client.get(address)
    assert response.status_code == 200
    assert response.content == (routes.FOLDER / SERVED[address]).read_bytes()
    kinds = {".js": "javascript", ".css": "text/css", ".html": "text/html"}
    assert kinds[Path(address).suffix] in response.headers["content-type"]


@pytest.mark.parametrize("address", OUTSIDE)
def test_nothing_else_is_served(address: str, client: TestClient) -> None:
    response = client.get(address)
    assert response.status_code == 404
    assert b"import" not in response.content


def test_no_python_file_is_served_under_any_name(client: TestClient) -> None:
    paths = [path.relative_to(routes.FOLDER) for path in routes.FOLDER.rglob("*.py*")]
    assert Path("routes.py") in paths
    for path in paths:
        assert client.get(f"/live/{path.as_posix()}").status_code == 404, path


def test_plotly_is_the_installed_one(client: TestClient) -> None:
    response = client.get("/live/plotly.min.js")
    assert response.content == INSTALLED_PLOTLY.read_bytes()
    assert "javascript" in response.headers["content-type"]


def test_offline_program_is_served(client: TestClient) -> None:
    response = client.get("/live/program.js")
    assert response.text == routes.offline_program()
    assert "javascript" in response.headers["content-type"]


def test_nothing_is_sent_compressed_or_kept_past_an_update(client: TestClient) -> None:
    key, _kept = offered()
    addresses = [*SERVED, "/live/plotly.min.js", "/live/program.js"]
    for address in [*addresses, f"/live/arrays/{key}/head/0/0", f"/live/arrays/{key}/mean/all/0"]:
        headers = client.get(address, headers={"Accept-Encoding": "gzip"}).headers
        assert headers["content-encoding"] == "identity", address
        assert headers["cache-control"] == "no-cache"


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
def test_the_routes_only_answer_questions(method: str, client: TestClient) -> None:
    key, _kept = offered()
    for address in ("/live/main.js", f"/live/arrays/{key}/head/0/0"):
        assert client.request(method, address).status_code == 405


def test_the_running_app_gives_nothing_to_other_origins(app_url: str) -> None:
    """Asked as the browser asks for a page of another site; through all that Streamlit adds."""
    address = app_url.removeprefix("http://")
    asked = {
        "/live/main.js": 200,
        "/live/plotly.min.js": 200,
        "/live/program.js": 200,
        "/live/arrays/nonsense/head/0/0": 404,
        "/live/arrays/nonsense/mean/all/0": 404,
        "/live/routes.py": 404,
        "/live/%2e%2e/ui.py": 400,
    }
    for path, status in asked.items():
        connection = http.client.HTTPConnection(address, timeout=60)
        connection.request("GET", path, headers={"Origin": "http://elsewhere.example"})
        response = connection.getresponse()
        body = response.read()
        connection.close()
        assert (path, response.status) == (path, status)
        named = [name.lower() for name, _ in response.getheaders()]
        assert not any(name.startswith("access-control-") for name in named), path
        assert status == 200 or b"import" not in body
