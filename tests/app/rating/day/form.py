"""A verdict as the page's form sends it."""

from fastapi.testclient import TestClient

from tests.app.crawl import CODE, KEY


def one(client: TestClient) -> dict[str, str]:
    page = client.get("/rate").text
    code, key = CODE.search(page), KEY.search(page)
    assert code
    assert key
    return {"assignment": code[1], "key": key[1], "verdict": "INTERPRETABLE"}
