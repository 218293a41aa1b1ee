"""The pages of administrators: adding, roles, passwords, shutting out, and what is written down of it."""

import re
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from app.administrators import managing
from app.administrators.actions import add_administrator
from app.administrators.queries import list_administrators
from app.audit_log import record
from app.cli import main
from app.commands import terminal
from app.errors import Conflict, Invalid, NotFound
from app.models import Administrator, AuditEvent, BrowserSession
from app.roles import Role, roles_of
from app.settings import Settings
from app.store.db import transaction
from tests.app.administrators.acts import acts
from tests.studies import PASSWORD, make_administrator, make_study, sign_in

PASSWORD_SHOWN = re.compile(r'id="password"[^>]*value="([\w-]+)"')
NONE = {"may_manage": False, "may_rate": False, "may_unblind": False}


def test_the_pages_of_administrators(htmx: TestClient, session: Session) -> None:
    for path in ("/administrators", "/administrators/1", "/password"):
        assert htmx.get(path).status_code == 401
    ada = sign_in(htmx, session)
    bob = make_administrator(session, "<b>Bob</b>", may_unblind=False)
    page = htmx.get("/administrators").text
    assert "&lt;b&gt;Bob&lt;/b&gt;" in page
    assert "manage, rate" in page
    for number in ("0", "999999999", "99999999999999999999", "x"):
        assert htmx.get(f"/administrators/{number}").status_code == 404
    page = htmx.get(f"/administrators/{bob.id}").text
    assert [f'value="{role.value}" checked' in page for role in Role] == [True, True, False]
    assert "Make a new first password" in page
    assert "Make a new first password" not in htmx.get(f"/administrators/{ada.id}").text
    assert htmx.post(f"/administrators/{ada.id}/password").status_code == 409
    assert htmx.post(f"/administrators/{bob.id}/roles", data={"role": "reign"}).status_code == 422
    for act in ("roles", "password", "deactivate", "reactivate"):
        assert htmx.post(f"/administrators/999999999/{act}", data={"role": "rate"}).status_code == 404


def test_roles_are_changed_on_the_page(client: TestClient, session: Session) -> None:
    ada = sign_in(client, session)
    bob = make_administrator(session, "Bob")
    answer = client.post(f"/administrators/{bob.id}/roles", data={"role": ["rate", "unblind"]})
    assert (answer.status_code, answer.headers["location"]) == (303, "/administrators")
    assert roles_of(session.get_one(Administrator, bob.id)) == {Role.RATE, Role.UNBLIND}
    assert client.post(f"/administrators/{ada.id}/roles", data={"role": "rate"}).status_code == 409
    line = session.scalars(select(AuditEvent)).one()
    assert (line.actor, line.what, line.about) == ("Ada", "roles changed", "Bob")
    assert line.detail == {"given": [], "taken": ["manage"]}


def test_somebody_added_first_chooses_a_password_of_their_own(
    client: TestClient, session: Session, settings: Settings
) -> None:
    study = make_study(session, settings)
    sign_in(client, session)
    shown = client.post("/administrators", data={"name": "Bob", "role": ["rate", "manage"]})
    first = PASSWORD_SHOWN.search(shown.text)
    assert first, shown.text
    assert client.post("/administrators", data={"name": "Bob"}).status_code == 409
    client.cookies.clear()
    answer = client.post("/sign-in", data={"name": "Bob", "password": first[1]})
    assert (answer.status_code, answer.headers["location"]) == (303, "/password")
    for path in ("/studies", "/administrators", f"/studies/{study.code}"):
        barred = client.get(path)
        assert barred.status_code == 403
        assert 'href="/password"' in barred.text
    assert client.post(f"/studies/{study.code}/close").status_code == 403
    assert client.get("/password").status_code == 200
    given = {"password": first[1], "new": "another password", "again": "another password"}
    for changes, status, says in (
        ({"password": "wrong"}, 403, "do not fit"),
        ({"again": "something else"}, 422, "not the same"),
        ({"new": "short", "again": "short"}, 422, "5 characters"),
        ({"new": first[1], "again": first[1]}, 422, "the one you have"),
    ):
        refused = client.post("/password", data=given | changes)
        assert (refused.status_code, says in refused.text) == (status, True)
    assert client.post("/password", data=given).headers["location"] == "/studies"
    assert client.get("/studies").status_code == 200
    client.cookies.clear()
    assert client.post("/sign-in", data={"name": "Bob", "password": first[1]}).status_code == 401
    assert client.post("/sign-in", data={"name": "Bob", "password": "another password"}).status_code == 303
    assert "password changed" in [what for _, what, _ in acts(session)]


