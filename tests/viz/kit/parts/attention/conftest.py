"""A bare page for the microscope: what it asks of arrays is answered from this process's store."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, Route
from starlette.applications import Starlette
from starlette.testclient import TestClient

from tests.viz.harness import bare_page
from viz.live import routes


@pytest.fixture(scope="module")
def bare(browser: Browser, app_url: str) -> Iterator[Page]:
    """The page."""
    with TestClient(Starlette(routes=routes.ROUTES)) as client:

        def answer(route: Route) -> None:
            response = client.get(route.request.url.removeprefix(app_url))
            route.fulfill(status=response.status_code, body=response.content)

        with bare_page(browser, app_url) as page:
            page.route("**/live/arrays/**", answer)
            yield page
