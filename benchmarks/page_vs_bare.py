"""The rating page, whole, for one rater, against a bare route that returns the same bytes; asked for in turns."""

import asyncio
import re
import statistics
import tempfile
from pathlib import Path

from benchmarks.loopback import GLANCE, Browser, serving
from benchmarks.outcome import Outcome
from benchmarks.rating_study import made_study

NAME, TARGET = "page-vs-bare", 6.0
NAME_BYTES, MOST_BYTES = "page-bytes", 36_000
ROUNDS, WARM_UP = 400, 50


def measure() -> Outcome:
    """Median times of a page over one kept connection."""
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/study.db"
        (cookie,) = made_study(url, items=600, raters=1, capacity=1, share=600)
        with serving(GLANCE, {"GLANCE_DATABASE_URL": url}) as (port, _):
            page = asyncio.run(_first_page(port, cookie))
            bare = Path(folder, "page.html")
            bare.write_bytes(page)
            with serving("--factory benchmarks.bare_page:application", {"BARE_PAGE": str(bare)}) as (bare_port, _):
                ours, theirs = asyncio.run(_in_turns(port, bare_port, cookie))
    ratio = ours / theirs
    detail = {"milliseconds": round(ours * 1e3, 3), "bare_milliseconds": round(theirs * 1e3, 3), "bytes": len(page)}
    return Outcome(NAME, round(ratio, 3), TARGET, ratio <= TARGET, detail)


def measure_bytes() -> Outcome:
    """The page as it is sent. Every item has one length, so the densest one is included."""
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/study.db"
        (cookie,) = made_study(url, items=24, raters=1, capacity=1, share=24)
        with serving(GLANCE, {"GLANCE_DATABASE_URL": url}) as (port, _):
            lengths = asyncio.run(_lengths(port, cookie))
    largest = max(lengths)
    detail = {"bytes": largest, "most_bytes": MOST_BYTES, "spread_bytes": largest - min(lengths)}
    return Outcome(NAME_BYTES, round(largest / MOST_BYTES, 3), 1.0, largest <= MOST_BYTES, detail)


async def _first_page(port: int, cookie: str) -> bytes:
    async with Browser(port, cookie) as browser:
        await browser.post("/rate/begin", {})
        return (await browser.get("/rate")).body


async def _in_turns(port: int, bare_port: int, cookie: str) -> tuple[float, float]:
    async with Browser(port, cookie) as ours, Browser(bare_port) as bare:
        times = [
            ((await ours.get("/rate")).seconds, (await bare.get("/rate")).seconds) for _ in range(WARM_UP + ROUNDS)
        ]
    measured = times[WARM_UP:]
    return statistics.median(our for our, _ in measured), statistics.median(their for _, their in measured)


async def _lengths(port: int, cookie: str) -> list[int]:
    """Page after page through 20 items, dense and sparse ones among them."""
    lengths: list[int] = []
    async with Browser(port, cookie) as browser:
        await browser.post("/rate/begin", {})
        for _ in range(20):
            page = (await browser.get("/rate")).body
            lengths.append(len(page))
            form = dict(re.findall(r'name="(assignment|key)" value="([^"]+)"', page.decode()))
            await browser.post("/rate/verdict", form | {"verdict": "CANNOT_DECIDE"})
    return lengths
