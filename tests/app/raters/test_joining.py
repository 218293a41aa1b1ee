from concurrent.futures import ThreadPoolExecutor, wait
from datetime import timedelta

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import Engine, func, select
from sqlalchemy.orm import Session

from app import clock
from app.errors import Conflict, Invalid, Refused
from app.models import Administrator, Event, Invitation, Rater, RaterKind, Seat, Study, StudyState
from app.raters import actions
from app.raters.reactivation import reactivate
from app.store.db import transaction
from app.studies.actions import close_study
from app.web.security import RATER_COOKIE, token_hash
from tests.app.rating.test_claiming_at_once import at_once
from tests.app.seated import Clock, seated_study


@pytest.fixture
def study(session: Session) -> Study:
    return seated_study(session, items=4, seats=2)


def raters(session: Session) -> list[str]:
    return list(session.scalars(select(Rater.name).order_by(Rater.id)))


# ---- links --------------------------------------------------------------------------------------


def test_a_link_is_kept_as_a_hash_only(session: Session, study: Study) -> None:
    token = actions.invite(session, study, "Nadia", actor="Ada")
    stored = session.scalars(select(Invitation)).one()
    assert stored.token_hash == token_hash(token)
    assert token not in str(vars(stored))
    events = session.scalars(select(Event).where(Event.study_id == study.id)).all()
    assert token not in str([vars(event) for event in events])


def test_a_link_needs_a_name_of_its_own(session: Session, study: Study) -> None:
    actions.invite(session, study, "Nadia", actor="Ada")
    with pytest.raises(Conflict, match="“Nadia”"):
        actions.invite(session, study, " Nadia ", actor="Ada")
    with pytest.raises(Invalid, match="needs a name"):
        actions.invite(session, study, "  ", actor="Ada")


def test_people_and_programs_are_never_mixed(session: Session, study: Study) -> None:
    with pytest.raises(Refused, match="for people"):
        actions.invite(session, study, "Bot", actor="Ada", kind=RaterKind.SIMULATED)
    study.simulated = True
    with pytest.raises(Refused, match="simulated"):
        actions.invite(session, study, "Nadia", actor="Ada", kind=RaterKind.HUMAN)
    rater = actions.join(session, actions.invite(session, study, "Bot", actor="Ada"))
    assert rater.kind is RaterKind.SIMULATED


def test_raters_take_the_lowest_free_seat_until_there_is_none(session: Session, study: Study) -> None:
    for name in ("A", "B"):
        rater = actions.join(session, actions.invite(session, study, name, actor="Ada"))
        seat = session.scalars(select(Seat).where(Seat.rater_id == rater.id)).one()
        assert seat.number == {"A": 1, "B": 2}[name]
        assert rater.share == seat.share
    with pytest.raises(Conflict, match="All places of this study are taken"):
        actions.join(session, actions.invite(session, study, "C", actor="Ada"))
    assert raters(session) == ["A", "B"]


def test_a_reusable_link_makes_a_new_rater_each_time(session: Session, study: Study) -> None:
    token = actions.invite(session, study, "Lab", actor="Ada", reusable=True)
    actions.join(session, token)
    actions.join(session, token)
    assert raters(session) == ["Lab", "Lab 2"]


def test_a_single_use_link_is_one_raters_own(session: Session, study: Study) -> None:
    token = actions.invite(session, study, "Nadia", actor="Ada")
    assert actions.join(session, token) is actions.join(session, token)
    assert raters(session) == ["Nadia"]


def test_expiry_stops_newcomers_and_nobody_else(session: Session, study: Study, time: Clock) -> None:
    end = time.now() + timedelta(days=7)
    early, late = (actions.invite(session, study, name, actor="Ada", expires_at=end) for name in ("Early", "Late"))
    actions.join(session, early)
    time.wait(days=8)
    with pytest.raises(Refused, match="has expired"):
        actions.join(session, late)
    assert actions.join(session, early).name == "Early"


def test_a_withdrawn_link_lets_nobody_in(session: Session, study: Study) -> None:
    token = actions.invite(session, study, "Nadia", actor="Ada")
    actions.join(session, token)
    code = session.scalars(select(Invitation.code)).one()
    actions.revoke(session, study, code, actor="Ada")
    actions.revoke(session, study, code, actor="Ada")
    with pytest.raises(Refused, match="was withdrawn"):
        actions.join(session, token)
    withdrawn = select(func.count()).where(Event.study_id == study.id, Event.what == "link withdrawn")
    assert session.scalars(withdrawn).one() == 1


def test_a_closed_study_takes_nobody_new(session: Session, study: Study) -> None:
    known = actions.invite(session, study, "Known", actor="Ada")
    new = actions.invite(session, study, "New", actor="Ada")
    actions.join(session, known)
    study.state = StudyState.CLOSED
    session.flush()
    assert actions.join(session, known).name == "Known"
    with pytest.raises(Conflict, match="closed"):
        actions.join(session, new)
    with pytest.raises(Conflict, match="closed"):
        actions.invite(session, study, "Newer", actor="Ada")


def test_one_link_opened_at_the_same_instant_makes_one_rater(own_engine: Engine) -> None:
    with transaction(own_engine) as session:
        token = actions.invite(session, seated_study(session, seats=8), "Nadia", actor="Ada")

    def join() -> int:
        with transaction(own_engine) as session:
            return actions.join(session, token).id

    assert len(set(at_once([join] * 6))) == 1


