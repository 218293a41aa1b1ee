"""The primary test: labels of condition shuffled among neurons of the same size.

Shuffling n values between two groups and adding them up only needs how many of each distinct value fall into a
group, and those counts are multivariate hypergeometric. So a shuffle costs a few draws, not n swaps, and the
distribution is the same.
"""

from collections.abc import Iterator

import numpy as np

from app.reports.statistics.arrays import Bools, Floats, Ints
from app.reports.statistics.differences import shared_sizes
from app.reports.statistics.estimate import Test, untested
from app.reports.statistics.plan import Shuffle
from app.reports.statistics.ratings import Ratings

CAVEAT = (
    "It is conditional on these raters: where raters differ in how they treat the conditions and there are only three, "
    "it rejects a true null in 16 to 27 % of studies. Read it with the interval that resamples raters."
)
SLACK = 1e-9  # sums of the same verdicts in another order may differ in the last bits


def p_value(observed: float, null_B: Floats) -> float:
    """Two-sided p = (1 + draws at least as far from 0) / (B + 1), which is never 0 (Phipson and Smyth 2010)."""
    return float((1 + np.count_nonzero(np.abs(null_B) >= abs(observed) - SLACK)) / (len(null_B) + 1))


def shuffled_sums(values_N: Floats, first_N: Bools, resamples: int, rng: np.random.Generator) -> Floats:
    """Sum of the first group's values after shuffling the labels, as (resamples,)."""
    distinct, counts = np.unique(values_N.round(12), return_counts=True)
    taken = int(first_N.sum())
    drawn = rng.multivariate_hypergeometric(counts, taken, resamples, method="marginals")
    return np.asarray(drawn @ distinct)


def permutation(
    ratings: Ratings, condition: str, baseline: str, shuffle: Shuffle, resamples: int, rng: np.random.Generator
) -> Test:
    """Stratified permutation test of no difference between two conditions, over the sizes they share."""
    method = f"stratified permutation of neurons' mean verdicts within {shuffle.replace('_', ' ')}, {resamples} draws"
    sizes = shared_sizes(ratings, condition, baseline)
    if not sizes:
        why = f"The conditions {condition} and {baseline} share no size."
        return untested(why, method, 0, "neurons")
    if shuffle == "size_and_rater" and not ratings.single:
        why = "Shuffling within raters needs exactly one verdict for each neuron; here some neurons have several."
        return untested(why, method, len(ratings.neurons_N), "neurons")
    observed, null_B, n = 0.0, np.zeros(resamples), 0
    for values_N, first_N, strata_N in _sizes(ratings, condition, baseline, sizes, shuffle):
        seen, drawn_B = _one_size(values_N, first_N, strata_N, resamples, rng)
        observed, null_B, n = observed + seen / len(sizes), null_B + drawn_B / len(sizes), n + len(values_N)
    return Test(p_value(observed, null_B), observed, method, n, "neurons", note=CAVEAT)


def _sizes(
    ratings: Ratings, condition: str, baseline: str, sizes: list[int], shuffle: Shuffle
) -> Iterator[tuple[Floats, Bools, Ints]]:
    names = np.array([arm.condition for arm in ratings.arms])[ratings.arm_N]
    size_N = np.array([arm.size for arm in ratings.arms])[ratings.arm_N]
    rater_N = ratings.seen_NR.argmax(axis=1) if shuffle == "size_and_rater" else np.zeros(len(names), np.int64)
    for size in sizes:
        keep = (size_N == size) & np.isin(names, [condition, baseline])
        yield ratings.mean_N[keep], names[keep] == condition, rater_N[keep]


def _one_size(
    values_N: Floats, first_N: Bools, strata_N: Ints, resamples: int, rng: np.random.Generator
) -> tuple[float, Floats]:
    """Difference of the two means in one size, observed and shuffled within strata."""
    n_1, n_2, total = int(first_N.sum()), int((~first_N).sum()), float(values_N.sum())
    sums_B = np.zeros(resamples)
    for stratum in np.unique(strata_N):
        inside = strata_N == stratum
        sums_B += shuffled_sums(values_N[inside], first_N[inside], resamples, rng)
    observed = float(values_N[first_N].mean() - values_N[~first_N].mean())
    return observed, sums_B / n_1 - (total - sums_B) / n_2
