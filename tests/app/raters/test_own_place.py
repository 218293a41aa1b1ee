"""An administrator who rates in a study they look after: one place a person, as blind as anybody."""

import re
from threading import Barrier, Thread

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from app.administrators import managing
from app.errors import Conflict, Refused
from app.log import first_broken_line
from app.models import Administrator, Assignment, AssignmentState, Event, OwnRater, Rater, Seat, Study
from app.raters.actions import invite
from app.raters.own import own_place, take_place
from app.raters.queries import rater_rows
from app.raters.reactivation import reactivate
from app.raters.withdrawal import withdraw_consent
from app.roles import Role
from app.settings import Settings
from app.store.db import transaction
from app.studies.actions import close_study, unblind_study
from tests.app.crawl import CODE, KEY
from tests.studies import make_administrator, make_study, open_rater, sign_in


@pytest.fixture
def study(session: Session, settings: Settings) -> Study:
    return make_study(session, settings)


def raters(session: Session) -> list[str]:
    return list(session.scalars(select(Rater.name).order_by(Rater.id)))


def test_an_administrator_takes_a_place_and_rates(htmx: TestClient, session: Session, study: Study) -> None:
    address = f"/studies/{study.code}/rate"
    assert htmx.get(address).status_code == 401
    ada = sign_in(htmx, session)
    page = htmx.get(f"/studies/{study.code}").text
    assert f'href="{address}"' in page
    welcome = htmx.get(address)
    assert "I have read this and want to take part" in welcome.text
    assert study.name not in welcome.text
    assert htmx.post(address).status_code == 422, "without consent"
    assert raters(session) == []
    for _ in range(2):
        answer = htmx.post(address, data={"consent": "yes"})
        where = answer.headers.get("location") or answer.headers["hx-redirect"]
        assert where == "/rate"
    assert raters(session) == ["Ada"]
    assert htmx.get("/rate").status_code == 200
    assert "Welcome back" in htmx.get(address).text
    page = htmx.get(f"/studies/{study.code}").text
    assert "You have a place in this study as the rater Ada" in page
    assert own_place(session, study, session.get_one(Administrator, ada.id)) is not None
    for path in ("/studies/nowhere/rate",):
        assert htmx.get(path).status_code == htmx.post(path).status_code == 404


def test_the_place_waits_in_another_browser(client: TestClient, session: Session, study: Study) -> None:
    ada = sign_in(client, session)
    client.post(f"/studies/{study.code}/rate", data={"consent": "yes"})
    client.post("/rate/begin")
    code = re.search(r'name="assignment" value="([\w-]+)"', client.get("/rate").text)
    other = TestClient(client.app, follow_redirects=False)
    sign_in(other, session, session.get_one(Administrator, ada.id))
    assert other.post(f"/studies/{study.code}/rate").status_code == 303
    assert code
    assert code[1] in other.get("/rate").text
    assert raters(session) == ["Ada"]


def test_of_ones_own_controls_nothing_is_said_even_under_another_name(
    client: TestClient, session: Session, study: Study
) -> None:
    """Who came by a link in the same browser has that place, and no second one."""
    ada = sign_in(client, session)
    open_rater(client, session, study, "Somebody")
    assert client.post(f"/studies/{study.code}/rate").headers["location"] == "/rate"
    assert raters(session) == ["Somebody"]
    assert session.scalars(select(OwnRater.administrator_id)).one() == ada.id
    assert [row.flags for row in rater_rows(session, study, session.get_one(Administrator, ada.id))] == [[]]


def test_a_rater_of_the_same_name_may_be_the_same_person(client: TestClient, session: Session, study: Study) -> None:
    ada = make_administrator(session)
    invite(session, study, "Ada", actor="Ada")
    with pytest.raises(Conflict, match="open your link in this browser"):
        take_place(session, study, ada)
    sign_in(client, session, ada)
    assert client.get(f"/studies/{study.code}/rate").status_code == 409


def test_nobody_rates_without_the_role_or_after_the_end(
    client: TestClient, session: Session, settings: Settings, study: Study
) -> None:
    reader = sign_in(client, session, make_administrator(session, "Reader", may_rate=False))
    assert "Rate yourself" not in client.get(f"/studies/{study.code}").text
    with pytest.raises(Refused, match="“rate”"):
        take_place(session, study, session.get_one(Administrator, reader.id))
    ada = make_administrator(session)
    simulated = make_study(session, settings, name="Programs", simulated=True)
    with pytest.raises(Refused, match="only programs"):
        take_place(session, simulated, ada)
    close_study(session, study.code, ada)
    with pytest.raises(Conflict, match="closed"):
        take_place(session, session.get_one(Study, study.id), ada)
    assert raters(session) == []


