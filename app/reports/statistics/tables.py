"""Tables of yes and no, a row a condition, and the tests that need them: one verdict a neuron, or there are none."""

from dataclasses import dataclass

import numpy as np

from app.reports.names import letter
from app.reports.statistics.across import SINGLE, Across, across, refused
from app.reports.statistics.arrays import Bools, Floats
from app.reports.statistics.differences import shared_sizes
from app.reports.statistics.exact import Exact, exact_tests
from app.reports.statistics.ratings import Ratings


@dataclass(frozen=True)
class ExactInSize:
    """Exact tests of one condition against the baseline in one size."""

    condition: str
    size: int
    tests: Exact


@dataclass(frozen=True)
class AcrossSizes:
    """One condition against the baseline, stratified by size; and raters' agreement about it, stratified by rater."""

    condition: str
    by_size: Across
    by_rater: Across
    """Whether raters see one odds ratio (rater x arm): needs one verdict a neuron."""


def exact_in_sizes(ratings: Ratings, condition: str, baseline: str) -> list[ExactInSize]:
    """Exact tests in each size; with several verdicts a neuron there is no 2x2 table of independent verdicts."""
    if not ratings.single:
        return []
    size_N = np.array([arm.size for arm in ratings.arms])[ratings.arm_N]
    tables = [
        (size, _table(ratings, condition, baseline, size_N == size))
        for size in shared_sizes(ratings, condition, baseline)
    ]
    return [ExactInSize(condition, size, exact_tests(*_yes_and_n(table))) for size, table in tables]


def across_sizes(ratings: Ratings, condition: str, baseline: str, level: float) -> AcrossSizes:
    """One condition against the baseline, by size and by rater; undefined with several verdicts a neuron."""
    if not ratings.single:
        n = len(ratings.neurons_N)
        return AcrossSizes(condition, refused(SINGLE, n), refused(SINGLE, n))
    size_N = np.array([arm.size for arm in ratings.arms])[ratings.arm_N]
    rater_N = ratings.seen_NR.argmax(axis=1)
    sizes = shared_sizes(ratings, condition, baseline)
    by_size = [_table(ratings, condition, baseline, size_N == size) for size in sizes]
    shared = np.isin(size_N, sizes)
    by_rater = [_table(ratings, condition, baseline, shared & (rater_N == r)) for r in range(len(ratings.raters_R))]
    return AcrossSizes(
        condition,
        across(by_size, [f"of size {size}" for size in sizes], level),
        across(by_rater, [f"of rater {letter(int(rater))}" for rater in ratings.raters_R], level),
    )


def _yes_and_n(table: Floats) -> tuple[int, int, int, int]:
    (yes_1, no_1), (yes_2, no_2) = table.astype(int).tolist()
    return yes_1, yes_1 + no_1, yes_2, yes_2 + no_2


def _table(ratings: Ratings, condition: str, baseline: str, keep: Bools) -> Floats:
    """Counts of yes and no, a row a condition, of the neurons kept (one verdict each)."""
    names = np.array([arm.condition for arm in ratings.arms])[ratings.arm_N]
    sides = [ratings.mean_N[keep & (names == name)] for name in (condition, baseline)]
    return np.array([[side.sum(), len(side) - side.sum()] for side in sides])
