"""Transactions of routes that wait without a thread: stored, and on the disk, before anybody is told so."""

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated, Protocol, TypeVar

from fastapi import Depends, Request
from sqlalchemy import Engine
from sqlalchemy.orm import Session

from app.db import committing, has_one_writer
from app.durable import make_durable

T = TypeVar("T")
AT_ONCE = 10
"""So many threads write where the database has room for several writers."""


class Write(Protocol):
    def __call__(self, act: Callable[[Session], T]) -> Awaitable[T]:
        """Act in a transaction, which is kept when it is done and undone when it raises."""


class Writer:
    """The threads that write, and the disk.

    Where the database has one writer at a time one thread does the acts in the order they came. Several threads would
    wait for one another at the lock, and each would take Python from the one that holds it.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._threads = ThreadPoolExecutor(1 if has_one_writer(engine) else AT_ONCE, thread_name_prefix="writer")
        self._disk = Disk(engine)

    async def __call__(self, act: Callable[[Session], T]) -> T:
        done = await asyncio.get_running_loop().run_in_executor(self._threads, self._committed, act)
        await self._disk.written()
        return done

    def _committed(self, act: Callable[[Session], T]) -> T:
        with committing(self._engine) as session:
            return act(session)

    def close(self) -> None:
        self._threads.shutdown()
        self._disk.close()


class Disk:
    """One wait for the disk at a time, shared by all who committed before it began."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="disk")
        self._turn = asyncio.Lock()
        self._next: asyncio.Task[None] | None = None
        """The wait that has not begun yet."""

    async def written(self) -> None:
        """Return when all that is committed by now would survive a power cut."""
        if self._next is None:
            self._next = asyncio.create_task(self._wait())
        await asyncio.shield(self._next)  # whoever goes away does not end it for the others

    async def _wait(self) -> None:
        async with self._turn:  # the wait that is under way may have begun before our commit
            self._next = None
            await asyncio.get_running_loop().run_in_executor(self._thread, make_durable, self._engine)

    def close(self) -> None:
        self._thread.shutdown()


async def writer(request: Request) -> Write:
    found: Write = request.app.state.writer
    return found


Writing = Annotated[Write, Depends(writer)]
