"""The rating page in the hand of a test: its forms, filled in and sent."""

import re
from collections.abc import Callable

from fastapi.testclient import TestClient
from httpx2 import Response

from app.models import Study

Join = Callable[..., Study]


def whole(client: TestClient, method: str, path: str, **options: object) -> Response:
    """As a browser asks, also where the test's client is htmx."""
    fragment = client.headers.pop("HX-Request", None)
    response: Response = getattr(client, method)(path, **options)
    if fragment:
        client.headers["HX-Request"] = fragment
    return response


def begin(client: TestClient) -> str:
    whole(client, "post", "/rate/begin")
    return whole(client, "get", "/rate").text


def fields(html: str, form: str = "verdict") -> dict[str, str]:
    """The hidden fields of a form."""
    inside = re.search(rf'id="{form}".*?</form>', html, re.DOTALL)
    assert inside
    return dict(re.findall(r'<input type="hidden" name="(assignment|key|version)" value="([^"]*)">', inside[0]))


def give(client: TestClient, html: str, verdict: str = "INTERPRETABLE", **more: str) -> Response:
    response: Response = client.post("/rate/verdict", data={**fields(html), "verdict": verdict, **more})
    return response


def finish(client: TestClient) -> str:
    html = begin(client)
    while "<li><input" in html:
        give(client, html)
        html = whole(client, "get", "/rate").text
    return html
