"""Withdrawal of consent: texts and names go, counts stay, and the log still verifies."""

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.log import first_broken_line
from app.models import Assignment, Event, Invitation, PracticeAnswer, Rater, Rating, Seat, Study
from app.settings import Settings
from app.studies.queries import verdicts_digest
from tests.app.crawl import CODE
from tests.app.phases.test_phases import number_on, practise, rate_all
from tests.studies import PHASES, make_administrator, make_study, open_rater, phased_runs, sign_in

TEXT = "a secret of Kim’s own"


@pytest.fixture
def study(client: TestClient, session: Session, settings: Settings) -> Study:
    """Kim wrote a text wherever one can be written."""
    study = make_study(session, settings, runs=phased_runs(), **PHASES)
    open_rater(client, session, study, "Kim Possible")
    data = {"number": number_on(client.get("/practice").text), "verdict": "INTERPRETABLE", "hypothesis": TEXT}
    client.post("/practice/verdict", data=data)
    client.post("/practice/next", data={"number": "1"})
    for _ in range(3):
        number = number_on(client.get("/practice").text)
        client.post("/practice/verdict", data={"number": number, "verdict": "INTERPRETABLE"})
        client.post("/practice/next", data={"number": number})
    client.post("/rate/begin")
    rate_two(client)
    code = CODE.search(client.get("/rate").text)
    assert code
    client.post("/rate/draft", data={"assignment": code[1], "hypothesis": TEXT})
    session.expire_all()
    return session.get_one(Study, study.id)


def rate_two(client: TestClient) -> None:
    from tests.app.crawl import KEY

    for _ in range(2):
        page = client.get("/rate").text
        code, key = CODE.search(page), KEY.search(page)
        assert code
        assert key
        data = {"assignment": code[1], "key": key[1], "verdict": "INTERPRETABLE", "hypothesis": TEXT}
        client.post("/rate/verdict", data=data)


def everything(session: Session) -> str:
    """Every text of the tables that hold any of a rater's."""
    session.expire_all()
    found: list[str] = [*session.scalars(select(Rater.name)), *session.scalars(select(Invitation.name))]
    found += [*session.scalars(select(Rating.hypothesis)), *session.scalars(select(PracticeAnswer.hypothesis))]
    found += [*session.scalars(select(Assignment.draft)), *map(str, session.scalars(select(Event.detail)))]
    return "\n".join(found + list(session.scalars(select(Event.actor))))


def test_a_rater_withdraws_on_their_own_page(client: TestClient, session: Session, study: Study) -> None:
    before = everything(session)
    assert before.count(TEXT) == 4
    assert "Kim Possible" in before
    verdicts, counted = verdicts_digest(session, study), len(session.scalars(select(Rating)).all())
    assert "This cannot be undone" in client.get("/withdraw").text
    answer = client.post("/withdraw")
    assert answer.status_code == 200
    assert "Your consent is withdrawn" in answer.text
    after = everything(session)
    assert TEXT not in after
    assert "Kim" not in after
    assert len(session.scalars(select(Rating)).all()) == counted == 2
    assert verdicts_digest(session, study) == verdicts, "the verdicts themselves stay as they were"
    assert session.scalars(select(Rater)).one().withdrawn_at is not None
    assert not session.scalars(select(Seat).where(Seat.rater_id.is_not(None))).all()
    assert client.get("/rate").status_code == 401


def test_the_log_says_so_and_still_verifies(client: TestClient, session: Session, study: Study) -> None:
    client.post("/withdraw")
    events = session.scalars(select(Event).where(Event.study_id == study.id).order_by(Event.line)).all()
    assert first_broken_line(events) is None
    assert events[-1].what == "consent withdrawn"
    detail = {name: events[-1].detail[name] for name in ("hypotheses", "drafts", "practice")}
    assert detail == {"hypotheses": 2, "drafts": 1, "practice": 1}
    assert len(events[-1].detail["digest"]) == 64


def test_an_administrator_withdraws_at_their_wish_and_once(client: TestClient, session: Session, study: Study) -> None:
    code = session.scalars(select(Rater.code)).one()
    sign_in(client, session)
    path = f"/studies/{study.code}/raters/{code}/withdraw"
    assert path in client.get(f"/studies/{study.code}").text
    assert "Kim Possible" in client.get(path).text
    for _ in range(2):
        assert client.post(path).status_code == 303
    assert TEXT not in everything(session)
    assert list(session.scalars(select(Event.what))).count("consent withdrawn") == 1
    assert "consent withdrawn" in client.get(f"/studies/{study.code}").text
    assert client.post(f"/studies/{study.code}/raters/nobody/withdraw").status_code == 404


def test_who_may_not_manage_may_not_withdraw_for_others(client: TestClient, session: Session, study: Study) -> None:
    code = session.scalars(select(Rater.code)).one()
    sign_in(client, session, make_administrator(session, "Eve", may_manage=False))
    assert client.post(f"/studies/{study.code}/raters/{code}/withdraw").status_code == 403
    assert everything(session).count(TEXT) == 4


def test_the_link_lets_nobody_in_any_more(client: TestClient, session: Session, settings: Settings) -> None:
    study = make_study(session, settings)
    link = open_rater(client, session, study)
    client.post("/withdraw")
    assert client.get(link).status_code == 403
    assert client.post(link, data={"consent": "yes"}).status_code == 403


def test_phases_are_left_too(client: TestClient, session: Session, settings: Settings) -> None:
    open_rater(client, session, make_study(session, settings, runs=phased_runs(), **PHASES))
    practise(client)
    rate_all(client)
    client.post("/next-part")
    client.post("/withdraw")
    assert client.get("/check").status_code == 401
