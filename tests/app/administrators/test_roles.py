"""Every address asks for its role, and the refusal names it."""

import re
from collections.abc import Iterator

from fastapi.testclient import TestClient
from sqlalchemy.orm import Session

from app.models import Administrator
from app.roles import WITHOUT, Role, roles_of
from app.settings import Settings
from tests.app.administrators.test_people import NONE
from tests.app.crawl import FILL, api_routes
from tests.studies import PASSWORD, make_administrator, make_study, sign_in

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
