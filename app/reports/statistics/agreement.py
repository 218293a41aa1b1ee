"""Agreement between raters on the neurons that two or more of them saw. A missing verdict is not a category.

Percent agreement: mean over items of the share of agreeing pairs. Gwet's AC1 and its variance: Gwet 2008, "Computing
inter-rater reliability and its variance in the presence of high agreement", British Journal of Mathematical and
Statistical Psychology 61. Krippendorff's alpha, nominal: Krippendorff 2004, "Content Analysis", chapter 11.
"""

from dataclasses import dataclass

import numpy as np

from app.reports.statistics.arrays import Floats
from app.reports.statistics.estimate import Estimate, undefined
from app.reports.statistics.ratings import Ratings
from app.reports.statistics.resampling import percentiles, ratio, resampled_sums

NO_OVERLAP = "No neuron has two verdicts, so agreement cannot be measured."
NO_VARIATION = "Every verdict is the same, so agreement beyond chance cannot be measured."
FEW_ITEMS = "A single neuron has two verdicts; an interval needs more."
BOOTSTRAP = "item bootstrap, percentile interval"


@dataclass(frozen=True)
class Agreement:
    """Agreement on the overlap."""

    percent: Estimate
    """Share of agreeing pairs."""
    ac1: Estimate
    """Gwet's AC1."""
    ac1_error: float | None
    """Gwet's standard error of AC1, for the population of items."""
    alpha: Estimate
    """Krippendorff's alpha, nominal."""
    prevalence: Estimate
    """Mean share of "interpretable" on the same items."""
    items: int
    """Neurons with two verdicts or more."""
    verdicts: int


def category_counts(yes_NR: Floats, seen_NR: Floats) -> Floats:
    """How many raters said no and yes to each item, as (N, 2); only items with two verdicts or more."""
    yes_N, seen_N = yes_NR.sum(axis=1), seen_NR.sum(axis=1)
    return np.asarray(np.stack([seen_N - yes_N, yes_N], axis=1)[seen_N > 1])


def columns(counts_NQ: Floats) -> Floats:
    """Per item: agreeing share of pairs, disagreement, verdicts, shares (Q), counts (Q); sums of these give all."""
    n_N = counts_NQ.sum(axis=1)
    agreeing_N = (counts_NQ * (counts_NQ - 1)).sum(axis=1) / (n_N * (n_N - 1))
    disagreement_N = n_N * (1 - agreeing_N)  # ordered pairs of different categories, over n - 1
    return np.column_stack([agreeing_N, disagreement_N, n_N, counts_NQ / n_N[:, None], counts_NQ])


def measures(sums_BC: Floats, items: int, categories: int) -> tuple[Floats, Floats, Floats, Floats]:
    """Percent agreement, AC1, alpha and the last category's mean share, from sums of `columns` over items."""
    percent_B = sums_BC[:, 0] / items
    share_BQ, counts_BQ = np.split(sums_BC[:, 3:], [categories], axis=1)
    share_BQ = share_BQ / items
    chance_B = (share_BQ * (1 - share_BQ)).sum(axis=1) / (categories - 1)
    ac1_B = (percent_B - chance_B) / (1 - chance_B)
    total_B = sums_BC[:, 2]
    expected_B = (counts_BQ * (total_B[:, None] - counts_BQ)).sum(axis=1) / (total_B - 1)
    alpha_B = 1 - ratio(sums_BC[:, 1], expected_B)
    return percent_B, ac1_B, alpha_B, share_BQ[:, -1]


def ac1_error(counts_NQ: Floats) -> float:
    """Gwet's standard error of AC1 (2008, for items sampled from a large population). Needs two items or more."""
    items, categories = counts_NQ.shape
    columns_NC = columns(counts_NQ)
    share_NQ = columns_NC[:, 3 : 3 + categories]
    mean_Q = share_NQ.mean(axis=0)
    chance = (mean_Q * (1 - mean_Q)).sum() / (categories - 1)
    chance_N = (share_NQ * (1 - mean_Q)).sum(axis=1) / (categories - 1)
    ac1 = (columns_NC[:, 0].mean() - chance) / (1 - chance)
    each_N = (columns_NC[:, 0] - chance) / (1 - chance) - 2 * (1 - ac1) * (chance_N - chance) / (1 - chance)
    return float(np.sqrt(((each_N - ac1) ** 2).sum() / (items * (items - 1))))


def agreement(ratings: Ratings, level: float, resamples: int, rng: np.random.Generator) -> Agreement:
    """Agreement over the neurons of the matrix that have two verdicts or more."""
    return agreement_of(category_counts(ratings.yes_NR, ratings.seen_NR), level, resamples, rng)


def agreement_of(counts_NQ: Floats, level: float, resamples: int, rng: np.random.Generator) -> Agreement:
    """Agreement from how many raters chose each of Q categories for each item (every row sums to two or more)."""
    items, categories = counts_NQ.shape
    verdicts = int(counts_NQ.sum())
    names = ("percent agreement", "Gwet's AC1", "Krippendorff's alpha, nominal", "share of interpretable")
    methods = [f"{name}, {BOOTSTRAP}" for name in names]
    if items == 0:
        percent, ac1, alpha, share = (undefined(NO_OVERLAP, method, 0, "items") for method in methods)
        return Agreement(percent, ac1, None, alpha, share, 0, 0)
    columns_NC = columns(counts_NQ)
    values = measures(columns_NC.sum(axis=0, keepdims=True), items, categories)
    draws = measures(resampled_sums(columns_NC, resamples, rng), items, categories)
    percent, ac1, alpha, share = (
        _estimate(float(value[0]), drawn_B, items, method, level)
        for value, drawn_B, method in zip(values, draws, methods, strict=True)
    )
    if np.count_nonzero(counts_NQ.sum(axis=0)) < 2:
        ac1, alpha = (undefined(NO_VARIATION, method, items, "items") for method in methods[1:3])
    error = ac1_error(counts_NQ) if items > 1 and ac1.defined else None
    return Agreement(percent, ac1, error, alpha, share, items, verdicts)


def _estimate(value: float, draws_B: Floats, items: int, method: str, level: float) -> Estimate:
    kept_B = draws_B[np.isfinite(draws_B)]
    if items < 2 or len(kept_B) == 0:
        return Estimate(value, None, None, None, method, items, "items", why=FEW_ITEMS)
    low, high = percentiles(kept_B, level)
    return Estimate(value, low, high, level, method, items, "items")
