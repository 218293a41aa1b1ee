from datetime import UTC, datetime, timedelta

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select
from sqlalchemy.orm import Session

from app import clock
from app.administrators.actions import NO_FIT, add_administrator
from app.administrators.signing_in import FREE_TRIES, LONGEST_WAIT, waits_until
from app.errors import Conflict, Invalid
from app.models import Administrator, BrowserSession
from tests.studies import PASSWORD, make_administrator, sign_in

AT = datetime(2031, 3, 1, 9, 0, tzinfo=UTC)


def post(client: TestClient, name: str, password: str) -> int:
    return client.post("/sign-in", data={"name": name, "password": password}).status_code


def test_waiting_begins_after_five_tries_and_doubles_to_a_quarter_hour() -> None:
    assert [waits_until(tries, AT) for tries in range(FREE_TRIES)] == [None] * FREE_TRIES
    waits = [waits_until(tries, AT) for tries in range(FREE_TRIES, FREE_TRIES + 40)]
    assert waits[:3] == [AT + timedelta(seconds=seconds) for seconds in (30, 60, 120)]
    assert waits[-1] == AT + LONGEST_WAIT


def test_signing_in_and_out(client: TestClient, session: Session) -> None:
    make_administrator(session)
    assert client.get("/studies").status_code == 401
    answer = client.post("/sign-in", data={"name": "Ada", "password": PASSWORD})
    assert (answer.status_code, answer.headers["location"]) == (303, "/studies")
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert client.get("/studies").status_code == 200
    assert client.get("/").headers["location"] == "/studies"
    assert client.post("/sign-out").status_code == 303
    assert session.scalars(select(BrowserSession)).all() == []
    assert client.get("/studies").status_code == 401


def test_who_comes_first_is_told_how_to_begin(client: TestClient, session: Session) -> None:
    assert "glance administrator add NAME" in client.get("/sign-in").text
    make_administrator(session)
    assert "glance administrator add" not in client.get("/sign-in").text


def test_a_wrong_password_and_an_unknown_name_read_the_same(htmx: TestClient, session: Session) -> None:
    make_administrator(session)
    wrong = htmx.post("/sign-in", data={"name": "Ada", "password": "something else"})
    unknown = htmx.post("/sign-in", data={"name": "Bob", "password": "something else"})
    assert wrong.status_code == unknown.status_code == 401
    assert wrong.text.replace("Ada", "Bob") == unknown.text
    assert NO_FIT in wrong.text


def test_after_many_tries_the_right_password_waits_too(
    client: TestClient, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_administrator(session)
    assert [post(client, "Ada", "wrong password") for _ in range(FREE_TRIES)] == [401] * FREE_TRIES
    assert post(client, "Ada", PASSWORD) == 401
    later = clock.now() + timedelta(seconds=31)
    monkeypatch.setattr(clock, "now", lambda: later)
    assert post(client, "Ada", PASSWORD) == 303
    assert session.scalars(select(Administrator.failed_sign_ins)).one() == 0


def test_somebody_deactivated_is_not_let_in(client: TestClient, session: Session) -> None:
    administrator = sign_in(client, session)
    administrator.deactivated_at = clock.now()
    session.flush()
    assert client.get("/studies").status_code == 401
    assert post(client, "Ada", PASSWORD) == 401


def test_an_administrator_needs_a_name_of_their_own_and_a_long_password(session: Session) -> None:
    add_administrator(session, "Ada", PASSWORD)
    with pytest.raises(Conflict, match="“Ada”"):
        add_administrator(session, " Ada ", PASSWORD)
    with pytest.raises(Invalid, match="5 characters"):
        add_administrator(session, "Bob", "short")
