"""Where the rating page ends: thanks, a closed study, nothing free just now."""

from fastapi.testclient import TestClient
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from app.models import Assignment, Rater, Rating, Study, StudyState
from tests.app.rating.pages import Join, begin, fields, finish, give, whole


def test_the_last_verdict_leads_to_thanks_which_stay(client: TestClient, join: Join, session: Session) -> None:
    study = join()
    html = finish(client)
    assert "That was the last one. Thank you." in html
    assert "4 verdicts of yours are stored." in html
    head = session.scalars(select(Study.log_head).where(Study.id == study.id)).one()
    for path in ("/rate", "/thanks"):
        page = client.get(path).text
        assert "That was the last one" in page
        assert head in page
        assert study.seal_root in page
    assert client.post("/rate/begin").status_code == 303
    assert "That was the last one" in client.get("/rate").text


def test_after_thanks_the_last_verdict_can_still_be_taken_back(client: TestClient, join: Join) -> None:
    join()
    html = finish(client)
    assert client.post("/rate/undo", data=fields(html, "undo")).status_code == 303
    assert "<li><input" in begin(client)


def test_a_closed_study_says_so(htmx: TestClient, join: Join, session: Session) -> None:
    study = join()
    html = begin(htmx)
    session.execute(update(Study).where(Study.id == study.id).values(state=StudyState.CLOSED))
    session.flush()
    answer = give(htmx, html)
    assert answer.status_code == 409
    assert "This study is closed" in answer.text
    assert "This study is closed" in whole(htmx, "get", "/rate").text
    assert session.scalars(select(Rating)).all() == []


def test_nothing_free_waits_and_looks_again(client: TestClient, join: Join, session: Session) -> None:
    study = join("Bo", neurons_per_arm=1, seats=2)
    begin(client)
    join("Kim", study)
    session.execute(update(Rater).where(Rater.name == "Kim").values(share=None))
    html = begin(client)
    give(client, html)
    page = client.get("/rate").text
    assert "The last neurons are in other hands" in page
    assert 'hx-trigger="every 30s"' in page
    assert '<noscript><meta http-equiv="refresh" content="30"></noscript>' in page
    assert "Undo" in page
    session.execute(update(Assignment).values(leased_until=Assignment.claimed_at))
    assert "Go on where you left off" in client.get("/rate", headers={"HX-Request": "true"}).text
