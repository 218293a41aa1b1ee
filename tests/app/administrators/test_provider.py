"""Signing in at a provider by OpenID Connect, with a real one on the loopback."""

import re
from collections.abc import Iterator
from pathlib import Path
from time import time
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from fastapi.testclient import TestClient
from httpx2 import Response
from pydantic import ValidationError
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.administrators import managing
from app.administrators.provider import derived
from app.administrators.provider_routes import BACK, COOKIE
from app.models import Administrator, AuditEvent, BrowserSession
from app.settings import Settings
from tests.app.provider import CLIENT_ID, CLIENT_SECRET, STRANGER, Provider, provider
from tests.studies import PASSWORD, make_administrator, sign_in

SECRET = {"oidc_client_id": CLIENT_ID, "oidc_client_secret": CLIENT_SECRET}


@pytest.fixture
def there() -> Iterator[Provider]:
    with provider() as told:
        yield told


@pytest.fixture
def settings(database_url: str, tmp_path: Path, there: Provider) -> Settings:
    files = {"key_file": tmp_path / "key", "runs_dir": tmp_path / "runs"}
    return Settings(database_url=database_url, oidc_issuer=there.issuer, _env_file=None, **files, **SECRET)


@pytest.fixture
def ada(session: Session) -> Administrator:
    ada = make_administrator(session, email="ada@example.org")
    make_administrator(session, "Bob", email="bob@example.org")
    return ada


def come(client: TestClient, there: Provider) -> Response:
    """The whole way: away, yes at the provider, and back."""
    away = client.get("/sign-in/provider")
    assert away.status_code == 303, away.text
    return client.get(there.authorize(away.headers["location"]))


def sessions(session: Session) -> list[int | None]:
    return list(session.scalars(select(BrowserSession.administrator_id)))


def test_who_is_known_by_a_verified_address_comes_in(
    client: TestClient, session: Session, there: Provider, ada: Administrator
) -> None:
    page = client.get("/sign-in").text
    assert "Sign in with 127.0.0.1" in page
    away = client.get("/sign-in/provider")
    cookie = away.headers["set-cookie"]
    for part in ("HttpOnly", "SameSite=lax", f"Path={BACK}", "Max-Age=600"):
        assert part in cookie
    asked = parse_qs(urlsplit(away.headers["location"]).query)
    assert away.headers["location"].startswith(f"{there.issuer}/authorize?")
    assert asked["redirect_uri"] == [f"http://testserver{BACK}"]
    kept = client.cookies[COOKIE]
    assert not [value for values in asked.values() for value in values if kept in value]
    answer = client.get(there.authorize(away.headers["location"]))
    assert (answer.status_code, answer.headers["location"]) == (303, "/studies")
    assert COOKIE not in client.cookies
    assert client.get("/studies").status_code == 200
    assert sessions(session) == [ada.id]
    line = session.scalars(select(AuditEvent)).one()
    assert (line.actor, line.what, line.detail) == ("Ada", "signed in", {"how": "provider"})


def test_the_providers_own_name_counts_from_then_on_and_not_the_address(
    client: TestClient, session: Session, there: Provider, ada: Administrator
) -> None:
    assert come(client, there).headers["location"] == "/studies"
    assert session.get_one(Administrator, ada.id).subject == f"{there.issuer} 17"
    there.person = {"sub": "17", "email": "ada@elsewhere.org", "email_verified": False}
    client.cookies.clear()
    assert come(client, there).status_code == 303
    there.person = {"sub": "18", "email": "ada@example.org", "email_verified": True}
    client.cookies.clear()
    assert come(client, there).status_code == 403, "the address was given to somebody else"
    assert sessions(session) == [ada.id, ada.id]


@pytest.mark.parametrize(
    "person",
    [
        {"sub": "99", "email": "eve@example.org", "email_verified": True},
        {"sub": "99", "email": "ada@example.org", "email_verified": False},
        {"sub": "99", "email": "ada@example.org", "email_verified": "true"},
        {"sub": "99", "email": "ada@example.org"},
        {"sub": "99", "email": ["ada@example.org"], "email_verified": True},
        {"sub": "99"},
        {"sub": "9" * 600, "email": "ada@example.org", "email_verified": True},
    ],
)
def test_nobody_else_comes_in_and_nobody_is_made(
    client: TestClient, session: Session, there: Provider, ada: Administrator, person: dict[str, Any]
) -> None:
    there.person = person
    refused = come(client, there)
    assert refused.status_code == 403
    assert "there is no administrator with your address here" in refused.text
    assert "set-cookie" in refused.headers
    assert sessions(session) == []
    assert session.scalars(select(Administrator.name).order_by(Administrator.name)).all() == ["Ada", "Bob"]
    line = session.scalars(select(AuditEvent)).one()
    assert (line.actor, line.what) == ("somebody unknown", "sign-in failed")
    assert "example" not in str(line.detail)


