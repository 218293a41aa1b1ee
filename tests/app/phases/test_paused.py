"""Pause in practice, in the hypothesis check and among the guesses."""

from datetime import timedelta

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.models import PracticeAnswer, Rater, Sitting, Study
from app.raters.actions import end_sitting
from app.settings import Settings
from app.studies.actions import close_study
from tests.app.phases.test_phases import YES, number_on, practise, rate_all
from tests.app.seated import Clock
from tests.studies import PHASES, make_administrator, make_study, open_rater, phased_runs


@pytest.fixture
def study(session: Session, settings: Settings, time: Clock) -> Study:
    return make_study(session, settings, runs=phased_runs(), **PHASES)


@pytest.fixture
def rater(client: TestClient, session: Session, study: Study) -> TestClient:
    open_rater(client, session, study)
    return client


def sittings(session: Session) -> list[tuple[bool, bool]]:
    """Of each: was it paused, is it over."""
    session.expire_all()
    rows = session.scalars(select(Sitting).order_by(Sitting.id)).all()
    return [(row.paused, row.ended_at is not None) for row in rows]


@pytest.mark.parametrize("part", ["/practice", "/check", "/guesses"])
def test_every_part_has_a_pause_that_leads_back_to_the_same_page(
    rater: TestClient, session: Session, part: str
) -> None:
    if part != "/practice":
        practise(rater)
        rate_all(rater)
        assert rater.post("/next-part").headers["location"] == "/check"
    if part == "/guesses":
        assert rater.post("/check/stop").headers["location"] == "/guesses"
    before = rater.get(part).text
    assert 'action="/part/pause"' in before
    assert rater.post("/part/pause").headers["location"] == part
    resting = rater.get(part).text
    assert "as you wished" in resting
    assert 'id="verdict"' not in resting
    assert sittings(session)[-1] == (True, True)
    known = len(sittings(session))
    assert rater.post("/part/pause").status_code == 303, "twice changes nothing"
    assert len(sittings(session)) == known
    assert rater.post("/part/go-on").headers["location"] == part
    assert number_on(rater.get(part).text) == number_on(before)
    assert sittings(session)[-1] == (False, False)


def test_the_time_of_an_answer_leaves_a_pause_out(rater: TestClient, session: Session, time: Clock) -> None:
    number = number_on(rater.get("/practice").text)
    rater.post("/part/pause")
    time.wait(hours=3)
    rater.post("/part/go-on")
    time.wait(seconds=7)
    rater.post("/part/go-on")  # the same form again: the page was there all the time
    rater.post("/practice/verdict", data={"number": number, "verdict": YES})
    assert session.scalars(select(PracticeAnswer.seconds)).one() == 7.0


def test_an_answer_from_another_tab_is_kept_and_opens_no_sitting(rater: TestClient, session: Session) -> None:
    number = number_on(rater.get("/practice").text)
    rater.post("/part/pause")
    rater.post("/practice/verdict", data={"number": number, "verdict": YES})
    assert len(session.scalars(select(PracticeAnswer)).all()) == 1
    assert "as you wished" in rater.get("/practice").text
    assert sittings(session) == [(True, True)]


def test_who_was_sent_away_reads_it_and_goes_on(rater: TestClient, session: Session, study: Study) -> None:
    number = number_on(rater.get("/practice").text)
    rater.post("/practice/verdict", data={"number": number, "verdict": YES})
    end_sitting(session, study, session.scalars(select(Sitting.code)).one(), actor="Ada")
    assert "ended by an administrator" in rater.get("/practice").text
    assert rater.post("/part/pause").status_code == 303
    assert "ended by an administrator" in rater.get("/practice").text
    rater.post("/part/go-on")
    assert "/practice/next" in rater.get("/practice").text


def test_pausing_while_rating_or_in_a_closed_study_changes_nothing(
    rater: TestClient, session: Session, study: Study, time: Clock
) -> None:
    practise(rater)
    before = sittings(session)
    assert rater.post("/part/pause").headers["location"] == "/rate"
    assert rater.post("/part/go-on").headers["location"] == "/rate"
    assert sittings(session) == before
    close_study(session, study.code, make_administrator(session))
    person = session.scalars(select(Rater)).one()
    person.phase, time.at = type(person.phase).PRACTICE, time.at + timedelta(hours=1)
    session.flush()
    rater.post("/part/pause")
    rater.post("/part/go-on")
    assert sittings(session) == before


def test_only_raters_pause(client: TestClient) -> None:
    assert client.post("/part/pause").status_code == client.post("/part/go-on").status_code == 401
