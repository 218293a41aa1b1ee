"""What the commands have in common. What a program may want to read is the last line on standard output."""

import argparse
import getpass
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Engine, make_url, select
from sqlalchemy.orm import Session, selectinload

from app.audit_log import SHELL
from app.errors import Conflict, Invalid, NotFound
from app.models import Administrator, Study
from app.settings import Settings, get_settings
from app.store.db import open_engine, read_only, reading, transaction

Options = argparse.Namespace
ACTOR = SHELL


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")


def current_settings() -> Settings:
    return get_settings()


@contextmanager
def database(settings: Settings) -> Iterator[Engine]:
    """The database, if its tables are those of this program. Raises Conflict with what to do otherwise."""
    from app.store.migrate import is_current

    url = make_url(settings.database_url)
    missing = url.get_backend_name() == "sqlite" and not Path(url.database or "").exists()
    engine = open_engine(settings.database_url)
    try:
        if missing or not is_current(read_only(engine)):
            shown = url.render_as_string(hide_password=True)
            raise Conflict(f"The database {shown} is not up to date. Run: glance migrate")
        yield engine
    finally:
        engine.dispose()


@contextmanager
def looking() -> Iterator[tuple[Session, Settings]]:
    """To read, however long it takes: whoever rates meanwhile does not wait."""
    settings = current_settings()
    with database(settings) as engine, reading(engine) as session:
        yield session, settings


@contextmanager
def writing() -> Iterator[tuple[Session, Settings]]:
    settings = current_settings()
    with database(settings) as engine, transaction(engine) as session:
        yield session, settings


def find_study(session: Session, name: str) -> Study:
    """By code or by name; the code wins, where somebody gave it to another study as a name."""
    found = select(Study).where((Study.code == name) | (Study.name == name)).options(selectinload(Study.arms))
    study = session.scalars(found.order_by(Study.code != name)).first()
    if study is None:
        raise NotFound(f"There is no study with the code or the name “{name}”. `glance study list` names them.")
    return study


def read_password(options: Options, *, twice: bool = False) -> str:
    if options.password_stdin:
        return sys.stdin.readline().rstrip("\r\n")
    if not sys.stdin.isatty():
        raise Invalid("There is no terminal to ask for the password. Use --password-stdin.")
    password = getpass.getpass("Password: ")
    if twice and getpass.getpass("The same again: ") != password:
        raise Invalid("The two passwords are not the same. Nothing was changed.")
    return password


def shell() -> Administrator:
    """Who has a shell on the server may manage studies; the log says that it was done from there."""
    return Administrator(name=ACTOR, may_manage=True, may_unblind=False, may_rate=False)