def test_somebody_shut_out_stays_out(client: TestClient, session: Session, there: Provider, ada: Administrator) -> None:
    come(client, there)
    client.cookies.clear()
    managing.deactivate(
        session, session.scalars(select(Administrator).where(Administrator.name == "Bob")).one(), ada.id
    )
    assert come(client, there).status_code == 403
    assert sessions(session) == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"nonce": "another"}, {"nonce": None}, {"aud": "another"}, {"aud": [CLIENT_ID, "another"]},
        {"azp": "another"}, {"iss": "https://elsewhere.example.org"}, {"exp": int(time()) - 3600},
        {"exp": None}, {"iat": int(time()) + 3600}, {"sub": None}, {"aud": None}, {"iss": None},
    ],
)  # fmt: skip
def test_a_token_that_is_not_for_this_sign_in_is_refused(
    client: TestClient, session: Session, there: Provider, ada: Administrator, wrong: dict[str, Any]
) -> None:
    there.claims = wrong
    refused = come(client, there)
    assert refused.status_code == 502
    assert "did not answer as it should" in refused.text
    assert sessions(session) == []


def test_a_token_for_several_that_names_us_is_taken(
    client: TestClient, session: Session, there: Provider, ada: Administrator
) -> None:
    there.claims = {"aud": [CLIENT_ID, "another"], "azp": CLIENT_ID}
    assert come(client, there).status_code == 303


@pytest.mark.parametrize("signing", ["none", "HS256", "stranger"])
def test_a_token_that_the_provider_did_not_sign_is_refused(
    client: TestClient, session: Session, there: Provider, ada: Administrator, signing: str
) -> None:
    if signing == "stranger":
        there.key = STRANGER
    else:
        there.signing = signing
    assert come(client, there).status_code == 502
    assert sessions(session) == []


def test_what_one_browser_began_no_other_can_end(
    client: TestClient, session: Session, there: Provider, ada: Administrator
) -> None:
    other = TestClient(client.app, follow_redirects=False)
    mine = there.authorize(client.get("/sign-in/provider").headers["location"])
    theirs = there.authorize(other.get("/sign-in/provider").headers["location"])
    for browser, address in ((other, mine), (TestClient(client.app, follow_redirects=False), mine), (client, theirs)):
        refused = browser.get(address)
        assert refused.status_code == 403
        assert "not begun in this browser" in refused.text
    assert sessions(session) == []
    assert "POST /token" not in there.asked, "the code was never shown to the provider"


def test_a_code_of_another_sign_in_is_refused_by_its_verifier(
    client: TestClient, session: Session, there: Provider, ada: Administrator
) -> None:
    """PKCE: whoever stole a code cannot use it, even with a state of their own."""
    other = TestClient(client.app, follow_redirects=False)
    stolen = parse_qs(urlsplit(there.authorize(other.get("/sign-in/provider").headers["location"])).query)["code"][0]
    client.get("/sign-in/provider")
    state = derived(client.cookies[COOKIE], "state")
    assert client.get(BACK, params={"code": stolen, "state": state}).status_code == 502
    assert sessions(session) == []


def test_coming_back_twice_is_refused(
    client: TestClient, session: Session, there: Provider, ada: Administrator
) -> None:
    address = there.authorize(client.get("/sign-in/provider").headers["location"])
    kept = client.cookies[COOKIE]
    assert client.get(address).status_code == 303
    assert client.get(address).status_code == 403
    client.cookies.set(COOKIE, kept, path=BACK)
    assert client.get(address).status_code == 502, "the code was used"
    assert len(sessions(session)) == 1


@pytest.mark.parametrize(
    "query", ["", "?error=access_denied&state=x", "?code=x", "?state=x&code=y", "?next=//evil.example"]
)
def test_there_is_no_way_in_and_none_out_by_the_address_alone(
    client: TestClient, ada: Administrator, query: str
) -> None:
    answer = client.get(f"{BACK}{query}")
    assert answer.status_code == 403
    assert "location" not in answer.headers
    assert client.get(f"{BACK}?code={'x' * 4001}").status_code == 422
    away = client.get(f"/sign-in/provider{query}")
    assert "evil" not in away.headers["location"]
    assert client.get(f"{BACK}?code=x&state=é").status_code == 403


