"""What SQLite has committed is on the disk before anybody is told so, and waiting for the disk holds nobody up."""

import asyncio
import os
import threading
from asyncio import Future
from concurrent.futures import ThreadPoolExecutor

from sqlalchemy import Engine, event

from app.store.sqlite import write_log_into_database

write_through = getattr(os, "fdatasync", os.fsync)  # macOS has no fdatasync


class Log:
    """The log of writes, waited for by one thread at a time.

    A system says once to each descriptor that it could not write a page, and calls the page written from then on. So
    one descriptor is kept open: it hears of every failure since the last wait, also if another process heard it first.
    """

    def __init__(self, engine: Engine, database: str) -> None:
        self._engine = engine
        self._path = f"{os.path.realpath(database)}-wal"  # SQLite follows a link, and writes beside the file
        self._turn = threading.Lock()
        self._descriptor: int | None = None
        self._begun = self._written = 0
        """The number of the wait that began last, and of the last one that found everything written."""
        self._doubtful = False
        """A wait has failed: what came later in the log is worth nothing without what was lost."""

    def wait(self) -> None:
        begun = self._begun
        with self._turn:
            if self._written > begun:
                return  # a wait that began after we had committed was for us, too
            self._begun += 1
            try:
                if self._doubtful:
                    write_log_into_database(self._engine)
                self._write_through()
            except OSError:
                self._doubtful = True
                raise
            self._doubtful, self._written = False, self._begun

    def _write_through(self) -> None:
        try:
            there = os.stat(self._path)
        except FileNotFoundError:
            return  # the last connection was closed: what the log held was written into the database, and waited for
        if self._descriptor is None or not os.path.samestat(there, os.fstat(self._descriptor)):
            self.close()
            self._descriptor = os.open(self._path, os.O_RDWR)
        write_through(self._descriptor)

    def close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def keep_log(engine: Engine) -> None:
    """Of a database in a file that SQLite writes."""
    if engine.url.database:
        log = Log(engine, engine.url.database)
        engine.update_execution_options(log=log)
        event.listen(engine, "engine_disposed", lambda _engine: log.close())


def make_durable(engine: Engine) -> None:
    """Wait until every commit so far would survive a power cut.

    With synchronous=full SQLite waits itself, within the commit, and the next writer waits along. With normal it leaves
    the disk to us: the commits of several writers lie in the log of writes, in their order, and one wait is for all.

    Raises OSError where the disk fails. Then nobody is told anything until all that the log holds is in the database.
    """
    log: Log | None = engine.get_execution_options().get("log")
    if log is not None:
        log.wait()


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
