from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Annotated, Any

from fastapi import Depends, Request
from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.orm import Session

from app.durable import make_durable
from app.turns import Turns

BUSY_MILLISECONDS = 30_000
CACHE_KIB = 512
"""Of SQLite's pages, a connection."""
THREADS = 40
"""A server answers this many requests at once (Starlette's threads): each finds a connection without waiting."""
WRITERS = THREADS // 2
"""Of them, this many may write. Each step of a request asks for a thread anew: if requests that wait for a lock had
taken them all, the one that holds it could never commit."""


def open_engine(url: str) -> Engine:
    """Open the database. SQLite is given real transactions, WAL and foreign keys."""
    engine = create_engine(url, pool_pre_ping=not url.startswith("sqlite"), pool_size=THREADS, max_overflow=5)
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _prepare_sqlite)
        _let_writers_take_turns(engine)
    return engine


def has_one_writer(engine: Engine) -> bool:
    """At a time."""
    return engine.dialect.name == "sqlite"


def read_only(engine: Engine) -> Engine:
    """The same pool, but its transactions never take a write lock."""
    return engine.execution_options(sqlite_begin="BEGIN", postgresql_readonly=True)


def _prepare_sqlite(connection: Any, _record: Any) -> None:
    connection.isolation_level = None  # we emit BEGIN ourselves, in _begin_sqlite
    # synchronous=normal keeps the database whole; that no commit is lost is seen to by make_durable.
    pragmas = ("foreign_keys=on", "journal_mode=wal", "synchronous=normal", f"busy_timeout={BUSY_MILLISECONDS}")
    # Two megabytes each, as is usual, would be a hundred for all threads; the system keeps the file in memory anyway.
    for pragma in (*pragmas, f"cache_size=-{CACHE_KIB}"):
        connection.execute(f"pragma {pragma}")


def _let_writers_take_turns(engine: Engine) -> None:
    """SQLite has one writer at a time and lets the others poll: under load some would starve. Here they line up."""
    turns = Turns()

    def begin(connection: Connection) -> None:
        # IMMEDIATE: a read that turns into a write must not fail with "database is locked".
        statement = connection.get_execution_options().get("sqlite_begin", "BEGIN IMMEDIATE")
        if statement == "BEGIN IMMEDIATE" and "turn" not in connection.info:
            # Without a turn SQLite itself says what is wrong, after a wait of its own.
            connection.info["turn"] = turns.take(BUSY_MILLISECONDS / 1000)
        connection.exec_driver_sql(statement)

    def give_back(_connection: Any, record: Any) -> None:
        if record.info.pop("turn", False):
            turns.give()

    event.listen(engine, "begin", begin)
    event.listen(engine, "checkin", give_back)


@contextmanager
def committing(engine: Engine) -> Iterator[Session]:
    """A transaction, committed at the end. Whoever opens it sees to `make_durable` before anybody is told."""
    with Session(engine, expire_on_commit=False) as session, session.begin():
        yield session


@contextmanager
def transaction(engine: Engine) -> Iterator[Session]:
    """A transaction outside a request, or one that must survive the refusal of the request."""
    with committing(engine) as session:
        yield session
    make_durable(engine)


def plain(session: Session) -> Connection:
    """The session's transaction, for statements that read rows and write values, not objects.

    A verdict takes a dozen of them. Built once and run so, they cost a third of what the same ones cost as objects.
    What the session holds and has not sent goes first; what it has loaded is not brought up to date.
    """
    session.flush()
    return session.connection()


async def room_to_write(request: Request) -> AsyncIterator[None]:
    """Wait without a thread until fewer than WRITERS requests write."""
    async with request.app.state.writers:
        yield


RoomToWrite = Annotated[None, Depends(room_to_write, scope="function")]


def write_session(request: Request, _room: RoomToWrite) -> Iterator[Session]:
    with transaction(request.app.state.engine) as session:
        yield session


@contextmanager
def reading(engine: Engine) -> Iterator[Session]:
    """A transaction that only reads."""
    with Session(read_only(engine), expire_on_commit=False) as session:
        yield session


def read_session(request: Request) -> Iterator[Session]:
    with reading(request.app.state.engine) as session:
        yield session


OpenTransaction = Callable[[], AbstractContextManager[Session]]


async def separate_transactions(request: Request) -> OpenTransaction:
    """Transactions apart from the request's own, one after another: each is kept even if the request is refused.

    Begun and ended by the route itself, they stay in one thread, while each dependency of a request asks for its own:
    the pages that are asked for most are quicker so.
    """
    return partial(transaction, request.app.state.engine)


async def separate_reads(request: Request) -> OpenTransaction:
    """The same for reading."""
    return partial(reading, request.app.state.engine)


SeparateTransactions = Annotated[OpenTransaction, Depends(separate_transactions)]
SeparateReads = Annotated[OpenTransaction, Depends(separate_reads)]
# scope="function": the commit happens before the response leaves, so a failed commit is a 500.
WriteSession = Annotated[Session, Depends(write_session, scope="function")]
ReadSession = Annotated[Session, Depends(read_session, scope="function")]
