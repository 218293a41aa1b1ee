"""Transactions of routes that run on the event loop: stored, and on the disk, before anybody is told so."""

import asyncio
import time
from asyncio import AbstractEventLoop, Future
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol, TypeVar

from fastapi import Request
from sqlalchemy import Engine
from sqlalchemy.orm import Session

from app.db import committing, has_one_writer
from app.durable import make_durable
from app.sqlite import SomebodyElseWrites, empty_log, without_waiting

T = TypeVar("T")
AT_ONCE = 10
"""So many threads write where the database has room for several writers."""
COMMITS_IN_LOG = 150
"""Of about 16 pages each. Then the log is emptied, before SQLite does it itself within somebody's commit."""
PAUSES_SECONDS = (0.001, 0.002, 0.004, 0.008, 0.016)
"""Whoever writes is mostly done by then."""


TOO_LONG_SECONDS, AFTERWARDS_SECONDS = 0.05, 10.0
"""An act that takes longer, as at the end of a very large study, has held everybody up: a thread does those to come."""


class Write(Protocol):
    def __call__(self, act: Callable[[Session], T]) -> Awaitable[T]:
        """Act in a transaction, which is kept when it is done and undone when it raises."""


class Writer:
    """Where acts are done.

    SQLite has one writer at a time and needs half a millisecond for a verdict, less than handing it to a thread and
    back would cost. So it is done on the spot as soon as nobody else writes, and by a thread, which can wait, where
    somebody writes for long. PostgreSQL is waited for at every statement, in threads.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine, self._disk = engine, Disk(engine)
        one = has_one_writer(engine)
        self._on_the_spot, self._pauses = without_waiting(engine), PAUSES_SECONDS if one else ()
        self._threads = ThreadPoolExecutor(1 if one else AT_ONCE, thread_name_prefix="writer")
        self._in_log, self._in_threads_until = 0, 0.0

    async def __call__(self, act: Callable[[Session], T]) -> T:
        done = await self._do(act)
        await self._disk.written()
        return done

    async def _do(self, act: Callable[[Session], T]) -> T:
        for pause in self._pauses:
            if (begun := time.monotonic()) < self._in_threads_until:
                break
            try:
                done = _committed(self._on_the_spot, act)
            except SomebodyElseWrites:
                await asyncio.sleep(pause)
            else:
                self._note(time.monotonic() - begun)
                return done
        return await asyncio.get_running_loop().run_in_executor(self._threads, _committed, self._engine, act)

    def _note(self, seconds: float) -> None:
        if seconds > TOO_LONG_SECONDS:
            self._in_threads_until = time.monotonic() + AFTERWARDS_SECONDS
        self._in_log += 1
        if self._in_log >= COMMITS_IN_LOG:
            self._in_log = 0
            self._threads.submit(empty_log, self._engine)

    def close(self) -> None:
        self._threads.shutdown()
        self._disk.close()


def _committed(engine: Engine, act: Callable[[Session], T]) -> T:
    with committing(engine) as session:
        session.connection()  # begun before anything is asked
        return act(session)


class Disk:
    """One wait for the disk at a time, shared by all who committed before it began."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="disk")
        self._waiting: list[Future[None]] = []
        """For a wait that has not begun: the one that is under way may have begun before they committed."""
        self._busy = False

    def written(self) -> Future[None]:
        """Done when all that is committed by now would survive a power cut."""
        mine = asyncio.get_running_loop().create_future()
        self._waiting.append(mine)
        if not self._busy:
            self._begin()
        return mine

    def _begin(self) -> None:
        waiting, self._waiting, self._busy = self._waiting, [], True
        self._thread.submit(self._wait, asyncio.get_running_loop(), waiting)

    def _wait(self, loop: AbstractEventLoop, waiting: list[Future[None]]) -> None:
        failure = None
        try:
            make_durable(self._engine)
        except OSError as error:
            failure = error
        loop.call_soon_threadsafe(self._tell, waiting, failure)

    def _tell(self, waiting: list[Future[None]], failure: OSError | None) -> None:
        self._busy = False
        if self._waiting:
            self._begin()
        for one in waiting:
            if one.cancelled():
                continue
            if failure is None:
                one.set_result(None)
            else:
                one.set_exception(failure)

    def close(self) -> None:
        self._thread.shutdown()


def writer_of(request: Request) -> Write:
    found: Write = request.app.state.writer
    return found
