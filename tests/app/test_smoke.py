import pytest
from fastapi.testclient import TestClient
from sqlalchemy.orm import Session

from tests.studies import sign_in


def test_an_unknown_page_says_so(htmx: TestClient) -> None:
    response = htmx.get("/nowhere")
    assert response.status_code == 404
    assert "nothing at this address" in response.text
    assert ("<html" in response.text) == ("HX-Request" not in htmx.headers)


def test_htmx_comes_from_its_wheel(client: TestClient) -> None:
    assert "htmx" in client.get("/static/htmx.js").text


def test_a_redirect_never_ends_inside_a_fragment(htmx: TestClient, session: Session) -> None:
    """XHR would follow a 303 unseen, and htmx would put a whole page into a part of another."""
    sign_in(htmx, session)
    answer = htmx.get("/")
    if "HX-Request" in htmx.headers:
        assert (answer.status_code, answer.headers["hx-redirect"], answer.text) == (200, "/studies", "")
    else:
        assert (answer.status_code, answer.headers["location"]) == (303, "/studies")


@pytest.mark.parametrize("whole", ["HX-Boosted", "HX-History-Restore-Request"])
def test_a_restored_page_is_whole(client: TestClient, whole: str) -> None:
    answer = client.get("/sign-in", headers={"HX-Request": "true", whole: "true"})
    assert "<html" in answer.text
    assert whole in answer.headers["vary"]