def test_the_last_seat_goes_to_exactly_one(own_engine: Engine) -> None:
    with transaction(own_engine) as session:
        study = seated_study(session, seats=1)
        tokens = [actions.invite(session, study, name, actor="Ada") for name in "ABCDEF"]

    def join(token: str) -> int:
        with transaction(own_engine) as session:
            return actions.join(session, token).id

    answers = at_once([lambda token=token: join(token) for token in tokens])  # type: ignore[misc]
    assert sorted(type(answer).__name__ for answer in answers) == ["Full"] * 5 + ["int"]


@pytest.mark.parametrize("again", [False, True])
def test_nobody_is_seated_in_a_study_that_is_closed_meanwhile(own_engine: Engine, *, again: bool) -> None:
    """Closing holds the study's lock; whoever comes waits for it, and finds the study closed then."""
    with transaction(own_engine) as session:
        study = seated_study(session, seats=2)
        token = actions.invite(session, study, "Nadia", actor="Ada")
        if again:
            actions.deactivate(session, study, (rater := actions.join(session, token)).code, actor="Ada")

    def come() -> object:
        with transaction(own_engine) as session:
            if again:
                return reactivate(session, session.get_one(Study, study.id), rater.code, actor="Ada")
            return actions.join(session, token)

    with ThreadPoolExecutor(1) as thread:
        with transaction(own_engine) as session:
            close_study(session, study.code, Administrator(name="Ada", may_manage=True))
            answer = thread.submit(come)
            wait([answer], 0.5)  # so that it reads the study before this is committed
        assert isinstance(answer.exception(), Conflict)


# ---- pages --------------------------------------------------------------------------------------


@pytest.fixture
def link(session: Session, study: Study) -> str:
    return f"/join/{actions.invite(session, study, 'Nadia', actor='Ada')}"


def test_the_welcome_page_reads_and_says_nothing_of_the_study(
    htmx: TestClient, session: Session, study: Study, link: str
) -> None:
    response = htmx.get(link)
    assert response.status_code == 200
    assert "I have read this and want to take part" in response.text
    for secret in (study.name, study.code, "Nadia"):
        assert secret not in response.text
    assert "set-cookie" not in response.headers
    assert raters(session) == []


def test_consent_is_needed_and_lets_this_browser_in(client: TestClient, session: Session, link: str) -> None:
    refused = client.post(link)
    assert refused.status_code == 422
    assert "tick the box" in refused.text
    assert raters(session) == []
    response = client.post(link, data={"consent": "yes"})
    assert (response.status_code, response.headers["location"]) == (303, "/rate")
    assert "HttpOnly" in response.headers["set-cookie"]
    assert client.get("/rate").status_code == 200
    consented = session.scalars(select(Rater.consented_at)).one()
    assert abs(clock.now() - consented) < timedelta(minutes=5)


def test_the_link_opened_in_another_browser_leads_to_the_same_rater(
    client: TestClient, session: Session, link: str
) -> None:
    client.post(link, data={"consent": "yes"})
    client.cookies.clear()
    welcome = client.get(link)
    assert welcome.status_code == 200
    assert "I have read this and want to take part" not in welcome.text
    assert client.post(link).headers["location"] == "/rate"
    assert raters(session) == ["Nadia"]


def test_a_reusable_link_brings_the_same_browser_back_to_its_rater(
    client: TestClient, session: Session, study: Study
) -> None:
    link = f"/join/{actions.invite(session, study, 'Lab', actor='Ada', reusable=True)}"
    client.post(link, data={"consent": "yes"})
    assert client.post(link, data={"consent": "yes"}).headers["location"] == "/rate"
    assert raters(session) == ["Lab"]
    client.cookies.delete(RATER_COOKIE)
    client.post(link, data={"consent": "yes"})
    assert raters(session) == ["Lab", "Lab 2"]


@pytest.mark.parametrize("token", ["nothing", "x" * 43, "a%00b", "9" * 400])
def test_an_unknown_link_says_so(htmx: TestClient, token: str) -> None:
    for response in (htmx.get(f"/join/{token}"), htmx.post(f"/join/{token}", data={"consent": "yes"})):
        assert response.status_code == 404
        assert "leads nowhere" in response.text or "nothing at this address" in response.text


def test_a_withdrawn_link_says_so(client: TestClient, session: Session, study: Study, link: str) -> None:
    actions.revoke(session, study, session.scalars(select(Invitation.code)).one(), actor="Ada")
    for response in (client.get(link), client.post(link, data={"consent": "yes"})):
        assert response.status_code == 403
        assert "withdrawn" in response.text


def test_a_full_study_says_so(client: TestClient, session: Session, study: Study, link: str) -> None:
    for name in ("A", "B"):
        actions.join(session, actions.invite(session, study, name, actor="Ada"))
    response = client.post(link, data={"consent": "yes"})
    assert response.status_code == 409
    assert "All places of this study are taken" in response.text


def test_a_rater_who_was_shut_out_is_out(client: TestClient, session: Session, study: Study, link: str) -> None:
    client.post(link, data={"consent": "yes"})
    actions.deactivate(session, study, session.scalars(select(Rater.code)).one(), actor="Ada")
    assert client.get("/rate").status_code == 401
    assert client.post(link, data={"consent": "yes"}).status_code == 403
