"""Who is asking: passwords, cookies, and the writes of other sites."""

import hashlib
import secrets
from datetime import timedelta
from typing import Annotated, Any, TypeVar

from argon2 import PasswordHasher
from argon2.exceptions import VerificationError
from fastapi import Depends, Request, Response
from sqlalchemy import Select, bindparam, delete, select
from sqlalchemy.orm import Session
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.clock import now
from app.errors import PasswordDue, SignedOut
from app.models import Administrator, BrowserSession, OwnRater, Rater
from app.store.db import ReadSession, WriteSession

ADMINISTRATOR_COOKIE = "glance_administrator"
RATER_COOKIE = "glance_rater"
LIFETIME = timedelta(days=30)
Person = TypeVar("Person", Administrator, Rater)
Who = TypeVar("Who")
_hasher = PasswordHasher()
RUNS = (BrowserSession.token_hash == bindparam("token"), BrowserSession.expires_at > bindparam("at"))
"""Of a browser's session: it is the one of this token, and not over."""
# Built once: every request asks one of them.
LET_IN_ADMINISTRATOR = (
    select(Administrator).join(BrowserSession, BrowserSession.administrator_id == Administrator.id).where(*RUNS)
)
LET_IN_RATER = select(Rater).join(BrowserSession, BrowserSession.rater_id == Rater.id).where(*RUNS)


def hash_password(password: str) -> str:
    return _hasher.hash(password)


def password_matches(password_hash: str, password: str) -> bool:
    try:
        return _hasher.verify(password_hash, password)
    except VerificationError:
        return False


def new_token() -> str:
    """A secret of 256 bits that fits in an address."""
    return secrets.token_urlsafe(32)


def token_hash(token: str) -> str:
    # The token has 256 random bits, so a fast hash is enough to keep it.
    return hashlib.sha256(token.encode()).hexdigest()


def let_in(session: Session, response: Response, person: Administrator | Rater, *, secure: bool, path: str) -> None:
    """Remember this browser as the person's."""
    token = new_token()
    row = BrowserSession(token_hash=token_hash(token), expires_at=now() + LIFETIME)
    if isinstance(person, Administrator):
        row.administrator_id, cookie = person.id, ADMINISTRATOR_COOKIE
    else:
        row.rater_id, cookie = person.id, RATER_COOKIE
    session.add(row)
    response.set_cookie(
        cookie, token, max_age=int(LIFETIME.total_seconds()), path=path or "/",
        httponly=True, samesite="lax", secure=secure,
    )  # fmt: skip


def let_out(request: Request, session: Session, response: Response, cookie: str, *, path: str) -> None:
    """Forget this browser, on both sides."""
    session.execute(
        delete(BrowserSession).where(BrowserSession.token_hash == token_hash(request.cookies.get(cookie, "")))
    )
    response.delete_cookie(cookie, path=path or "/", httponly=True, samesite="lax")


def find_administrator(request: Request, session: Session) -> Administrator | None:
    return _person(request, session, ADMINISTRATOR_COOKIE, LET_IN_ADMINISTRATOR)


def find_rater(request: Request, session: Session) -> Rater | None:
    return _person(request, session, RATER_COOKIE, LET_IN_RATER)


def _person(request: Request, session: Session, cookie: str, let_in: Select[Person]) -> Person | None:
    token = request.cookies.get(cookie)
    if not token:
        return None
    person = session.scalars(let_in, shown_token(token)).one_or_none()
    return person if person and person.deactivated_at is None else None


def shown_token(token: str) -> dict[str, Any]:
    """The values of RUNS."""
    return {"token": token_hash(token), "at": now()}


def remember_own(session: Session, administrator: Administrator | None, rater: Rater | None) -> None:
    """One browser is let in as both: they are one person, who stays blind to their own controls and repeats."""
    if administrator is None or rater is None or session.get(OwnRater, rater.id) is not None:
        return
    session.add(OwnRater(rater_id=rater.id, administrator_id=administrator.id))
    session.flush()


def signed_in(request: Request, session: Session) -> Administrator:
    """Whoever is signed in, even with a first password that they have to change."""
    found = find_administrator(request, session)
    if found is None:
        raise SignedOut("You are not signed in, or your session has ended. Sign in and come back.", "/sign-in")
    return found


def _administrator(request: Request, session: Session) -> Administrator:
    found = signed_in(request, session)
    if found.must_change_password:
        raise PasswordDue(
            "You came in with a password that somebody else made. Choose one of your own first.", "/password"
        )
    return found


def let_in_rater(found: Who | None) -> Who:
    """Raises SignedOut where nobody was found."""
    if found is None:
        raise SignedOut("This browser is not let in. Open the link you were given again; nothing is lost.", None)
    return found


def reading_administrator(request: Request, session: ReadSession) -> Administrator:
    return _administrator(request, session)


def writing_administrator(request: Request, session: WriteSession) -> Administrator:
    return _administrator(request, session)


def reading_rater(request: Request, session: ReadSession) -> Rater:
    return let_in_rater(find_rater(request, session))


def writing_rater(request: Request, session: WriteSession) -> Rater:
    return let_in_rater(find_rater(request, session))


# Two of each, so that a page that only reads never opens a transaction that writes.
ReadingAdministrator = Annotated[Administrator, Depends(reading_administrator)]
WritingAdministrator = Annotated[Administrator, Depends(writing_administrator)]
ReadingRater = Annotated[Rater, Depends(reading_rater)]
WritingRater = Annotated[Rater, Depends(writing_rater)]

SECURITY_HEADERS = {
    "content-security-policy": "default-src 'self'; img-src 'self' data:; object-src 'none'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


UNCACHED = (b"cache-control", b"no-store, no-transform")
"""Not to be compressed on the way either: a compressed length would tell the arm."""


class SecurityHeaders:
    """The same headers on every answer; pages are never kept by a cache."""

    def __init__(self, app: ASGIApp, hsts_seconds: int = 0) -> None:
        self.app = app
        headers = dict(SECURITY_HEADERS)
        if hsts_seconds:
            headers["strict-transport-security"] = f"max-age={hsts_seconds}"
        self.headers = [(name.encode(), value.encode()) for name, value in headers.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                extra = self.headers
                if all(name != b"cache-control" for name, _ in message["headers"]):
                    extra = [*extra, UNCACHED]
                message["headers"] = [*message["headers"], *extra]
            await send(message)

        await self.app(scope, receive, send_with_headers if scope["type"] == "http" else send)


class SameOriginWrites:
    """Refuse unsafe requests that a browser says come from another site."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] not in {"GET", "HEAD", "OPTIONS"} and not _same_origin(scope):
            await PlainTextResponse("A request from another site was refused.", 403)(scope, receive, send)
            return
        await self.app(scope, receive, send)


def _same_origin(scope: Scope) -> bool:
    headers = Headers(scope=scope)
    if "sec-fetch-site" in headers:
        return headers["sec-fetch-site"] in {"same-origin", "none"}
    origin = headers.get("origin")  # browsers without Sec-Fetch-Site still say the origin of a post
    return origin is None or origin.split("://", 1)[-1] == headers.get("host")
