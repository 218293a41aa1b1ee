"""Two ranks that torchrun starts, a thread each, against one process of two threads: the same run, byte for byte.

The clock runs inside `collect` alone, so that loading libraries does not count; joining the ranks, writing the
shares and putting them together do.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.material import some_corpus, untrained_subject
from benchmarks.outcome import Outcome
from model_runner.collect.collect import collect
from model_runner.collect.config import CollectConfig

NAME, TARGET = "collect-two-ranks", 0.9
TOKENS, ROUNDS = 1_000_000, 3
ONE = [sys.executable]
TWO = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]


def measure() -> Outcome:
    """How many times as fast two ranks are: 1 is as fast."""
    some_corpus(TOKENS)
    pairs = [(_run(ONE, threads=2), _run(TWO, threads=1)) for _ in range(ROUNDS)]
    speeds = [one["seconds"] / two["seconds"] for one, two in pairs]
    same = len({each["digest"] for pair in pairs for each in pair}) == 1
    ratio = statistics.median(speeds)
    detail = {
        "same_bytes": same,
        "tokens": TOKENS,
        "rounds": [round(speed, 4) for speed in speeds],
        "one_seconds": [round(one["seconds"], 2) for one, _ in pairs],
        "two_seconds": [round(two["seconds"], 2) for _, two in pairs],
        "processor_seconds_of_one": [round(one["processor"], 2) for one, _ in pairs],
        "processor_seconds_of_first_rank": [round(two["processor"], 2) for _, two in pairs],
    }
    return Outcome(NAME, round(ratio, 4), TARGET, ratio >= TARGET and same, detail)


def _run(program: list[str], threads: int) -> dict[str, Any]:
    """Seconds and the digest, which stands for every byte of the run folder."""
    with tempfile.TemporaryDirectory() as folder:
        command = [*program, "-m", "benchmarks.collect_two_ranks", str(Path(folder, "run"))]
        environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)  # noqa: S603
    said: dict[str, Any] = json.loads(done.stdout)
    return said


def _collect_and_say(folder: Path) -> None:
    corpus = some_corpus(TOKENS)
    subject = untrained_subject("solu_ln", corpus)
    config = CollectConfig(tokens=TOKENS, parts=tuple(corpus.info.parts))
    clock, processor = time.perf_counter(), time.process_time()
    info = collect(subject, corpus, folder, config)
    seconds = {"seconds": time.perf_counter() - clock, "processor": time.process_time() - processor}
    if os.environ.get("RANK", "0") == "0":
        sys.stdout.write(json.dumps({**seconds, "digest": info.digest}))


if __name__ == "__main__":
    _collect_and_say(Path(sys.argv[1]))
