"""Resampling against drawing its random indices alone: 10,000 resamples of 660 neurons seen by 3 raters.

The paper's study: eleven arms of sixty neurons. The two-way bootstrap draws neurons within each arm, and raters; the
permutation test shuffles the 600 neurons of the two conditions within five sizes. Both are set against one draw of
10,000 x 660 indices (and 10,000 x 3 raters), in turns, by processor time, so that other work on the machine does not
count. The worse of the two ratios is reported.
"""

import statistics
import time
from collections.abc import Callable

import numpy as np

from app.reports.statistics.differences import Difference, difference
from app.reports.statistics.permutation import permutation
from app.reports.statistics.ratings import Arm, Ratings
from app.reports.statistics.resampling import draw
from benchmarks.outcome import Outcome

NAME, TARGET = "bootstrap", 4.0
RESAMPLES, NEURONS, RATERS, ROUNDS = 10_000, 60, 3, 9
SIZES = [800_000, 3_100_000, 13_000_000, 50_000_000, 200_000_000]
ARMS = tuple(Arm(condition, size, 0, 0) for condition in ("gelu", "solu_ln") for size in SIZES)


def measure() -> Outcome:
    """Median processor times of the bootstrap, the permutation test and the bare indices, taken in turns."""
    ratings = paper_study(np.random.default_rng(1))
    rng = np.random.default_rng(2)
    works: dict[str, Callable[[], object]] = {
        "indices": lambda: bare_indices(ratings, rng),
        "bootstrap": lambda: bootstrap(ratings, rng),
        "permutation": lambda: permutation(ratings, "solu_ln", "gelu", "size", RESAMPLES, rng),
    }
    seconds: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(ROUNDS):
        for name, work in works.items():
            seconds[name].append(timed(work))
    median = {name: statistics.median(taken) for name, taken in seconds.items()}
    ratios = {name: median[name] / median["indices"] for name in ("bootstrap", "permutation")}
    ratio = max(ratios.values())
    detail = {
        "ratios": {name: round(value, 3) for name, value in ratios.items()},
        "median_seconds": {name: round(value, 4) for name, value in median.items()},
        "resamples": RESAMPLES,
        "neurons": len(ratings.neurons_N),
        "raters": RATERS,
        "rounds": ROUNDS,
    }
    return Outcome(NAME, round(ratio, 3), TARGET, ratio <= TARGET, detail)


def timed(work: Callable[[], object]) -> float:
    """Processor seconds of this process."""
    started = time.process_time()
    work()
    return time.process_time() - started


def bare_indices(ratings: Ratings, rng: np.random.Generator) -> None:
    """One index for every neuron and every rater of every resample."""
    rng.integers(0, len(ratings.neurons_N), (RESAMPLES, len(ratings.neurons_N)))
    rng.integers(0, RATERS, (RESAMPLES, RATERS))


def bootstrap(ratings: Ratings, rng: np.random.Generator) -> Difference:
    """Both bootstraps of every arm, and the difference over all sizes with its four intervals."""
    draws = draw(ratings, RESAMPLES, rng)
    return difference(ratings, draws, "solu_ln", "gelu", SIZES, 0.95, rng)


def paper_study(rng: np.random.Generator) -> Ratings:
    """Two conditions in five sizes and a third in one, sixty neurons an arm, every rater on every neuron."""
    arms = tuple(sorted((*ARMS, Arm("gelu_ln", 13_000_000, 0, 0))))
    total = len(arms) * NEURONS
    yes_NR = (rng.random((total, RATERS)) < rng.random((total, 1))).astype(float)
    arm_N = np.repeat(np.arange(len(arms)), NEURONS)
    return Ratings(yes_NR, np.ones((total, RATERS)), np.arange(total), arm_N, np.arange(RATERS), arms)
