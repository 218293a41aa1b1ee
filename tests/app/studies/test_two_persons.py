"""Two persons unblind: one asks, another says yes, and nobody is both."""

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.administrators import managing
from app.errors import Conflict, Invalid
from app.models import Administrator, Event, Study, StudyState, UnblindingRequest
from app.roles import Role
from app.settings import Settings
from app.studies.actions import close_study, reopen_study, unblind_study
from app.studies.plans import amend_plan
from app.studies.two_persons import TO_CONFIRM, both, pending
from tests.app.seated import Clock, stopped_clock
from tests.app.studies.acts import GOOD
from tests.studies import PASSWORD, make_administrator, make_study, sign_in


def test_two_persons_unblind(client: TestClient, session: Session, by_two: Study) -> None:
    address = f"/studies/{by_two.code}/unblind"
    sign_in(client, session)
    assert client.post(address, data=GOOD).headers["location"].endswith("/unblind")
    assert session.get_one(Study, by_two.id).state is StudyState.CLOSED
    page = client.get(address).text
    assert "You have asked for it" in page
    assert "Take it back" in page
    assert client.post(address, data=GOOD).status_code == 409, "the same person cannot say yes"
    sign_in(client, session, make_administrator(session, "Bob"))
    page = client.get(address).text
    assert "Ada asks for it: “all verdicts are in”" in page
    assert client.post(address, data=GOOD | {"password": "something else"}).status_code == 403
    assert client.post(address, data={"name": "Winter study", "password": PASSWORD}).status_code == 303
    study = session.get_one(Study, by_two.id)
    assert (study.state, study.unblinded_by) == (StudyState.UNBLINDED, "Ada and Bob")
    assert study.unblinding_reason == "all verdicts are in"
    event = session.scalars(select(Event).where(Event.what == "study unblinded")).one()
    assert (event.actor, event.detail["asked_by"]) == ("Bob", "Ada")
    assert session.get(UnblindingRequest, study.id) is None


def test_the_first_person_can_take_it_back(client: TestClient, session: Session, by_two: Study) -> None:
    address = f"/studies/{by_two.code}/unblind"
    sign_in(client, session)
    assert client.post(f"{address}/take-back").status_code == 409
    client.post(address, data=GOOD)
    sign_in(client, session, make_administrator(session, "Bob"))
    assert client.post(f"{address}/take-back").status_code == 409
    sign_in(client, session, session.scalars(select(Administrator).where(Administrator.name == "Ada")).one())
    assert client.post(f"{address}/take-back").status_code == 303
    assert pending(session, by_two) is None
    whats = session.scalars(select(Event.what).where(Event.study_id == by_two.id).order_by(Event.line)).all()
    assert whats[-2:] == ["unblinding asked for", "unblinding no longer asked for"]


def test_what_was_asked_for_ends_with_time_and_with_what_it_was_about(
    session: Session, settings: Settings, by_two: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    time: Clock = stopped_clock(monkeypatch)
    ada, bob = make_administrator(session), make_administrator(session, "Bob")

    def ask() -> None:
        unblind_study(session, settings, by_two.code, ada, typed_name=by_two.name, reason="all is in")
        assert pending(session, by_two) is not None

    ask()
    time.wait(seconds=TO_CONFIRM.total_seconds() + 1)
    assert pending(session, by_two) is None
    with pytest.raises(Invalid, match="Say why"):
        unblind_study(session, settings, by_two.code, bob, typed_name=by_two.name, reason="")
    ask()
    reopen_study(session, by_two.code, ada)
    assert pending(session, by_two) is None
    close_study(session, by_two.code, ada)
    ask()
    amend_plan(session, by_two.code, bob, {"alpha": "0.01"}, "a stricter level")
    assert pending(session, by_two) is None
    assert session.get_one(Study, by_two.id).state is StudyState.CLOSED


@pytest.mark.parametrize("act", ["deactivate", "role"])
def test_who_asked_and_may_no_longer_unblind_has_asked_for_nothing(
    session: Session, settings: Settings, by_two: Study, act: str
) -> None:
    ada, bob = make_administrator(session), make_administrator(session, "Bob")
    unblind_study(session, settings, by_two.code, ada, typed_name=by_two.name, reason="all is in")
    if act == "role":
        managing.set_roles(session, bob, ada.id, frozenset({Role.MANAGE, Role.RATE}))
    else:
        managing.deactivate(session, bob, ada.id)
    assert pending(session, by_two) is None
    unblind_study(session, settings, by_two.code, bob, typed_name=by_two.name, reason="it is only asked for anew")
    assert session.get_one(Study, by_two.id).state is StudyState.CLOSED


@pytest.mark.parametrize("asks", ["Ada", "Bob"])
@pytest.mark.parametrize("act", ["added", "password", "role", "address", "reactivated"])
def test_an_account_somebody_made_for_themselves_is_no_second_person(
    session: Session, settings: Settings, by_two: Study, act: str, asks: str
) -> None:
    ada = make_administrator(session)
    if act == "added":
        bob, _ = managing.add(session, ada, "Bob")
    else:
        bob = make_administrator(session, "Bob", may_unblind=act != "role")
    if act == "password":
        managing.give_password(session, ada, bob.id)
    if act == "role":
        managing.set_roles(session, ada, bob.id, frozenset(Role))
    if act == "address":
        managing.set_email(session, ada, bob.id, "ada@example.org")
    if act == "reactivated":
        managing.deactivate(session, ada, bob.id)
        managing.reactivate(session, ada, bob.id)
    first, second = (ada, bob) if asks == "Ada" else (bob, ada)
    unblind_study(session, settings, by_two.code, first, typed_name=by_two.name, reason="all is in")
    with pytest.raises(Conflict, match="count as one person here"):
        unblind_study(session, settings, by_two.code, second, typed_name=by_two.name, reason="")
    assert session.get_one(Study, by_two.id).state is StudyState.CLOSED
    third = make_administrator(session, "Cleo")
    unblind_study(session, settings, by_two.code, third, typed_name=by_two.name, reason="")
    assert session.get_one(Study, by_two.id).state is StudyState.UNBLINDED


def test_an_account_made_before_the_study_was_sealed_is_a_second_person(session: Session, settings: Settings) -> None:
    ada = make_administrator(session)
    bob, _ = managing.add(session, ada, "Bob")
    study = make_study(session, settings, unblinders=2)
    close_study(session, study.code, ada)
    managing.set_roles(session, ada, bob.id, frozenset({Role.UNBLIND}))  # takes, and gives nothing
    for one in (ada, bob):
        unblind_study(session, settings, study.code, one, typed_name=study.name, reason="all is in")
    assert session.get_one(Study, study.id).state is StudyState.UNBLINDED


def test_two_names_fit_their_column() -> None:
    assert both("Ada", "Bob") == "Ada and Bob"
    assert len(both("a" * 100, "b" * 100)) <= 100
