"""Peak memory of a whole collection at four times the tokens, each in a process of its own."""

import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.material import some_corpus, untrained_subject
from benchmarks.memory import PEAK, memory_kib
from benchmarks.outcome import Outcome
from model_runner.collect.collect import collect
from model_runner.collect.config import CollectConfig
from model_runner.memory import share_one_pool

NAME, TARGET = "collect-memory", 1.05
TOKENS, TIMES, ROUNDS = 250_000, 4, 3


def measure() -> Outcome:
    """Of SoLU+LN, its run folder written at the end. Medians, since threads meet in other ways every time."""
    some_corpus(TOKENS * TIMES)
    peaks = [(_peak_of(TOKENS), _peak_of(TOKENS * TIMES)) for _ in range(ROUNDS)]
    few, many = (statistics.median(each) for each in zip(*peaks, strict=True))
    detail = {"tokens": [TOKENS, TOKENS * TIMES], "peak_mib": [[round(peak / 1024) for peak in each] for each in peaks]}
    return Outcome(NAME, round(many / few, 4), TARGET, many / few <= TARGET, detail)


def _peak_of(tokens: int) -> int:
    command = [sys.executable, "-m", "benchmarks.collect_memory", str(tokens)]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)  # noqa: S603


def _collect_and_say_peak(tokens: int) -> None:
    share_one_pool()  # as `glance-runner collect` does
    corpus = some_corpus(TOKENS * TIMES)
    subject = untrained_subject("solu_ln", corpus)
    parts = tuple(corpus.info.parts)
    with tempfile.TemporaryDirectory() as folder:
        collect(subject, corpus, Path(folder, "run"), CollectConfig(tokens=tokens, parts=parts))
    sys.stdout.write(str(memory_kib(PEAK)))


if __name__ == "__main__":
    _collect_and_say_peak(int(sys.argv[1]))