@pytest.mark.parametrize("broken", ["/.well-known/openid-configuration", "/token", "/keys"])
def test_a_provider_that_fails_is_said_and_the_password_still_works(
    client: TestClient, there: Provider, ada: Administrator, broken: str
) -> None:
    away = client.get("/sign-in/provider")
    there.broken = broken
    back = client.get(there.authorize(away.headers["location"]))
    assert back.status_code == 502
    assert "sign in with your password" in back.text
    if broken.startswith("/.well"):
        assert client.get("/sign-in/provider").status_code == 502
    assert client.post("/sign-in", data={"name": "Ada", "password": PASSWORD}).status_code == 303


@pytest.mark.parametrize(
    "said", [{"issuer": "https://elsewhere.example.org"}, {"token_endpoint": None}, {"jwks_uri": 7}]
)
def test_a_provider_that_says_odd_things_of_itself_is_not_believed(
    client: TestClient, session: Session, there: Provider, ada: Administrator, said: dict[str, Any]
) -> None:
    address = there.authorize(client.get("/sign-in/provider").headers["location"])
    there.metadata = said
    assert client.get(address).status_code == 502
    assert sessions(session) == []


def test_a_provider_may_tell_the_address_apart_and_want_the_secret_in_the_form(
    client: TestClient, session: Session, there: Provider, ada: Administrator
) -> None:
    there.in_userinfo = True
    there.metadata = {"token_endpoint_auth_methods_supported": ["client_secret_post"]}
    assert come(client, there).status_code == 303
    assert "GET /userinfo" in there.asked
    assert sessions(session) == [ada.id]


def test_a_first_password_is_void_once_somebody_came_in_by_the_provider(
    client: TestClient, session: Session, there: Provider, ada: Administrator
) -> None:
    cleo, first = managing.add(session, ada, "Cleo")
    managing.set_email(session, ada, cleo.id, "cleo@example.org")
    there.person = {"sub": "21", "email": "cleo@example.org", "email_verified": True}
    assert come(client, there).headers["location"] == "/studies"
    client.cookies.clear()
    assert client.post("/sign-in", data={"name": "Cleo", "password": first}).status_code == 401


def test_an_address_is_written_on_the_page_of_a_person(
    client: TestClient, session: Session, ada: Administrator
) -> None:
    sign_in(client, session, session.get_one(Administrator, ada.id))
    bob = session.scalars(select(Administrator.id).where(Administrator.name == "Bob")).one()
    assert re.search(r'name="email"[^>]*value="bob@example.org"', client.get(f"/administrators/{bob}").text)
    for email, status in (("robert@example.org", 303), ("ada@example.org", 409), ("nobody", 422), ("", 303)):
        assert client.post(f"/administrators/{bob}/email", data={"email": email}).status_code == status


# ---- settings -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"oidc_client_secret": ""}, "set all three or none"),
        ({"oidc_client_id": ""}, "set all three or none"),
        ({"oidc_issuer": ""}, "set all three or none"),
        ({"oidc_client_secret": "short"}, "nobody can guess"),
        ({"oidc_client_secret": "a" * 40}, "nobody can guess"),
        ({"oidc_client_secret": "your-client-secret-here"}, "nobody can guess"),
        ({"oidc_client_secret": "CHANGEME-1234567890"}, "nobody can guess"),
        ({"oidc_issuer": "http://id.example.org"}, "over http only here"),
        ({"oidc_issuer": "id.example.org"}, "the provider's address"),
        ({"oidc_issuer": "https://id.example.org/?x=1"}, "the provider's address"),
    ],
)
def test_a_setting_that_is_weak_or_half_is_refused(given: dict[str, str], says: str) -> None:
    good = {"oidc_issuer": "https://id.example.org", **SECRET}
    assert Settings(_env_file=None, **good).sign_in_name == "id.example.org"
    assert Settings(_env_file=None, **good, oidc_name="Our lab").sign_in_name == "Our lab"
    with pytest.raises(ValidationError, match=says):
        Settings(_env_file=None, **good | given)


def test_an_https_provider_keeps_to_https(client: TestClient, there: Provider) -> None:
    from app.administrators.provider import _endpoints

    class Told:
        def request(self, *_: Any, **__: Any) -> Any:
            return self

        def raise_for_status(self) -> None:
            pass

        def json(self) -> dict[str, Any]:
            return there.described() | {"issuer": "https://id.example.org"}

    with pytest.raises(ValueError, match="not HTTPS"):
        _endpoints(Told(), Settings(_env_file=None, oidc_issuer="https://id.example.org", **SECRET))


def test_the_token_says_nothing_by_what_is_derived_of_it() -> None:
    made = {derived("token", purpose) for purpose in ("state", "nonce", "verifier")}
    assert len(made) == 3
    assert {len(one) for one in made} == {43}
