from fastapi.testclient import TestClient


def test_an_unknown_page_says_so(htmx: TestClient) -> None:
    response = htmx.get("/nowhere")
    assert response.status_code == 404
    assert "nothing at this address" in response.text
    assert ("<html" in response.text) == ("HX-Request" not in htmx.headers)


def test_htmx_comes_from_its_wheel(client: TestClient) -> None:
    assert "htmx" in client.get("/static/htmx.js").text
