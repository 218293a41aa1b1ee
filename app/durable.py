"""What SQLite has committed is on the disk before anybody is told so, and waiting for the disk holds nobody up."""

import asyncio
import os
from asyncio import Future
from concurrent.futures import ThreadPoolExecutor

from sqlalchemy import Engine

from app.sqlite import write_log_into_database

write_through = getattr(os, "fdatasync", os.fsync)  # macOS has no fdatasync
_doubtful: set[str] = set()
"""Logs of writes that a wait has failed for. A system reports what it could not write once, and then forgets it."""


def make_durable(engine: Engine) -> None:
    """Wait until every commit so far would survive a power cut.

    With synchronous=full SQLite waits itself, within the commit, and the next writer waits along. With normal it leaves
    the disk to us: the commits of several writers lie in the log of writes, in their order, and one wait is for all.

    Raises OSError where the disk fails. Then nobody is told anything until all that the log holds is in the database.
    """
    file = engine.url.database
    if engine.dialect.name != "sqlite" or not file:
        return
    log = f"{os.path.realpath(file)}-wal"  # SQLite follows a link, and writes beside the file
    try:
        if log in _doubtful:
            write_log_into_database(engine)
        _wait_for(log)
    except OSError:
        _doubtful.add(log)
        raise
    _doubtful.discard(log)


def _wait_for(log: str) -> None:
    try:
        opened = os.open(log, os.O_RDWR)
    except FileNotFoundError:
        return  # the last connection was closed: what the log held was written into the database, and waited for
    try:
        write_through(opened)
    finally:
        os.close(opened)


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
        loop, waiting = asyncio.get_running_loop(), self._waiting
        self._waiting, self._busy = [], True
        wait = self._thread.submit(make_durable, self._engine)
        wait.add_done_callback(lambda done: loop.call_soon_threadsafe(self._tell, waiting, done.exception()))

    def _tell(self, waiting: list[Future[None]], failure: BaseException | None) -> None:
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
