"""Acts of the event loop: kept and on the disk when they are done, in whatever way somebody else writes meanwhile."""

import asyncio
import shutil
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeVar, cast, overload

import pytest
from sqlalchemy import Engine, select, text
from sqlalchemy.orm import Session

from app.models import Study
from app.store import durable, sqlite, writer
from app.store.db import OVERFLOW, THREADS, open_engine, reading, transaction
from app.store.db import read_only as without_lock
from app.store.writer import Writer
from tests.app.seated import seated_study

T = TypeVar("T")


R = TypeVar("R")


class Write(Protocol):
    """As it is asked for here: what was done is told as it is, unless something is to be made of it."""

    @overload
    def __call__(self, act: Callable[[Session], T]) -> Coroutine[Any, Any, T]: ...
    @overload
    def __call__(self, act: Callable[[Session], T], then: Callable[[T], R]) -> Coroutine[Any, Any, R]: ...


def told_as_it_is(done: T) -> T:
    return done


def in_a_loop(scenario: Callable[[Write], Coroutine[Any, Any, T]], engine: Engine) -> T:
    """In a thread of its own: another test's loop may run in this one."""

    async def play() -> T:
        writes = Writer(engine)
        try:
            return await asyncio.wait_for(scenario(cast(Write, partial(writes, then=told_as_it_is))), 60)
        finally:
            writes.close()

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, play()).result()


@pytest.fixture
def on_sqlite(own_engine: Engine) -> Engine:
    if own_engine.dialect.name != "sqlite":
        pytest.skip("PostgreSQL sees to this itself")
    return own_engine


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Iterator["Disk"]:
    slow = Disk()
    monkeypatch.setattr(durable, "write_through", slow.write)
    yield slow
    slow.go_on.set()


class Disk:
    """A slow one: it writes when it is told to."""

    def __init__(self) -> None:
        self.waits, self.go_on = 0, threading.Event()

    def write(self, _descriptor: int) -> None:
        self.waits += 1
        assert self.go_on.wait(30)


def make(name: str) -> Callable[[Session], str]:
    def act(session: Session) -> str:
        seated_study(session, name=name)
        return name

    return act


def names(engine: Engine) -> set[str]:
    with reading(engine) as session:
        return set(session.scalars(select(Study.name)))


def test_what_is_done_is_kept_and_what_raises_is_undone(own_engine: Engine) -> None:
    async def scenario(write: Write) -> list[Any]:
        def broken(session: Session) -> str:
            seated_study(session, name="Broken")
            raise ValueError("broken")

        acts = [write(make("A")), write(broken), write(make("B"))]
        done: list[Any] = await asyncio.gather(*acts, return_exceptions=True)
        return done

    first, second, third = in_a_loop(scenario, own_engine)
    assert (first, str(second), third) == ("A", "broken", "B")
    assert names(own_engine) == {"A", "B"}


def test_nobody_is_told_before_the_disk_has_it_and_several_share_one_wait(on_sqlite: Engine, disk: Disk) -> None:
    async def scenario(write: Write) -> tuple[int, set[str], int]:
        first = asyncio.create_task(write(make("First")))
        while not disk.waits:
            await asyncio.sleep(0.001)
        # This wait may have begun before they are committed: they need another, and one is enough.
        others = [asyncio.create_task(write(make(name))) for name in ("Second", "Third", "Fourth")]
        await asyncio.sleep(0.2)
        stored, told = names(on_sqlite), sum(task.done() for task in (first, *others))
        disk.go_on.set()
        await asyncio.gather(first, *others)
        return told, stored, disk.waits

    told, stored, waits = in_a_loop(scenario, on_sqlite)
    assert told == 0
    assert stored == {"First", "Second", "Third", "Fourth"}, "the disk is waited for by nobody who writes"
    assert waits == 2


def test_the_answer_is_made_while_the_disk_is_at_work(on_sqlite: Engine, disk: Disk) -> None:
    made: list[str] = []

    async def scenario(write: Write) -> tuple[bool, list[str], str]:
        def page(name: str) -> str:
            made.append(name)
            return f"the page after {name}"

        verdict = asyncio.create_task(write(make("First"), then=page))
        while not disk.waits:
            await asyncio.sleep(0.001)
        early = (verdict.done(), [*made])
        disk.go_on.set()
        return *early, await verdict

    assert in_a_loop(scenario, on_sqlite) == (False, ["First"], "the page after First")