def test_who_withdrew_their_consent_does_not_begin_anew(
    client: TestClient, session: Session, settings: Settings, study: Study
) -> None:
    ada = make_administrator(session)
    rater = take_place(session, study, ada)
    withdraw_consent(session, study, rater.code, actor="Ada", key_file=settings.key_file)
    with pytest.raises(Refused, match="withdrew your consent"):
        take_place(session, study, ada)
    sign_in(client, session, ada)
    assert "Rate yourself" not in client.get(f"/studies/{study.code}").text


@pytest.mark.parametrize("how", ["role", "account"])
def test_a_place_ends_with_the_role_or_the_account_that_let_one_take_it(
    client: TestClient, session: Session, settings: Settings, study: Study, how: str
) -> None:
    ada, bob = make_administrator(session), make_administrator(session, "Bob")
    sign_in(client, session, ada)
    client.post(f"/studies/{study.code}/rate", data={"consent": "yes"})
    client.post("/rate/begin")
    page = client.get("/rate").text
    given = {name: found[1] for name, of in (("assignment", CODE), ("key", KEY)) if (found := of.search(page))}
    assert client.post("/rate/verdict", data=given | {"verdict": "INTERPRETABLE"}).status_code == 303
    open_rater(TestClient(client.app, follow_redirects=False), session, study, "Kim")
    if how == "role":
        managing.set_roles(session, bob, ada.id, frozenset({Role.MANAGE}))
    else:
        managing.deactivate(session, bob, ada.id)
    session.expire_all()
    assert client.get("/rate").status_code == 401
    rater, kim = session.scalars(select(Rater).order_by(Rater.id))
    assert (rater.deactivated_at is not None, kim.deactivated_at) == (True, None)
    states = session.scalars(select(Assignment.state).order_by(Assignment.id)).all()
    assert states == [AssignmentState.RATED, AssignmentState.RELEASED]
    assert session.scalars(select(Seat.number).where(Seat.rater_id == rater.id)).all() == []
    line = session.scalars(select(Event).where(Event.what == "rater deactivated")).one()
    assert (line.actor, line.detail) == ("Bob", {"rater": rater.code, "seat": 1})
    assert first_broken_line(session.scalars(select(Event).order_by(Event.line))) is None
    managing.set_roles(session, bob, ada.id, frozenset(Role))
    managing.reactivate(session, bob, ada.id)
    ada, study = session.get_one(Administrator, ada.id), session.get_one(Study, study.id)
    with pytest.raises(Refused, match="shut out as a rater"):
        take_place(session, study, ada)
    assert reactivate(session, study, rater.code, actor="Bob") is None
    assert take_place(session, study, ada) is rater


def test_other_roles_and_studies_that_are_over_end_no_place(session: Session, settings: Settings, study: Study) -> None:
    ada, bob = make_administrator(session), make_administrator(session, "Bob")
    rater = take_place(session, study, ada)
    managing.set_roles(session, bob, ada.id, frozenset({Role.RATE, Role.UNBLIND}))
    assert rater.deactivated_at is None
    close_study(session, study.code, bob)
    unblind_study(session, settings, study.code, bob, typed_name=study.name, reason="done")
    head = study.log_head
    managing.set_roles(session, bob, ada.id, frozenset())
    assert rater.deactivated_at is None, "nothing is left to end"
    assert session.get_one(Study, study.id).log_head == head


def test_a_place_by_a_link_is_not_the_roles_to_end(client: TestClient, session: Session, study: Study) -> None:
    """A rater who joins in the browser of somebody who is signed in may be another person."""
    ada, bob = sign_in(client, session), make_administrator(session, "Bob")
    open_rater(client, session, study, "Kim")
    assert session.scalars(select(OwnRater.administrator_id)).all() == [ada.id]
    managing.set_roles(session, bob, ada.id, frozenset({Role.MANAGE}))
    session.expire_all()
    assert session.scalars(select(Rater.deactivated_at)).all() == [None]
    assert client.get("/rate").status_code == 200


def test_two_clicks_at_the_same_instant_are_one_place(own_engine: Engine, settings: Settings) -> None:
    with transaction(own_engine) as session:
        study_id, ada_id = make_study(session, settings).id, make_administrator(session).id
    together = Barrier(4)
    taken: list[int] = []

    def click() -> None:
        together.wait()
        with transaction(own_engine) as session:
            study, ada = session.get_one(Study, study_id), session.get_one(Administrator, ada_id)
            taken.append(take_place(session, study, ada).id)

    threads = [Thread(target=click) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(taken) == 4
    assert len(set(taken)) == 1
