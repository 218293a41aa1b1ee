"""A verdict and the next page at 8 raters, against Pearmut 1.1.6 on the same texts, in turns.

Pearmut answers in JSON and renders in the browser; ours is the page itself. It
lives in an environment of its own, made on the first run, because it needs Python 3.12: say which one with PYTHON312.
Both are measured from when every rater has judged one item: a server just started loads and compiles what it needs.
"""

import asyncio
import json
import os
import random
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from benchmarks.loopback import GLANCE, Browser, serving
from benchmarks.outcome import Outcome
from benchmarks.rating_load import FORM, percentile
from benchmarks.rating_study import SNIPPETS, TOKENS, WORDS, made_study

NAME, TARGET = "rating-vs-pearmut", 1.5
RATERS, EACH, ROUNDS, ITEMS = 8, 70, 5, 600
ENVIRONMENT = Path("var/bench/pearmut")
Rate = Callable[[Browser, str, list[float]], AsyncIterator[None]]
"""Judges an item at each step, as this rater, and notes how long each answer took."""


def measure() -> Outcome:
    """The ratio is verdicts a second to labels a second; `ok` also wants our p95 not to exceed theirs."""
    ours: list[float] = []
    theirs: list[float] = []
    our_rates, their_rates = [], []
    python = pearmut_python()
    for _ in range(ROUNDS):
        took, seconds = _our_round()
        our_rates.append(RATERS * EACH / took)
        ours += seconds
        took, seconds = _their_round(python)
        their_rates.append(RATERS * EACH / took)
        theirs += seconds
    ratio = statistics.median(our_rates) / statistics.median(their_rates)
    our_p95, their_p95 = percentile(ours, 95), percentile(theirs, 95)
    detail = {
        "verdicts_per_second": round(statistics.median(our_rates), 1),
        "labels_per_second": round(statistics.median(their_rates), 1),
        "p95_milliseconds": round(our_p95 * 1e3, 1),
        "pearmut_p95_milliseconds": round(their_p95 * 1e3, 1),
    }
    return Outcome(NAME, round(ratio, 3), TARGET, ratio >= TARGET and our_p95 <= their_p95, detail)


def pearmut_python() -> str:
    """The interpreter of Pearmut's environment, which is made when it is not there."""
    python = ENVIRONMENT / "bin" / "python"
    if not python.exists():
        base = os.environ.get("PYTHON312") or shutil.which("python3.12") or "python3.12"
        subprocess.run([base, "-m", "venv", str(ENVIRONMENT)], check=True)  # noqa: S603
        subprocess.run([str(python), "-m", "pip", "install", "-q", "pearmut==1.1.6"], check=True)  # noqa: S603
    return str(python.absolute())


def _our_round() -> tuple[float, list[float]]:
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/study.db"
        cookies = made_study(url, items=ITEMS, raters=RATERS, capacity=RATERS, share=ITEMS)
        with serving(GLANCE, {"GLANCE_DATABASE_URL": url}) as (port, _):
            return asyncio.run(_at_once(port, cookies, _rate_ours))


def _their_round(python: str) -> tuple[float, list[float]]:
    with tempfile.TemporaryDirectory() as root:
        campaign = Path(root, "campaign.json")
        campaign.write_text(json.dumps(_campaign()), encoding="utf-8")
        environment = {"PEARMUT_ROOT": root, "PEARMUT_TOKEN_MAIN": "measured"}
        add = [str(Path(python).parent / "pearmut"), "add", str(campaign), "--url", "http://127.0.0.1"]
        subprocess.run(add, check=True, env=os.environ | environment, cwd=root, stdout=subprocess.DEVNULL)  # noqa: S603
        users = list(json.loads(Path(root, "data", "progress", "measured.json").read_text(encoding="utf-8")))
        with serving("pearmut.app:app", environment, python=python, folder=Path(root)) as (port, _):
            return asyncio.run(_at_once(port, users, _rate_theirs))


def _campaign() -> dict[str, Any]:
    """As many items of as many texts; a text has as many tokens."""
    rng = random.Random(1)  # noqa: S311
    texts = ["".join(rng.choice(WORDS) for _ in range(TOKENS)) for _ in range(500)]
    documents = [[{"tgt": {"A": rng.choice(texts)}} for _ in range(SNIPPETS)] for _ in range(ITEMS)]
    info = {"assignment": "single-stream", "users": RATERS}
    return {"campaign_id": "measured", "info": info, "data": documents}


async def _at_once(port: int, raters: list[str], rate: Rate) -> tuple[float, list[float]]:
    """Seconds in all, and of each answer, from the moment on at which everybody has judged one item."""
    times: list[float] = []
    async with AsyncExitStack() as opened:
        browsers = [await opened.enter_async_context(Browser(port)) for _ in raters]
        judging = [rate(browser, rater, times) for browser, rater in zip(browsers, raters, strict=True)]
        for each in judging:
            await anext(each)
        times.clear()
        started = time.perf_counter()
        await asyncio.gather(*map(_judge, judging))
        return time.perf_counter() - started, times


async def _judge(judging: AsyncIterator[None]) -> None:
    for _ in range(EACH):
        await anext(judging)


async def _rate_ours(browser: Browser, cookie: str, times: list[float]) -> AsyncIterator[None]:
    browser.let_in(cookie)
    await browser.post("/rate/begin", {})
    page = await browser.get("/rate")
    while True:
        form = {name.decode(): value.decode() for name, value in FORM.findall(page.body)}
        page = await browser.post("/rate/verdict", form | {"verdict": "INTERPRETABLE", "hypothesis": "a rule"})
        if page.status != 200:
            raise RuntimeError(f"our server answered {page.status}")
        times.append(page.seconds)
        yield


async def _rate_theirs(browser: Browser, user: str, times: list[float]) -> AsyncIterator[None]:
    """Its page asks for the next item, and logs the response: both calls make what ours does in one."""
    who = {"campaign_id": "measured", "user_id": user}
    while True:
        item = await _call(browser, "/get-next-item", who, times)
        label = {"annotation": [{"A": {"score": 1}}], "actions": [{"time": time.time()}, {"time": time.time()}]}
        await _call(browser, "/log-response", who | {"item_i": item["info"]["item_i"], "payload": label}, times)
        yield


async def _call(browser: Browser, path: str, content: dict[str, Any], times: list[float]) -> Any:
    answer = await browser.send(path, json.dumps(content).encode(), "application/json")
    if answer.status != 200:
        raise RuntimeError(f"Pearmut answered {answer.status} to {path}: {answer.body[:200]!r}")
    times.append(answer.seconds)
    return json.loads(answer.body)
