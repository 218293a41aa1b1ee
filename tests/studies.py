"""A small sealed study for tests, from two small run folders, and a browser that is let in to rate or to manage."""

from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from fastapi.testclient import TestClient
from sqlalchemy.orm import Session

from app.clock import now
from app.models import Administrator, BrowserSession, Study
from app.security import ADMINISTRATOR_COOKIE, LIFETIME, hash_password, new_token, token_hash
from app.settings import Settings
from app.studies.creating import create_study
from app.studies.design import Design
from app.studies.freezing import Frozen, freeze
from tests.runs import make_run

SMALL = {"neurons_per_arm": 6, "snippets": 20, "seats": 3}
SECRET = bytes(range(32))
PASSWORD = "correct horse battery staple"


@cache
def two_runs() -> tuple[Path, Path]:
    """Two small runs that differ in everything an arm may differ in; made once for all tests."""
    folder = Path(mkdtemp(prefix="glance-runs-"))
    make_run(folder / "gelu", "gelu", layers=2, hidden=32, name="quillfeather", size=611_328)
    make_run(folder / "solu_ln", "solu_ln", layers=3, hidden=24, name="marzipan", size=922_752)
    return folder / "gelu", folder / "solu_ln"


@cache
def frozen_study(design: Design | None = None, *, secret: bytes = SECRET, simulated: bool = False) -> Frozen:
    return freeze(design or Design(**SMALL), two_runs(), secret, simulated=simulated)


def make_study(
    session: Session,
    settings: Settings,
    _tmp_path: Path | None = None,
    *,
    name: str = "Winter study",
    secret: bytes = SECRET,
    simulated: bool = False,
    **design: Any,
) -> Study:
    """A study of two arms, 6 neurons each, 3 seats and 1 verdict a neuron, unless `design` says otherwise."""
    frozen = frozen_study(Design(**SMALL | design), secret=secret, simulated=simulated)
    return create_study(session, settings, name=name, frozen=frozen, actor="Ada")


@cache
def password_hash() -> str:
    return hash_password(PASSWORD)  # slow on purpose, so once for all tests


def make_administrator(session: Session, name: str = "Ada", **rights: bool) -> Administrator:
    administrator = Administrator(name=name, password_hash=password_hash(), **rights)
    session.add(administrator)
    session.flush()
    return administrator


def sign_in(client: TestClient, session: Session, administrator: Administrator | None = None) -> Administrator:
    """Let the client's browser in without going through the page."""
    administrator = administrator or make_administrator(session)
    token = new_token()
    row = BrowserSession(token_hash=token_hash(token), administrator_id=administrator.id, expires_at=now() + LIFETIME)
    session.add(row)
    session.flush()
    client.cookies.set(ADMINISTRATOR_COOKIE, token)
    return administrator
