"""What each `glance` command does. What a program may want to read is the last line on standard output."""

import argparse
import getpass
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Engine, make_url, select
from sqlalchemy.orm import Session, selectinload

from app import clock
from app.audit_log import SHELL, record
from app.db import open_engine, read_only, reading, transaction
from app.errors import Conflict, Invalid, NotFound
from app.models import Administrator, Study, StudyState
from app.settings import Settings, get_settings

if TYPE_CHECKING:
    from app.studies.draw import DrawnItem

Options = argparse.Namespace
ACTOR = SHELL
LONGEST_DAYS = 3650


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")


# ---- the database -------------------------------------------------------------------------------


def migrate(_options: Options) -> None:
    from app.migrate import upgrade

    upgrade(get_settings().database_url)
    say("The database is up to date.")


def backup(options: Options) -> None:
    from app.backup import backup

    settings = get_settings()
    with database(settings):
        pass
    backup(settings.database_url, options.file)
    with writing() as (session, _):
        record(session, ACTOR, "backup taken")
    say(f"Not in it: the key file {settings.key_file.resolve()}. Keep a copy of that one somewhere else.")
    say(str(options.file))


def restore(options: Options) -> None:
    from app.backup import restore

    settings = get_settings()
    restore(settings.database_url, options.file)
    if not settings.key_file.exists():
        say(f"The key file {settings.key_file.resolve()} is not there yet. Put it back before you unblind a study.")
    say("The database is put back. If the program is newer than the backup, run: glance migrate")


@contextmanager
def database(settings: Settings) -> Iterator[Engine]:
    """The database, if its tables are those of this program. Raises Conflict with what to do otherwise."""
    from app.migrate import is_current

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
    settings = get_settings()
    with database(settings) as engine, reading(engine) as session:
        yield session, settings


@contextmanager
def writing() -> Iterator[tuple[Session, Settings]]:
    settings = get_settings()
    with database(settings) as engine, transaction(engine) as session:
        yield session, settings


def find_study(session: Session, name: str) -> Study:
    """By code or by name; the code wins, where somebody gave it to another study as a name."""
    found = select(Study).where((Study.code == name) | (Study.name == name)).options(selectinload(Study.arms))
    study = session.scalars(found.order_by(Study.code != name)).first()
    if study is None:
        raise NotFound(f"There is no study with the code or the name “{name}”. `glance study list` names them.")
    return study


def serve(options: Options) -> None:
    import uvicorn

    from app.administrators.queries import is_anybody
    from app.listening import insist_on_port
    from app.operations.metrics import share_between_workers

    settings = get_settings()
    with database(settings) as engine, reading(engine) as session:
        begun = is_anybody(session)
    insist_on_port(options.host, options.port)
    if settings.metrics_token and options.workers > 1:
        share_between_workers()
    shown = make_url(settings.database_url).render_as_string(hide_password=True)
    # Said at the start, because either may lie on a disk that goes away with a container.
    say(f"Database {shown}, key file {settings.key_file.resolve()}.")
    say(f"Serving on http://{options.host}:{options.port}{settings.root_path}/ (Ctrl+C stops)")
    if not begun:
        say("There is no administrator yet. Add the first one: glance administrator add NAME")
    sys.stdout.flush()
    # No access log: addresses hold rater's links, and their times would tell who rated what.
    uvicorn.run(
        "app.main:app", factory=True, host=options.host, port=options.port, workers=options.workers,
        access_log=False, server_header=False, log_level="warning", http="app.connection:Connection",
    )  # fmt: skip


# ---- people -------------------------------------------------------------------------------------


def read_password(options: Options, *, twice: bool = False) -> str:
    if options.password_stdin:
        return sys.stdin.readline().rstrip("\r\n")
    if not sys.stdin.isatty():
        raise Invalid("There is no terminal to ask for the password. Use --password-stdin.")
    password = getpass.getpass("Password: ")
    if twice and getpass.getpass("The same again: ") != password:
        raise Invalid("The two passwords are not the same. Nothing was changed.")
    return password


def invite(options: Options) -> None:
    from app.raters import actions

    if options.days is not None and not 1 <= options.days <= LONGEST_DAYS:
        raise Invalid(
            f"A link works for 1 to {LONGEST_DAYS} days, or without --days for ever; {options.days} was given."
        )
    expires_at = clock.now() + timedelta(days=options.days) if options.days else None
    with writing() as (session, settings):
        study = find_study(session, options.study)
        token = actions.invite(
            session, study, options.name, actor=ACTOR, reusable=options.reusable, expires_at=expires_at,
            most_raters=options.most,
        )  # fmt: skip
    if sys.stdout.isatty():  # a program that reads the link needs no advice
        sys.stderr.write("Put the address that raters know your server by before it, such as http://127.0.0.1:8000\n")
    say(f"{settings.root_path}/join/{token}")


# ---- studies ------------------------------------------------------------------------------------


