"""Transactions of routes that run on the event loop: stored, and on the disk, before anybody is told so."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol, TypeVar

from fastapi import Request
from sqlalchemy import Connection, Engine, event
from sqlalchemy.orm import Session

from app.store.db import committing, has_one_writer
from app.store.durable import Disk
from app.store.sqlite import SomebodyElseWrites, empty_log, without_waiting

T = TypeVar("T")
R = TypeVar("R")
THREADS = 10
"""So many acts wait in threads at once: for the database, or in line for their turn to write."""
COMMITS_IN_LOG = 400
"""Of about 16 pages each. Then the log is emptied, before SQLite does it itself within somebody's commit.

Every commit of this process counts, whoever made it. Another process counts its own: where several write at the same
time, SQLite may be first.
"""
PAUSES_SECONDS = (0.001, 0.002, 0.004, 0.008, 0.016)
"""Whoever writes is mostly done by then."""
TOO_LONG_SECONDS, AFTERWARDS_SECONDS = 0.05, 10.0
"""An act that takes longer, as at the end of a very large study, has held everybody up: a thread does those to come."""


class Write(Protocol):
    def __call__(self, act: Callable[[Session], T], then: Callable[[T], R]) -> Awaitable[R]:
        """Act in a transaction, which is kept when it is done and undone when it raises.

        `then` makes the answer of it while the disk is at work. Nobody hears it before.
        """


class Writer:
    """Where acts are done.

    SQLite has one writer at a time and needs half a millisecond for a verdict, less than handing it to a thread and
    back would cost. So it is done on the spot as soon as nobody else writes, and by a thread, which can wait, where
    somebody writes for long. PostgreSQL is waited for at every statement, in threads.
    """

    def __init__(self, engine: Engine) -> None:
        one = has_one_writer(engine)
        self._engine, self._disk = engine, Disk(engine) if one else None
        self._on_the_spot = without_waiting(engine) if one else engine
        self._pauses = PAUSES_SECONDS if one else ()
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="writer")
        self._in_log, self._in_threads_until = 0, 0.0
        if one:
            event.listen(engine, "commit", self._count)  # of those by threads and by other pages

    async def __call__(self, act: Callable[[Session], T], then: Callable[[T], R]) -> R:
        done = await self._do(act)
        written = self._disk.written() if self._disk else None
        try:
            return then(done)
        finally:
            if written:
                await written

    async def _do(self, act: Callable[[Session], T]) -> T:
        for pause in self._pauses:
            if time.monotonic() < self._in_threads_until:
                break
            begun = time.thread_time()  # of this thread alone, however busy the machine is
            try:
                done = _committed(self._on_the_spot, act)
            except SomebodyElseWrites:
                await asyncio.sleep(pause)
            else:
                self._note(time.thread_time() - begun)
                return done
        return await asyncio.get_running_loop().run_in_executor(self._threads, _committed, self._engine, act)

    def _count(self, _connection: Connection | None = None) -> None:
        self._in_log += 1

    def _note(self, seconds: float) -> None:
        if seconds > TOO_LONG_SECONDS:
            self._in_threads_until = time.monotonic() + AFTERWARDS_SECONDS
        self._count()
        if self._in_log >= COMMITS_IN_LOG:
            self._in_log = 0
            self._threads.submit(empty_log, self._engine)

    def close(self) -> None:
        self._threads.shutdown()
        if self._disk:
            self._disk.close()
            self._on_the_spot.dispose()


def _committed(engine: Engine, act: Callable[[Session], T]) -> T:
    with committing(engine) as session:
        session.connection()  # begun before anything is asked
        return act(session)


def writer_of(request: Request) -> Write:
    found: Write = request.app.state.writer
    return found
