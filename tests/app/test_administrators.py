"""Administrators and their roles: who may do what, and that somebody who manages always stays."""

import re
from collections.abc import Iterator
from pathlib import Path
from threading import Barrier, Thread

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from app import commands
from app.administrators import managing
from app.administrators.actions import add_administrator
from app.administrators.queries import list_administrators
from app.audit_log import record
from app.cli import main
from app.commands import shell
from app.db import transaction
from app.errors import AppError, Conflict, Invalid, NotFound, Refused
from app.models import Administrator, AuditEvent, BrowserSession
from app.roles import WITHOUT, Role, roles_of
from app.settings import Settings
from tests.app.crawl import FILL, api_routes
from tests.studies import PASSWORD, make_administrator, make_study, sign_in

EVERY = frozenset(Role)
PASSWORD_SHOWN = re.compile(r'id="password"[^>]*value="([\w-]+)"')
NONE = {"may_manage": False, "may_rate": False, "may_unblind": False}


def acts(session: Session) -> list[tuple[str, str, str]]:
    lines = session.scalars(select(AuditEvent).order_by(AuditEvent.id))
    return [(line.actor, line.what, line.about) for line in lines]


# ---- the role each address takes ----------------------------------------------------------------

NEEDS = {
    Role.MANAGE: (
        "/administrators", "/audit", "/terms", "/studies/new", "/raters", "/links/", "/sittings/", "/close", "/reopen",
        "POST /studies/{code}/plan",
    ),
    Role.UNBLIND: ("/unblind", "/open-item"),
    Role.RATE: ("/rate",),
}  # fmt: skip
LOOKING = re.compile(
    r"GET /studies(/{code}(|/plan|/study\.toml|/report.*|/exports.*|/opened/.*)|/drafts(/{code})?)?|GET /power"
)
"""Whoever is let in may look: these pages are as blind as the raters' are."""
FORMS = {"name": "x", "password": PASSWORD, "reason": "why", "role": "rate"}


def role_of(address: str) -> Role | None:
    return next((role for role, parts in NEEDS.items() if any(part in address for part in parts)), None)


def administrators_routes(client: TestClient) -> Iterator[tuple[str, str]]:
    """Those that ask who is signed in as an administrator."""
    for route in api_routes(client):
        names = {dependency.call.__name__ for dependency in flat(route.dependant)}
        if names & {"reading_administrator", "writing_administrator"}:
            yield from ((method, route.path) for method in sorted(route.methods))


def flat(dependant: object) -> Iterator[object]:
    for one in dependant.dependencies:  # type: ignore[attr-defined]
        yield one
        yield from flat(one)


def test_every_address_asks_for_its_role_and_the_refusal_names_it(
    client: TestClient, session: Session, settings: Settings
) -> None:
    study = make_study(session, settings)
    nobody = sign_in(client, session, make_administrator(session, "Nobody", **NONE))
    fill = {name: values[0] for name, values in FILL.items()} | {"code": study.code, "study_code": study.code}
    asked = 0
    for method, path in administrators_routes(client):
        address = f"{method} {path}"
        if LOOKING.fullmatch(address):
            continue
        role = role_of(address)
        assert role is not None, f"{address} asks for no role"
        plain = re.sub(r"{(\w+)(?::\w+)?}", lambda found: fill.get(found[1], "1"), path)
        files = {"file": ("study.toml", b"")} if path.endswith("/file") else None
        answer = client.request(method, plain, data=None if method == "GET" else FORMS, files=files)
        assert answer.status_code == 403, (address, answer.status_code)
        assert WITHOUT[role] in answer.text, address
        assert f"“{role.value}”" in WITHOUT[role]
        asked += 1
    assert asked > 25
    assert roles_of(session.get_one(Administrator, nobody.id)) == frozenset()


# ---- one who manages stays ----------------------------------------------------------------------


def test_the_last_one_who_manages_keeps_the_role_and_is_not_shut_out(session: Session) -> None:
    ada = make_administrator(session)
    make_administrator(session, "Bob", may_manage=False)
    cleo = make_administrator(session, "Cleo")
    managing.deactivate(session, ada, cleo.id)
    for act in (
        lambda actor: managing.set_roles(session, actor, ada.id, frozenset({Role.RATE})),
        lambda actor: managing.deactivate(session, actor, ada.id),
    ):
        for actor in (ada, shell()):
            with pytest.raises(Conflict, match="“Ada” is the only administrator with the role “manage”"):
                act(actor)
    assert ada.may_manage
    managing.reactivate(session, ada, cleo.id)
    managing.set_roles(session, ada, ada.id, frozenset({Role.RATE}))
    assert roles_of(ada) == {Role.RATE}
    with pytest.raises(Refused, match="“manage”"):
        managing.set_roles(session, ada, ada.id, EVERY)


@pytest.mark.parametrize("act", ["roles", "deactivate"])
def test_two_who_shut_each_other_out_at_the_same_instant(own_engine: Engine, act: str) -> None:
    for _ in range(5):
        with transaction(own_engine) as session:
            for name in ("Ada", "Bob"):
                for old in session.scalars(select(Administrator).where(Administrator.name == name)):
                    session.delete(old)
                session.flush()
            ids = [make_administrator(session, name).id for name in ("Ada", "Bob")]
        refused = at_once(own_engine, act, ids)
        assert len(refused) == 1
        with transaction(own_engine) as session:
            left = session.scalars(
                select(Administrator.name).where(Administrator.may_manage, Administrator.deactivated_at.is_(None))
            )
            assert len(left.all()) == 1


def at_once(engine: Engine, act: str, ids: list[int]) -> list[AppError]:
    together, refused = Barrier(2), []

    def do(actor_id: int, other_id: int) -> None:
        with transaction(engine) as reading:
            actor = reading.get_one(Administrator, actor_id)
        together.wait()
        try:
            with transaction(engine) as session:
                if act == "roles":
                    managing.set_roles(session, actor, other_id, frozenset())
                else:
                    managing.deactivate(session, actor, other_id)
        except AppError as refusal:
            refused.append(refusal)

    threads = [Thread(target=do, args=(one, other)) for one, other in (ids, ids[::-1])]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return refused


# ---- the pages ----------------------------------------------------------------------------------


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
    monkeypatch.setattr(commands, "get_settings", lambda: settings)
    with transaction(own_engine) as writing:
        record(writing, "Ada", "signed out")
        assert main(["administrator", "list"]) == 0