def list_studies(_options: Options) -> None:
    from app.studies.queries import list_studies

    with looking() as (session, _):
        for listed in list_studies(session):
            study = listed.study
            say(f"{study.code}  {study.state:<9}  {listed.done} of {listed.wanted} verdicts  {study.name}")


def create_study(options: Options) -> None:
    """Everything slow is done before the database is written to, but for a line that says that it was begun."""
    from app.design_commands import asked_for
    from app.studies import creating, drafts

    settings = get_settings()
    asked = asked_for(options, settings)
    with database(settings) as engine:
        transactions = partial(transaction, engine)
        with transactions() as session:
            creating.check_name(session, asked.name)
            draft = drafts.start(session, ACTOR, asked, []).code
        folders = [Path(run) for run in asked.runs]
        code = drafts.draw_and_seal(
            transactions, settings, draft, folders, simulated=options.simulated, watch=_watch
        )  # fmt: skip
        with transactions() as session:
            say(f"Sealed: {find_study(session, code).seal_root}")
    say(code)


def _watch(items: "Iterable[DrawnItem]", total: int) -> "Iterable[DrawnItem]":
    """A bar on a terminal; it takes seconds, so nothing where nobody watches."""
    from rich.console import Console
    from rich.progress import track

    if not sys.stderr.isatty():
        return items
    return track(items, "Rendering items", total, console=Console(stderr=True), transient=True)


def close(options: Options) -> None:
    from app.studies.actions import close_study

    with writing() as (session, _):
        study = close_study(session, find_study(session, options.study).code, shell())
    say(f"“{study.name}” is closed. It stays blind until it is unblinded.")


def reopen(options: Options) -> None:
    from app.studies.actions import reopen_study

    with writing() as (session, _):
        study = reopen_study(session, find_study(session, options.study).code, shell())
    say(f"“{study.name}” is open again.")


def shell() -> Administrator:
    """Who has a shell on the server may manage studies; the log says that it was done from there."""
    return Administrator(name=ACTOR, may_manage=True, may_unblind=False, may_rate=False)


def unblind(options: Options) -> None:
    from app.studies import actions

    settings = get_settings()
    with database(settings) as engine:
        transactions = partial(transaction, engine)
        with transactions() as session:
            study = find_study(session, options.study)
        typed = study.name if options.password_stdin else input(f"Type the name of the study ({study.name}): ")
        password = read_password(options)
        state = actions.unblind(
            transactions, partial(reading, engine), settings, study.code, options.administrator,
            password=password, typed_name=typed, reason=options.reason,
        )  # fmt: skip
    if state is StudyState.UNBLINDED:
        say(f"“{study.name}” is unblinded.")
    else:
        say(f"It takes two: somebody else who may unblind “{study.name}” has to do the same within a day.")


# ---- files --------------------------------------------------------------------------------------


def report(options: Options) -> None:
    from app.language import language
    from app.reports.folder import report_files
    from app.reports.queries import unblinded_study
    from app.reports.rated_items import all_items
    from app.reports.report import make_report

    with looking() as (session, _):
        study = unblinded_study(session, find_study(session, options.study).code)
        made = make_report(session, study, mixed=options.mixed)
        written = report_files(made, all_items(session, study), language(options.language))
        _write(options.out, {file.name: file.content for file in written})
    _note_taken(study, "report")
    say(str(options.out / "report.html"))


def export(options: Options) -> int:
    from app.reports.exports import empty_tables, files
    from app.reports.neuronpedia import neuronpedia_files
    from app.reports.queries import unblinded_study

    with looking() as (session, _):
        study = find_study(session, options.study)
        _write(options.out, {file.name: file.content for file in files(session, study)})
        if options.neuronpedia:
            study = unblinded_study(session, study.code)
            _write(options.out, {file.name: file.content for file in neuronpedia_files(session, study)})
        warnings = empty_tables(session, study)
    _note_taken(study, "export")
    for warning in warnings:
        sys.stderr.write(f"{warning}\n")
    say(str(options.out))
    return 1 if warnings and options.strict else 0


def _note_taken(study: Study, file: str) -> None:
    with writing() as (session, _):
        record(session, ACTOR, "download taken", study_id=study.id, file=file)


def import_ratings(options: Options) -> None:
    from app.reports import actions

    with writing() as (session, _):
        study = find_study(session, options.study)
        found = actions.import_ratings(session, study, options.export, ACTOR)
    say(f"Brought back: {found.raters} raters, {found.sittings} sittings, {found.ratings} versions of verdicts.")


def _write(folder: Path, contents: dict[str, bytes]) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in contents.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)
    except OSError as error:
        raise Invalid(f"{error.filename} could not be written: {error.strerror}. Give another --out.") from None


def verify(options: Options) -> int:
    from app.reports.verified_tables import verify_tables
    from app.studies.verifying import verify_export

    verified = verify_export(options.export)
    verified.add(verify_tables(options.export))
    for line in verified.good:
        say(f"✓ {line}")
    for line in verified.faults:
        say(f"× {line}")
    return 1 if verified.faults else 0
