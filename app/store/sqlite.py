"""What is particular to SQLite: transactions that we begin ourselves, and one writer at a time, in order."""

import sqlite3
from typing import Any

from sqlalchemy import Connection, Engine, event
from sqlalchemy.exc import OperationalError

from app.store.turns import Turns

BUSY_MILLISECONDS = 30_000
LONGEST_LOG_PAGES = 8000
"""Of four kilobytes. Whoever commits beyond it writes them into the database at once."""
CACHE_KIB = 512
"""Of SQLite's pages, a connection."""
WRITES, READS = "BEGIN IMMEDIATE", "BEGIN"
"""IMMEDIATE: a read that turns into a write must not fail with "database is locked"."""
WRITE_LOG = "pragma wal_checkpoint(passive)"
WRITE_NOTHING = "pragma user_version=0"
"""A number that nobody reads, and that is 0 already: one page is written all the same."""


class SomebodyElseWrites(Exception):
    """Just now, and whoever asked does not wait."""


def prepare(engine: Engine) -> None:
    """SQLite lets writers poll: under load some would starve. Here they line up."""
    engine.update_execution_options(turns=Turns())
    event.listen(engine, "connect", _prepare_connection)
    event.listen(engine, "begin", _begin)
    event.listen(engine, "checkin", _give_turn_back)


def without_waiting(engine: Engine) -> Engine:
    """The same database, but its transactions begin at once or raise SomebodyElseWrites.

    Its connections are its own, to be disposed of: those of the engine may all be held by requests that can only go on
    when whoever asks here does. The two share the line of writers.
    """
    options = {**engine.get_execution_options(), "patient": False}
    own = Engine(engine.pool.recreate(), engine.dialect, engine.url, execution_options=options)
    event.listen(own, "connect", _wait_for_nobody)
    event.listen(own, "begin", _begin)
    return own


def empty_log(engine: Engine) -> None:
    """Write what the log of writes holds into the database, so that SQLite need not do it within somebody's commit.

    Whoever commits next begins the log anew, and waits for the disk to know of it: that is done here, too. Most is
    written while others write on; only for what they have added meanwhile, and for the new beginning, they wait.
    """
    turns: Turns = engine.get_execution_options()["turns"]
    with engine.connect() as connection:
        cursor = connection.connection.cursor()
        cursor.execute(WRITE_LOG)
        if turns.take(BUSY_MILLISECONDS / 1000):
            try:
                for statement in (WRITE_LOG, WRITES, WRITE_NOTHING, "commit"):
                    cursor.execute(statement)
            finally:
                turns.give()


def write_log_into_database(engine: Engine) -> None:
    """All of it, and wait for the disk. Raises OSError where that cannot be done now."""
    with engine.connect() as connection:
        try:
            busy, _, _ = connection.connection.cursor().execute("pragma wal_checkpoint(full)").fetchone()
        except sqlite3.Error as error:
            raise OSError(f"the log of writes could not be written into the database: {error}") from error
    if busy:
        raise OSError("the log of writes could not be written into the database: somebody was at it")


def _prepare_connection(connection: Any, _record: Any) -> None:
    connection.isolation_level = None  # we emit BEGIN ourselves, in _begin
    # synchronous=normal keeps the database whole; that no commit is lost is seen to by make_durable.
    pragmas = ("foreign_keys=on", "journal_mode=wal", "synchronous=normal", f"busy_timeout={BUSY_MILLISECONDS}")
    # Two megabytes each, as is usual, would be a hundred for all threads; the system keeps the file in memory anyway.
    for pragma in (*pragmas, f"cache_size=-{CACHE_KIB}", f"wal_autocheckpoint={LONGEST_LOG_PAGES}"):
        connection.execute(f"pragma {pragma}")


def _wait_for_nobody(connection: Any, _record: Any) -> None:
    connection.execute("pragma busy_timeout=0")


def _begin(connection: Connection) -> None:
    options = connection.get_execution_options()
    statement = options.get("sqlite_begin", WRITES)
    if statement == READS:
        _run(connection, READS)
    elif options.get("patient", True):
        # Without a turn SQLite itself says what is wrong, after a wait of its own.
        if "turn" not in connection.info and options["turns"].take(BUSY_MILLISECONDS / 1000):
            connection.info["turn"] = options["turns"]
        _run(connection, WRITES)
    else:
        _begin_at_once(connection, options["turns"])


def _begin_at_once(connection: Connection, turns: Turns) -> None:
    if not turns.take(0):
        raise SomebodyElseWrites
    connection.info["turn"] = turns
    try:
        _run(connection, WRITES)
    except OperationalError as locked:  # by another process
        raise SomebodyElseWrites from locked


def _run(connection: Connection, statement: str) -> None:
    try:  # SQLAlchemy's own way takes ten times as long
        connection.connection.cursor().execute(statement)
    except sqlite3.OperationalError as error:
        raise OperationalError(statement, None, error) from error


def _give_turn_back(_connection: Any, record: Any) -> None:
    turns: Turns | None = record.info.pop("turn", None)
    if turns is not None:
        turns.give()
