"""A study of 100,000 items against one of 600, with as many raters and verdicts: the next item, and the progress page.

Both are served at once and asked in turns, on SQLite. Items are a line of text each: what they show is not asked for.
"""

import asyncio
import statistics
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass

from sqlalchemy import Engine, select

from app.clock import now
from app.models import Rater, Study
from app.rating.shading import Fragments
from app.rating.statements import FREE, FREE_ONWARD
from app.store.db import open_engine, reading
from benchmarks.loopback import GLANCE, Browser, serving
from benchmarks.outcome import Outcome
from benchmarks.rating_load import Tally, all_rate
from benchmarks.rating_study import administrator_cookie, made_study

NAME, TARGET = "large-study", 1.5
SMALL, LARGE = 600, 100_000
RATERS, EACH, TIMES = 3, 100, 200
LINE = Fragments(b"<ol><li><p>one <mark class=a15>line</mark></ol>", b"<ol><li><p>one <mark class=a15>line</mark></ol>")


@dataclass
class Served:
    """One of the two studies, and the times of what is asked of it."""

    port: int
    cookie: str
    page: str
    engine: Engine
    raters: list[int]


def measure() -> Outcome:
    """The ratio is the larger of the next item's and the page's; looking from the beginning is in the detail."""
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        small, large = (_served(f"sqlite:///{folder}/{items}.db", items, stack) for items in (SMALL, LARGE))
        questions: dict[str, Callable[[Served], None]] = {
            "next_item": lambda study: _next_item(study, onward=True),
            "first_free_item": lambda study: _next_item(study, onward=False),
        }
        milliseconds = {name: _in_turns(ask, small, large) for name, ask in questions.items()}
        milliseconds["progress_page"] = asyncio.run(_pages_in_turns(small, large))
        small.engine.dispose()
        large.engine.dispose()
    ratios = {name: round(slow / quick, 3) for name, (quick, slow) in milliseconds.items()}
    ratio = max(ratios["next_item"], ratios["progress_page"])
    detail = {
        "ratios": ratios,
        "milliseconds": {name: [round(each, 3) for each in pair] for name, pair in milliseconds.items()},
        "items": [SMALL, LARGE], "verdicts": RATERS * EACH,
    }  # fmt: skip
    return Outcome(NAME, ratio, TARGET, ratio <= TARGET, detail)


def _served(url: str, items: int, stack: ExitStack) -> Served:
    cookies = made_study(url, items=items, raters=RATERS, capacity=RATERS, share=items, rendered=[LINE])
    cookie = administrator_cookie(url)
    port, _ = stack.enter_context(serving(GLANCE, {"GLANCE_DATABASE_URL": url}))
    asyncio.run(all_rate(port, cookies, EACH, 0.0, Tally()))
    engine = open_engine(url)
    with reading(engine) as session:
        code = session.scalars(select(Study.code)).one()
        raters = list(session.scalars(select(Rater.id)))
    return Served(port, cookie, f"/studies/{code}", engine, raters)


def _next_item(study: Served, *, onward: bool) -> None:
    statement = FREE_ONWARD if onward else FREE
    with reading(study.engine) as session:
        for rater in study.raters:
            session.connection().execute(statement, {"rater": rater, "at": now()}).one()


def _in_turns(ask: Callable[[Served], None], small: Served, large: Served) -> tuple[float, float]:
    """Median milliseconds of both."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(TIMES):
        for study, kept in zip((small, large), times, strict=True):
            started = time.perf_counter()
            ask(study)
            kept.append((time.perf_counter() - started) * 1e3)
    return statistics.median(times[0]), statistics.median(times[1])


async def _pages_in_turns(small: Served, large: Served) -> tuple[float, float]:
    times: tuple[list[float], list[float]] = ([], [])
    async with Browser(small.port, small.cookie) as one, Browser(large.port, large.cookie) as other:
        for _ in range(TIMES):
            for browser, study, kept in zip((one, other), (small, large), times, strict=True):
                answer = await browser.get(study.page)
                if answer.status != 200:
                    raise RuntimeError(f"the page of progress was answered with {answer.status}")
                kept.append(answer.seconds * 1e3)
    return statistics.median(times[0]), statistics.median(times[1])
