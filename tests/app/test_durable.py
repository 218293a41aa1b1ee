"""A commit is on the disk before it is answered, and the next writer does not wait for the disk."""

import os
import sqlite3
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest
from pydantic import ValidationError
from sqlalchemy import Engine, func, select, text
from sqlalchemy.orm import Session

from app.models import Study
from app.settings import Settings
from app.store import durable, sqlite
from app.store.db import open_engine, reading, transaction
from app.store.migrate import upgrade
from tests.app.seated import seated_study


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    """SQLite only: PostgreSQL sees to this itself."""
    url = f"sqlite:///{tmp_path / 'own.db'}"
    upgrade(url)
    return open_engine(url)


def studies(session: Session) -> int:
    return session.scalars(select(func.count()).select_from(Study)).one()


def test_what_is_committed_is_written_through_before_the_transaction_is_over(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[int, int]] = []

    def look(descriptor: int) -> None:
        with reading(engine) as other:
            seen.append((descriptor_size(descriptor), studies(other)))

    monkeypatch.setattr(durable, "write_through", look)
    with transaction(engine) as session:
        seated_study(session, name="First")
        assert seen == []
    ((size, stored),) = seen
    assert stored == 1  # committed, and still nobody was told
    assert size == (tmp_path / "own.db-wal").stat().st_size > 0
    engine.dispose()


def test_the_database_may_be_a_link_to_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite keeps its log of writes beside the file itself, and that one is waited for."""
    synced: list[int] = []
    monkeypatch.setattr(durable, "write_through", lambda descriptor: synced.append(os.fstat(descriptor).st_ino))
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "own.db").touch()
    (tmp_path / "link.db").symlink_to(tmp_path / "elsewhere" / "own.db")
    linked = open_engine(f"sqlite:///{tmp_path / 'link.db'}")
    with transaction(linked) as session:
        session.execute(text("create table things (name text)"))
    assert synced == [(tmp_path / "elsewhere" / "own.db-wal").stat().st_ino]
    linked.dispose()


def test_an_address_that_hides_the_file_is_refused() -> None:
    with pytest.raises(ValidationError, match="a plain file"):
        Settings(database_url="sqlite:///file:own.db?uri=true", _env_file=None)


def descriptor_size(descriptor: int) -> int:
    return os.fstat(descriptor).st_size


def test_the_next_writer_commits_while_the_first_waits_for_the_disk(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting, go_on = threading.Event(), threading.Event()
    waits: list[threading.Thread] = []

    def slow_disk(_descriptor: int) -> None:
        waits.append(threading.current_thread())
        if threading.current_thread() is first:
            waiting.set()
            assert go_on.wait(30)

    def write(name: str) -> None:
        with transaction(engine) as session:
            seated_study(session, name=name)

    monkeypatch.setattr(durable, "write_through", slow_disk)
    first, *others = [threading.Thread(target=write, args=(name,)) for name in ("First", "Second", "Third", "Fourth")]
    first.start()
    assert waiting.wait(30)
    for other in others:
        other.start()
    deadline = time.monotonic() + 30
    stored = 0
    while stored < 4:
        assert time.monotonic() < deadline, "somebody waits for the disk before they commit"
        with reading(engine) as session:
            stored = studies(session)
    assert all(thread.is_alive() for thread in (first, *others)), "nobody is told before the disk has it"
    go_on.set()
    for thread in (first, *others):
        thread.join(30)
    assert len(waits) < 4, "who came while the disk was waited for share the next wait"
    engine.dispose()


def test_the_log_is_waited_for_by_one_descriptor_which_hears_of_every_failure(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that was opened after another worker had heard of a failure would be told that all is well."""
    opened: list[str] = []
    really = os.open

    def counted(path: str, flags: int) -> int:
        opened.append(path)
        return really(path, flags)

    monkeypatch.setattr(durable.os, "open", counted)
    for name in ("First", "Second"):
        with transaction(engine) as session:
            seated_study(session, name=name)
    assert opened == [str(tmp_path / "own.db-wal")]
    engine.dispose()  # the last connection: SQLite takes the log away, and the next one is another file
    with transaction(engine) as session:
        seated_study(session, name="Third")
    assert opened == [str(tmp_path / "own.db-wal")] * 2
    engine.dispose()


def test_what_was_refused_waits_for_nothing(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(_descriptor: int) -> None:
        raise AssertionError("nothing was committed")

    monkeypatch.setattr(durable, "write_through", never)

    def refused() -> None:
        with transaction(engine) as session:
            seated_study(session, name="First")
            raise ValueError("refused")

    with pytest.raises(ValueError, match="refused"):
        refused()
    engine.dispose()


def test_sqlite_leaves_the_wait_for_the_disk_to_us(engine: Engine) -> None:
    with reading(engine) as session:
        modes = [session.scalar(text(f"pragma {name}")) for name in ("journal_mode", "synchronous", "foreign_keys")]
    assert modes == ["wal", 1, 1]  # 1: normal
    engine.dispose()


def test_after_a_failed_wait_nobody_is_told_before_the_whole_log_is_in_the_database(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A system says once that it could not write a page, and a later wait succeeds although that page is not there."""

    def fail(_descriptor: int) -> None:
        raise OSError(5, "Input/output error")

    def write(name: str) -> None:
        with transaction(engine) as session:
            seated_study(session, name=name)

    monkeypatch.setattr(sqlite, "BUSY_MILLISECONDS", 50)
    monkeypatch.setattr(durable, "write_through", fail)
    with pytest.raises(OSError, match="Input/output"):
        write("First")
    monkeypatch.setattr(durable, "write_through", lambda _descriptor: None)
    with reading(engine) as looking:  # whoever looks keeps the log from being written into the database whole
        assert studies(looking) == 1
        with pytest.raises(OSError, match="somebody was at it"):
            write("Second")
    write("Third")
    assert in_file_alone(tmp_path / "own.db", tmp_path / "copy.db") == 3
    write("Fourth")
    assert in_file_alone(tmp_path / "own.db", tmp_path / "copy.db") == 3  # the log is trusted again
    engine.dispose()


def in_file_alone(database: Path, copy: Path) -> int:
    """The studies that are there without the log of writes."""
    copy.write_bytes(database.read_bytes())
    with closing(sqlite3.connect(copy)) as connection:
        (found,) = connection.execute("select count(*) from study").fetchone()
    return int(found)
