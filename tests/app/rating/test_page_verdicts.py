"""Forms of the rating page: a verdict, its undo, a skip, a change; sent twice, too late, or with nonsense in them."""

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.models import Rating, Verdict
from tests.app.rating.pages import Join, begin, fields, give, whole


def test_a_verdict_leads_to_the_next_neuron(htmx: TestClient, join: Join, session: Session) -> None:
    join()
    html = begin(htmx)
    answer = give(htmx, html, "NOT_INTERPRETABLE", hypothesis=" <b>& “x”\r\nsecond ", lined_up="1", widened="")
    if "HX-Request" in htmx.headers:
        assert answer.status_code == 200
        assert "<html" not in answer.text
        following = answer.text
    else:
        assert (answer.status_code, answer.headers["location"]) == (303, "/rate")
        following = htmx.get("/rate").text
    assert following.count("<li><input") == 20
    assert fields(following)["assignment"] != fields(html)["assignment"]
    assert "Not interpretable</b>" in following
    rating = session.scalars(select(Rating)).one()
    assert rating.verdict is Verdict.NOT_INTERPRETABLE
    assert rating.hypothesis == " <b>& “x”\nsecond "
    assert (rating.lined_up, rating.widened) == (True, False)


def test_the_same_form_twice_is_one_verdict(htmx: TestClient, join: Join, session: Session) -> None:
    join()
    html = begin(htmx)
    first, second = give(htmx, html), give(htmx, html)
    assert first.status_code == second.status_code
    assert len(session.scalars(select(Rating)).all()) == 1
    if "HX-Request" in htmx.headers:
        assert fields(first.text)["assignment"] == fields(second.text)["assignment"]


def test_an_old_page_is_told_and_led_to_the_current_neuron(htmx: TestClient, join: Join, session: Session) -> None:
    join()
    html, old = begin(htmx), whole(htmx, "get", "/rate").text
    give(htmx, html, "INTERPRETABLE")
    answer = give(htmx, old, "CANNOT_DECIDE")
    assert answer.status_code == 409
    assert "This neuron already has your verdict: interpretable." in answer.text
    assert answer.text.count("<li><input") == 20
    assert fields(answer.text)["assignment"] != fields(old)["assignment"]
    assert ("<html" in answer.text) == ("HX-Request" not in htmx.headers)
    assert [rating.verdict for rating in session.scalars(select(Rating))] == [Verdict.INTERPRETABLE]


def test_undo(htmx: TestClient, join: Join, session: Session) -> None:
    join()
    html = begin(htmx)
    give(htmx, html, hypothesis="kept words")
    following = whole(htmx, "get", "/rate").text
    answer = htmx.post("/rate/undo", data=fields(following, "undo"))
    again = answer.text if "HX-Request" in htmx.headers else htmx.get("/rate").text
    assert fields(again)["assignment"] == fields(html)["assignment"]
    assert "kept words</textarea>" in again
    late = htmx.post("/rate/undo", data={**fields(following, "undo"), "key": "another-key-1"})
    assert late.status_code == 409
    assert "Only your last verdict can be taken back." in late.text


@pytest.mark.parametrize(
    "bad",
    [
        {"verdict": "MAYBE"},
        {"verdict": "interpretable"},
        {"key": "short"},
        {"key": "x" * 65},
        {"hypothesis": "x" * 10_001},
        {"hypothesis": "x" * 2_001},
        {"hypothesis": "nul \x00"},
        {"assignment": "not a code!"},
    ],
)
def test_bad_input_is_refused_in_a_sentence(
    client: TestClient, join: Join, session: Session, bad: dict[str, str]
) -> None:
    join()
    html = begin(client)
    answer = client.post("/rate/verdict", data={**fields(html), "verdict": "INTERPRETABLE", **bad})
    assert answer.status_code == 422
    assert "notice" in answer.text
    assert session.scalars(select(Rating)).all() == []


def test_a_skipped_neuron_is_not_a_verdict(htmx: TestClient, join: Join, session: Session) -> None:
    join()
    html = begin(htmx)
    htmx.post("/rate/skip", data={"assignment": fields(html)["assignment"]})
    following = whole(htmx, "get", "/rate").text
    assert fields(following)["assignment"] != fields(html)["assignment"]
    assert session.scalars(select(Rating)).all() == []


def test_a_verdict_is_changed_and_both_are_kept(client: TestClient, join: Join, session: Session) -> None:
    join()
    html = begin(client)
    assert "No verdicts yet" in client.get("/rate/given").text
    give(client, html, hypothesis="=1+1 <i>")
    page = client.get("/rate/given").text
    assert "=1+1 &lt;i&gt;" in page
    path = f"/rate/given/{fields(html)['assignment']}"
    edit = client.get(path).text
    assert edit.count("<li><input") == 20
    data = {**fields(edit, "edit"), "verdict": "CANNOT_DECIDE", "hypothesis": "better"}
    assert client.post(path, data=data).status_code == 303
    assert "changed" in client.get("/rate/given").text
    old = client.post(path, data={**data, "verdict": "INTERPRETABLE", "key": "another-key-2"})
    assert old.status_code == 409
    assert "This verdict was changed meanwhile" in old.text
    assert [rating.verdict for rating in session.scalars(select(Rating).order_by(Rating.version))] == [
        Verdict.INTERPRETABLE,
        Verdict.CANNOT_DECIDE,
    ]
