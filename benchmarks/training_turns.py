"""Steps of several trainings in turns, a step each over the same tokens, so that whatever else goes on hits all."""

import statistics
import time
from collections.abc import Callable, Mapping

import torch

from benchmarks.passes import Seconds

WARM_UP = 5

Step = Callable[[int], object]
"""Does the step of this number."""


def in_turns(steps: Mapping[str, Step], rounds: int) -> dict[str, list[Seconds]]:
    """What each step took, by name. Who goes first changes; the first rounds are not counted."""
    taken: dict[str, list[Seconds]] = {name: [] for name in steps}
    names = list(steps)
    for number in range(rounds + WARM_UP):
        for name in names if number % 2 else reversed(names):
            taken[name].append(_timed(steps[name], number))
    return {name: seconds[WARM_UP:] for name, seconds in taken.items()}


def _timed(step: Step, number: int) -> Seconds:
    _finish()
    clock, processor = time.perf_counter(), time.process_time()
    step(number)
    _finish()
    return Seconds(time.perf_counter() - clock, time.process_time() - processor)


def _finish() -> None:
    """Wait for what a GPU has still to do."""
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def ratio_of(taken: Mapping[str, list[Seconds]], one: str, other: str) -> Seconds:
    """How many times as long `one` takes as `other`: the median over rounds, on the clock and of the processor."""
    pairs = list(zip(taken[one], taken[other], strict=True))
    return Seconds(
        statistics.median(mine.clock / theirs.clock for mine, theirs in pairs),
        statistics.median(mine.processor / theirs.processor for mine, theirs in pairs),
    )


def tokens_per_second(taken: Mapping[str, list[Seconds]], tokens: int) -> dict[str, int]:
    """Speed of the median step of so many tokens: one step that the system interrupted does not count."""
    return {name: round(tokens / statistics.median(each.clock for each in steps)) for name, steps in taken.items()}