def test_an_answer_that_could_not_be_made_leaves_what_was_done(on_sqlite: Engine) -> None:
    async def scenario(write: Write) -> None:
        def broken(_name: str) -> str:
            raise ValueError("broken")

        with pytest.raises(ValueError, match="broken"):
            await write(make("First"), then=broken)

    in_a_loop(scenario, on_sqlite)
    assert names(on_sqlite) == {"First"}


def test_who_goes_away_ends_the_wait_of_nobody_else(on_sqlite: Engine, disk: Disk) -> None:
    async def scenario(write: Write) -> str:
        gone, stays = asyncio.create_task(write(make("Gone"))), asyncio.create_task(write(make("Stays")))
        await asyncio.sleep(0.2)
        gone.cancel()
        await asyncio.sleep(0)
        disk.go_on.set()
        return await stays

    assert in_a_loop(scenario, on_sqlite) == "Stays"
    assert names(on_sqlite) == {"Gone", "Stays"}


def test_a_disk_that_fails_is_told_to_all_who_waited(on_sqlite: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_descriptor: int) -> None:
        raise OSError("no space left")

    async def scenario(write: Write) -> list[Any]:
        monkeypatch.setattr(durable, "write_through", full)
        failed = await asyncio.gather(write(make("A")), write(make("B")), return_exceptions=True)
        monkeypatch.setattr(durable, "write_through", lambda _descriptor: None)
        return [*failed, await write(make("C"))]

    one, other, after = in_a_loop(scenario, on_sqlite)
    assert isinstance(one, OSError)
    assert isinstance(other, OSError)
    assert after == "C"


@pytest.mark.parametrize("whose", ["a thread's", "another process's"])
@pytest.mark.parametrize("seconds", [0.004, 1.5], ids=["short", "long"])
def test_the_loop_goes_on_while_somebody_else_writes(on_sqlite: Engine, whose: str, seconds: float) -> None:
    """Another process has an engine of its own, which knows nothing of our turns."""
    theirs = on_sqlite if whose == "a thread's" else open_engine(str(on_sqlite.url))
    begun = threading.Event()

    def write_slowly() -> None:
        with transaction(theirs) as session:
            seated_study(session, name="Theirs")
            begun.set()
            time.sleep(seconds)

    async def scenario(write: Write) -> float:
        other = threading.Thread(target=write_slowly)
        other.start()
        assert begun.wait(30)
        task, longest, last = asyncio.create_task(write(make("Ours"))), 0.0, time.perf_counter()
        while not task.done():
            await asyncio.sleep(0.001)
            longest, last = max(longest, time.perf_counter() - last), time.perf_counter()
        other.join(30)
        assert await task == "Ours"
        return longest

    longest = in_a_loop(scenario, on_sqlite)
    assert longest < 1.0 or seconds < 1.0, "the loop was held up by whoever wrote"
    assert names(on_sqlite) == {"Ours", "Theirs"}
    if theirs is not on_sqlite:
        theirs.dispose()


@pytest.fixture
def at_once(on_sqlite: Engine) -> Iterator[Engine]:
    """As the event loop has it."""
    own = sqlite.without_waiting(on_sqlite)
    yield own
    own.dispose()


def test_whoever_was_refused_at_once_leaves_no_turn_behind_and_nobody_elses_patience_shorter(
    on_sqlite: Engine, at_once: Engine
) -> None:
    with transaction(on_sqlite) as session:
        seated_study(session, name="First")
        with pytest.raises(sqlite.SomebodyElseWrites):
            writer._committed(at_once, make("Second"))
    with at_once.connect() as one, without_lock(on_sqlite).connect() as other:
        patience = [each.execute(text("pragma busy_timeout")).scalar_one() for each in (one, other)]
    assert patience == [0, sqlite.BUSY_MILLISECONDS]
    writer._committed(at_once, make("Third"))
    assert names(on_sqlite) == {"First", "Third"}


def test_the_loop_writes_also_while_requests_hold_every_connection(on_sqlite: Engine) -> None:
    """They go on only when the loop does: it must not wait for them."""

    async def scenario(write: Write) -> str:
        return await write(make("Ours"))

    with ExitStack() as held:
        for _ in range(THREADS + OVERFLOW):
            held.enter_context(on_sqlite.connect())
        begun = time.monotonic()
        assert in_a_loop(scenario, on_sqlite) == "Ours"
        assert time.monotonic() - begun < 20  # the pool's patience is 30 s
    assert names(on_sqlite) == {"Ours"}


