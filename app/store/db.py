import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Annotated

from fastapi import Depends, Request
from sqlalchemy import Engine, create_engine
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from app.store.durable import keep_log, make_durable
from app.store.sqlite import READS, prepare

THREADS, OVERFLOW = 40, 10
"""A server answers this many requests at once (Starlette's threads): each finds a connection without waiting."""
WRITERS = THREADS // 2
"""Of them, this many may write. Each step of a request asks for a thread anew: if requests that wait for a lock had
taken them all, the one that holds it could never commit."""
READERS = THREADS // 2
"""The same of those that read: if all connections were held by requests that wait for a thread, and all threads waited
for a connection, nobody could go on."""


def open_engine(url: str) -> Engine:
    """Open the database. SQLite is given real transactions, WAL and foreign keys."""
    # The connection that was used last comes first: what it read and prepared is at hand, and those not needed rest.
    engine = create_engine(
        url, pool_pre_ping=not url.startswith("sqlite"), pool_size=THREADS, max_overflow=OVERFLOW, pool_use_lifo=True
    )
    if has_one_writer(engine):
        prepare(engine)
        keep_log(engine)
    return engine


def has_one_writer(engine: Engine) -> bool:
    """At a time."""
    return engine.dialect.name == "sqlite"


def is_busy(error: DBAPIError) -> bool:
    """Whether the database took no part in it: another program holds SQLite's only lock, or PostgreSQL is away."""
    if isinstance(error.orig, sqlite3.Error):
        return error.orig.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
    # A connection that never was, or that ended, has no state of a statement.
    return error.connection_invalidated or getattr(error.orig, "sqlstate", None) is None


def read_only(engine: Engine) -> Engine:
    """The same pool, but its transactions never take a write lock."""
    return engine.execution_options(sqlite_begin=READS, postgresql_readonly=True)


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


async def room_to_read(request: Request) -> AsyncIterator[None]:
    """The same for READERS requests that read."""
    async with request.app.state.readers:
        yield


RoomToRead = Annotated[None, Depends(room_to_read, scope="function")]


def read_session(request: Request, _room: RoomToRead) -> Iterator[Session]:
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
