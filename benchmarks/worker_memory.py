"""The memory of a worker that has served rating pages and nothing else, to many raters at once."""

import asyncio
import tempfile
import time

from benchmarks.loopback import GLANCE, serving
from benchmarks.memory import PEAK, RESIDENT, memory_kib
from benchmarks.outcome import Outcome
from benchmarks.rating_load import Tally, all_rate
from benchmarks.rating_study import made_study

NAME, MOST_MEGABYTES = "worker-memory", 150.0
RATERS, EACH = 50, 40


def measure() -> Outcome:
    """What is resident after 2,000 verdicts of 50 raters who never pause, to 150 MB; the peak is in the detail."""
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/study.db"
        cookies = made_study(url, items=400, raters=RATERS, capacity=RATERS, share=EACH)
        with serving(GLANCE, {"GLANCE_DATABASE_URL": url}) as (port, process):
            started = _megabytes(RESIDENT, process)
            tally = Tally()
            asyncio.run(all_rate(port, cookies, EACH, 0.0, tally))
            time.sleep(1)  # the last connections are closed
            resident, peak = _megabytes(RESIDENT, process), _megabytes(PEAK, process)
    detail = {
        "megabytes": round(resident, 1), "peak_megabytes": round(peak, 1), "megabytes_when_started": round(started, 1),
        "most_megabytes": MOST_MEGABYTES, "verdicts": len(tally.keys), "errors": len(tally.errors),
    }  # fmt: skip
    ratio = resident / MOST_MEGABYTES
    return Outcome(NAME, round(ratio, 3), 1.0, ratio <= 1.0 and len(tally.keys) == RATERS * EACH, detail)


def _megabytes(name: str, process: int) -> float:
    return memory_kib(name, process) * 1024 / 1e6