def test_the_log_of_writes_is_emptied_by_a_thread(on_sqlite: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "COMMITS_IN_LOG", 2)
    monkeypatch.setattr(writer, "TOO_LONG_SECONDS", 60)
    emptied: list[str] = []
    really = sqlite.empty_log

    def empty(engine: Engine) -> None:
        really(engine)
        emptied.append(threading.current_thread().name)

    monkeypatch.setattr(writer, "empty_log", empty)

    async def scenario(write: Write) -> list[int]:
        sizes = []
        for number in range(12):
            await write(make(f"Study {number}"))
            sizes.append(log.stat().st_size)
        return sizes

    log = Path(f"{on_sqlite.url.database}-wal")
    sizes = in_a_loop(scenario, on_sqlite)
    assert len(emptied) == 6
    assert all(name.startswith("writer") for name in emptied)
    assert sizes[-1] < 6 * sizes[1], "it is begun anew, not only written into the database"
    assert len(names(on_sqlite)) == 12


def test_the_log_is_written_into_the_database_while_somebody_else_writes(
    on_sqlite: Engine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sqlite, "BUSY_MILLISECONDS", 100)
    with transaction(on_sqlite) as session:
        seated_study(session, name="Stored")
    with transaction(on_sqlite) as session:
        seated_study(session, name="Not yet")
        with ThreadPoolExecutor(1) as pool:  # it gives up waiting for its turn, which is ours
            pool.submit(sqlite.empty_log, on_sqlite).result(30)
        without_log = Path(shutil.copy(str(on_sqlite.url.database), tmp_path / "without-log.db"))
    alone = open_engine(f"sqlite:///{without_log}")
    assert names(alone) == {"Stored"}
    alone.dispose()
    assert names(on_sqlite) == {"Stored", "Not yet"}


def test_commits_of_other_pages_fill_the_log_too(on_sqlite: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "COMMITS_IN_LOG", 4)
    monkeypatch.setattr(writer, "TOO_LONG_SECONDS", 60)
    emptied: list[int] = []
    monkeypatch.setattr(writer, "empty_log", lambda engine: emptied.append(len(names(engine))))

    async def scenario(write: Writer) -> None:
        for number in range(3):
            with transaction(on_sqlite) as session:
                seated_study(session, name=f"Another page's {number}")
        with without_lock(on_sqlite).connect() as looking:
            looking.execute(text("select 1"))
        await write(make("Ours"))

    in_a_loop(scenario, on_sqlite)
    assert emptied == [4], "and reading counts for nothing"


def test_whoever_commits_after_the_log_was_emptied_need_not_begin_it_anew(on_sqlite: Engine, at_once: Engine) -> None:
    """SQLite waits for the disk then, and the next commit may be one on the event loop."""
    log = Path(f"{on_sqlite.url.database}-wal")

    def salt() -> bytes:
        """Of the log's header: another one as soon as it is begun anew."""
        return log.read_bytes()[16:24]

    writer._committed(on_sqlite, make("Before"))
    before = salt()
    sqlite.empty_log(on_sqlite)
    emptied = salt()
    writer._committed(at_once, make("After"))
    assert before != emptied == salt()
    assert names(on_sqlite) == {"Before", "After"}


def test_acts_that_take_long_do_not_hold_the_loop_up_again(own_engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    where: list[str] = []

    def act(seconds: float) -> Callable[[Session], None]:
        def slow(_session: Session) -> None:
            where.append(threading.current_thread().name.split("_")[0])
            until = time.thread_time() + seconds
            while time.thread_time() < until:
                pass

        return slow

    async def scenario(write: Write) -> None:
        for seconds in (0.0, 0.1, 0.0):
            await write(act(seconds))
        await asyncio.sleep(0.6)
        await write(act(0.0))

    monkeypatch.setattr(writer, "AFTERWARDS_SECONDS", 0.5)
    monkeypatch.setattr(writer, "TOO_LONG_SECONDS", 0.09)
    in_a_loop(scenario, own_engine)
    loop = "writer" if own_engine.dialect.name == "postgresql" else where[0]
    assert where == [loop, loop, "writer", loop]
    assert (loop == "writer") == (own_engine.dialect.name == "postgresql")
