"""The rating page: what it shows, how large it is, and for whom."""

import random
import re

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from app.models import Assignment, ItemContent, Rater, Rating
from app.rating.beside import enough
from app.rating.shading import pad, render_item
from app.rating.snippets import Shown
from tests.app.rating.pages import Join, begin, fields, give

LARGEST_PAGE = 36 * 1024


def test_who_is_not_let_in_is_told_what_to_do(htmx: TestClient) -> None:
    for path in ("/rate", "/rate/given", "/thanks", "/rate/wide/abc"):
        page = htmx.get(path)
        assert page.status_code == 401
        assert "Open the link you were given again; nothing is lost." in page.text


def test_help_is_for_everybody(htmx: TestClient) -> None:
    page = htmx.get("/help")
    assert page.status_code == 200
    assert "Undo the last verdict" in page.text


def test_a_rater_begins_and_sees_twenty_snippets(client: TestClient, join: Join) -> None:
    join()
    page = client.get("/rate")
    assert "Ready when you are" in page.text
    assert "<li><input" not in page.text
    answer = client.post("/rate/begin")
    assert (answer.status_code, answer.headers["location"]) == (303, "/rate")
    page = client.get("/rate")
    assert page.text.count("<li><input") == 20
    assert "16 of these 20" in page.text
    assert "Neuron 1 of 4" in page.text
    assert page.headers["cache-control"] == "no-store, no-transform"


def test_get_changes_nothing(client: TestClient, join: Join, session: Session) -> None:
    join()
    html = begin(client)
    before = session.execute(select(Assignment.code, Assignment.shown_at, Assignment.leased_until)).all()
    for path in ("/rate", "/rate?wide=1", "/rate/sessions", "/rate/given", "/thanks", "/help"):
        assert client.get(path).status_code == 200
    client.get(f"/rate/wide/{fields(html)['assignment']}")
    assert session.execute(select(Assignment.code, Assignment.shown_at, Assignment.leased_until)).all() == before


def test_what_is_not_mine_does_not_exist(client: TestClient, join: Join, session: Session) -> None:
    study = join("Bo")
    html = begin(client)
    others = fields(html)["assignment"]
    give(client, html)
    join("Kim", study)
    begin(client)
    for code in (others, "no-such-code"):
        assert client.get(f"/rate/wide/{code}").status_code == 404
        assert client.get(f"/rate/given/{code}").status_code == 404
        data = {"assignment": code, "verdict": "INTERPRETABLE", "key": "a-new-key-0"}
        assert client.post("/rate/verdict", data=data).status_code == 404
        assert client.post("/rate/draft", data={"assignment": code, "hypothesis": "x"}).status_code == 404
        assert client.post("/rate/skip", data={"assignment": code}).status_code == 404
    assert client.get("/rate/given/no%20code").status_code == 404
    assert len(session.scalars(select(Rating)).all()) == 1


def test_the_wider_text_has_one_length_for_every_item(client: TestClient, join: Join) -> None:
    join()
    html, lengths = begin(client), set()
    for _ in range(4):
        wider = client.get(f"/rate/wide/{fields(html)['assignment']}")
        assert wider.text.count("<li><input") == 20
        assert "content-encoding" not in wider.headers
        lengths.add(len(wider.content))
        give(client, html)
        html = client.get("/rate").text
        if "<li><input" not in html:
            break
    assert len(lengths) == 1


def test_a_draft_is_kept_and_shown_as_text(client: TestClient, join: Join) -> None:
    join()
    html = begin(client)
    draft = "</textarea><script>alert(1)</script>"
    data = {"assignment": fields(html)["assignment"], "hypothesis": draft}
    assert client.post("/rate/draft", data=data).status_code == 204
    page = client.get("/rate").text
    assert "<script>alert" not in page
    assert "&lt;/textarea&gt;&lt;script&gt;alert(1)" in page


def dense_item() -> bytes:
    """Twenty snippets in which almost every token has another level than its neighbours, as a GELU neuron may have."""
    rng = random.Random(0)
    words = [
        " the",
        " of",
        "ing",
        " act",
        "s",
        "\n",
        ",",
        " (",
        "def",
        "    ",
        " return",
        "_",
        "ed",
        "<",
        "&",
        "é",
        "—",
    ]
    snippets = [
        Shown(
            [rng.choice(words).encode() for _ in range(64)],
            [rng.uniform(0.05, 0.95) for _ in range(40)] + [1.0] + [rng.uniform(0.05, 0.95) for _ in range(23)],
            40,
            False,
            False,
        )
        for _ in range(20)
    ]
    return render_item(snippets).narrow


@pytest.mark.parametrize("language", ["en", "zh-Hans"])
def test_the_page_as_sent_is_at_most_36_kilobytes(
    client: TestClient, join: Join, session: Session, language: str
) -> None:
    join()
    dense = dense_item()
    assert dense.count(b"<i class=a") > 20 * 45
    session.execute(update(ItemContent).values(fragment=pad(dense, len(dense) + 500)))
    begin(client)
    page = client.get(f"/rate?language={language}")
    assert page.text.count("<li><input") == 20
    assert "content-encoding" not in page.headers
    assert len(page.content) <= LARGEST_PAGE


@pytest.mark.parametrize(("snippets", "expected"), [(20, 16), (10, 8), (5, 4), (7, 6), (1, 1), (0, 0)])
def test_eighty_per_cent_rounded_up(snippets: int, expected: int) -> None:
    assert enough(snippets) == expected


def test_under_a_prefix_every_address_stays_under_it(client: TestClient, join: Join) -> None:
    client.app.root_path = "/glance"  # type: ignore[attr-defined]
    client.base_url = "http://testserver/glance"
    join()
    html = begin(client)
    addresses = re.findall(r'(?:href|src|action|hx-post|hx-get|data-path)="([^"#?]+)', html)
    assert addresses
    assert [path for path in addresses if not path.startswith("/glance/")] == []
    assert client.post("/rate/begin").headers["location"] == "/glance/rate"


def test_a_deactivated_rater_is_told(client: TestClient, join: Join, session: Session) -> None:
    join()
    begin(client)
    session.execute(update(Rater).values(deactivated_at=Rater.created_at))
    session.flush()
    assert client.get("/rate").status_code == 401
