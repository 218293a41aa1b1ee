"""A copy of the whole database in one file, taken while raters go on, and put back into an empty one.

The key file is not in it: who has both can tell which item is which neuron, so they are kept apart.
"""

import os
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from sqlalchemy import URL, create_engine, inspect, make_url

from app.errors import Conflict, Invalid, NotFound

KINDS = {b"SQLite format 3\x00": "sqlite", b"PGDMP": "postgresql"}
NAMES = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}


@contextmanager
def _in_a_sentence() -> Iterator[None]:
    """What the disk refuses."""
    try:
        yield
    except OSError as error:
        raise Invalid(f"{error.filename} cannot be used: {error.strerror}. Name another file.") from None


@_in_a_sentence()
def backup(database_url: str, file: Path) -> None:
    """Write the database to `file`, which must not exist. It appears whole or not at all."""
    url = make_url(database_url)
    if file.exists():
        raise Conflict(f"{file} exists already, and a backup never overwrites one. Name another file.")
    file.parent.mkdir(parents=True, exist_ok=True)
    half = file.with_name(f"{file.name}.half")
    half.unlink(missing_ok=True)
    try:
        _copy(url, half)
    except (Invalid, NotFound):
        half.unlink(missing_ok=True)
        raise
    half.rename(file)


def _copy(url: URL, half: Path) -> None:
    if url.get_backend_name() == "sqlite":
        _copy_sqlite(_path(url), half)
    else:
        _run(url, ["pg_dump", "--format=custom", "--no-owner", f"--file={half}"])


@_in_a_sentence()
def restore(database_url: str, file: Path) -> None:
    """Put a backup back into a database that is empty or not there."""
    url = make_url(database_url)
    if not file.is_file():
        raise NotFound(f"There is no file {file}.")
    kind = kind_of(file)
    if kind != url.get_backend_name():
        named = NAMES[url.get_backend_name()]
        raise Invalid(f"{file} is a backup of {NAMES[kind]}, and GLANCE_DATABASE_URL names a database of {named}.")
    if _holds_tables(url):
        shown = url.render_as_string(hide_password=True)
        raise Conflict(f"The database {shown} is not empty. A backup is only put back into an empty one.")
    if kind == "sqlite":
        _path(url).parent.mkdir(parents=True, exist_ok=True)
        _copy_sqlite(file, _path(url))
    else:
        _run(url, ["pg_restore", "--no-owner", "--exit-on-error", "--single-transaction"], [str(file)])


def kind_of(file: Path) -> str:
    """Which database a backup is of, by its first bytes."""
    with file.open("rb") as opened:
        first = opened.read(16)
    for magic, kind in KINDS.items():
        if first.startswith(magic):
            return kind
    raise Invalid(f"{file} is not a backup made by `glance backup`.")


def _path(url: URL) -> Path:
    return Path(url.database or "")


def _copy_sqlite(source: Path, target: Path) -> None:
    """SQLite's own online copy: a writer may go on meanwhile, and the copy is one moment of the database."""
    if not source.is_file():
        raise NotFound(f"There is no database {source}.")
    try:
        fault = _copied(source, target)
    except sqlite3.Error as error:
        fault = str(error)
    if fault != "ok":
        target.unlink(missing_ok=True)
        raise Invalid(f"{source} could not be copied whole to {target}, so nothing was kept: {fault}.")


def _copied(source: Path, target: Path) -> str:
    """The first fault of the copy, or “ok”."""
    with (
        closing(sqlite3.connect(f"{source.resolve().as_uri()}?mode=ro", uri=True)) as from_,
        closing(sqlite3.connect(target)) as to,
    ):
        from_.backup(to)
        return str(to.execute("pragma integrity_check").fetchone()[0])


def _holds_tables(url: URL) -> bool:
    if url.get_backend_name() == "sqlite" and not _path(url).exists():
        return False
    engine = create_engine(url)
    try:
        return bool(inspect(engine).get_table_names())
    finally:
        engine.dispose()


def _run(url: URL, command: Sequence[str], files: Sequence[str] = ()) -> None:
    """One of PostgreSQL's own programs. The password goes by the environment: arguments are everybody's to read."""
    program = shutil.which(command[0])
    if program is None:
        raise NotFound(f"The program {command[0]} was not found. Install PostgreSQL's client programs.")
    address = url.set(drivername="postgresql", password=None).render_as_string()
    environment = os.environ | ({"PGPASSWORD": str(url.password)} if url.password else {})
    arguments = [program, *command[1:], f"--dbname={address}", *files]
    done = subprocess.run(arguments, env=environment, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        raise Invalid(f"{command[0]} failed: {done.stderr.strip()}{_remedy(done.stderr)}")


def _remedy(said: str) -> str:
    if "server version mismatch" not in said:
        return ""
    return "\nInstall PostgreSQL's client programs of the server's version or newer, and run it again."