def test_a_new_password_and_shutting_out_end_every_session_of_that_person(client: TestClient, session: Session) -> None:
    bob = make_administrator(session, "Bob")
    for _ in range(2):
        sign_in(client, session, bob)
    client.cookies.clear()
    ada = sign_in(client, session)
    sessions = select(BrowserSession.administrator_id)
    assert sorted(session.scalars(sessions)) == sorted([ada.id, bob.id, bob.id])
    assert client.post(f"/administrators/{bob.id}/password").status_code == 200
    assert session.scalars(sessions).all() == [ada.id]
    sign_in(TestClient(client.app), session, session.get_one(Administrator, bob.id))
    assert client.post(f"/administrators/{bob.id}/deactivate").status_code == 303
    assert session.scalars(sessions).all() == [ada.id]
    assert "shut out" in client.get("/administrators").text
    assert client.post(f"/administrators/{bob.id}/reactivate").status_code == 303
    assert session.get_one(Administrator, bob.id).deactivated_at is None


def test_changing_ones_password_shuts_the_other_browsers_out_and_not_this_one(
    client: TestClient, session: Session
) -> None:
    ada = make_administrator(session)
    other = TestClient(client.app, follow_redirects=False)
    sign_in(other, session, ada)
    sign_in(client, session, ada)
    given = {"password": PASSWORD, "new": "a longer password", "again": "a longer password"}
    assert client.post("/password", data=given).status_code == 303
    assert client.get("/studies").status_code == 200
    assert other.get("/studies").status_code == 401


def test_sign_ins_and_failures_are_written_down_without_what_was_typed(client: TestClient, session: Session) -> None:
    make_administrator(session)
    for _ in range(9):
        client.post("/sign-in", data={"name": "my secret password", "password": "x"})
    client.post("/sign-in", data={"name": "Ada", "password": "not mine"})
    client.post("/sign-in", data={"name": "Ada", "password": PASSWORD})
    client.post("/sign-out")
    lines = acts(session)
    assert lines.count(("somebody unknown", "sign-in failed", "")) == 5
    assert lines[-3:] == [("Ada", "sign-in failed", ""), ("Ada", "signed in", ""), ("Ada", "signed out", "")]
    kept = session.scalars(select(AuditEvent)).all()
    assert not [line for line in kept if "secret" in f"{line.actor}{line.detail}" or "not mine" in str(line.detail)]


def test_an_address_is_one_persons(session: Session) -> None:
    ada, bob = make_administrator(session), make_administrator(session, "Bob")
    managing.set_email(session, ada, bob.id, " Bob@Example.org ")
    bob.subject = "a provider: 17"
    assert bob.email == "bob@example.org"
    with pytest.raises(Conflict, match="is “Bob”’s already"):
        managing.set_email(session, ada, ada.id, "bob@example.org")
    for wrong in ("bob", "@example.org", "a@b@c", "a b@example.org"):
        with pytest.raises(Invalid, match="not an e-mail address"):
            managing.set_email(session, ada, ada.id, wrong)
    managing.set_email(session, ada, bob.id, "robert@example.org")
    assert (bob.email, bob.subject) == ("robert@example.org", None)
    managing.set_email(session, ada, bob.id, "")
    assert bob.email is None


@pytest.mark.parametrize(
    "name", ["the command line", "Somebody Unknown", "命令行", "rater xK3_9-aB", "Rater ada", "rater"]
)
def test_nobody_is_named_as_the_audit_calls_others(session: Session, name: str) -> None:
    with pytest.raises(Invalid, match="is how the audit calls somebody else"):
        add_administrator(session, name, PASSWORD)
    assert add_administrator(session, "Raterina", PASSWORD).name == "Raterina"


def test_unknown_names_are_said(session: Session) -> None:
    with pytest.raises(NotFound, match="“Nobody”"):
        managing.find_named(session, "Nobody")


def test_the_list_knows_who_came_in_last(client: TestClient, session: Session) -> None:
    make_administrator(session)
    make_administrator(session, "Bob")
    assert [listed.signed_in_at for listed in list_administrators(session)] == [None, None]
    client.post("/sign-in", data={"name": "Ada", "password": PASSWORD})
    found = {listed.administrator.name: listed.signed_in_at for listed in list_administrators(session)}
    assert found["Ada"] is not None
    assert found["Bob"] is None


def test_a_password_that_the_pages_would_not_take_is_refused(session: Session) -> None:
    with pytest.raises(Invalid, match="has 201 characters; at most 200 are taken"):
        add_administrator(session, "Ada", "x" * 201)


def test_the_list_on_the_command_line_waits_for_nobody_who_writes(
    own_engine: Engine, own_database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings(database_url=own_database_url, key_file=tmp_path / "key", _env_file=None)
    monkeypatch.setattr(terminal, "get_settings", lambda: settings)
    with transaction(own_engine) as writing:
        record(writing, "Ada", "signed out")
        assert main(["administrator", "list"]) == 0
