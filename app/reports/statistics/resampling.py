"""Resampling of neurons, and of neurons and raters together. Everything else only reads these draws.

The two-way bootstrap is the pigeonhole bootstrap (Owen 2007, "The pigeonhole bootstrap", Annals of Applied
Statistics 1): neurons and raters are drawn with replacement, and a verdict counts as often as its neuron times its
rater. Percentile intervals over neurons are widened by Hesterberg's factor (2015, "What teachers should know about
the bootstrap", The American Statistician 69), because a bootstrap of n values is too narrow by sqrt((n - 1) / n).
"""

from dataclasses import dataclass

import numpy as np
from scipy import stats

from app.reports.statistics.arrays import Floats
from app.reports.statistics.ratings import Ratings

CHUNK_CELLS = 1 << 17  # indices drawn at a time: they stay in the processor's cache


@dataclass(frozen=True)
class Draws:
    """Resampled fractions of every arm; the same draw of raters serves all arms of a resample."""

    neurons_AB: Floats
    """Neurons resampled within each arm."""
    both_AB: Floats
    """Neurons and raters resampled; nan where none of an arm's raters was drawn."""


def resampled_sums(values_NC: Floats, resamples: int, rng: np.random.Generator) -> Floats:
    """Column sums over N rows drawn with replacement, as (resamples, C)."""
    rows = len(values_NC)
    sums_BC = np.empty((resamples, values_NC.shape[1]))
    chunk = max(1, CHUNK_CELLS // rows)
    for start in range(0, resamples, chunk):
        part = min(chunk, resamples - start)
        index = rng.integers(0, rows, (part, rows))
        index += np.arange(part)[:, None] * rows
        counts = np.bincount(index.ravel(), minlength=part * rows).reshape(part, rows)
        np.matmul(counts.astype(np.float64), values_NC, out=sums_BC[start : start + part])
    return sums_BC


def rater_weights(raters: int, resamples: int, rng: np.random.Generator) -> Floats:
    """How often each rater is drawn, as (resamples, raters)."""
    return np.asarray(rng.multinomial(raters, np.full(raters, 1 / raters), resamples), dtype=np.float64)


def draw(ratings: Ratings, resamples: int, rng: np.random.Generator) -> Draws:
    """Resample every arm of the matrix; an arm without neurons gets nan."""
    raters = len(ratings.raters_R)
    weight_BR = rater_weights(raters, resamples, rng)
    # A verdict weighs 1/m of its neuron, so that the mean over neurons of the neuron's mean verdict is
    # a ratio of two sums over verdicts, and both ways of resampling only change the weights.
    share_NC = np.hstack([ratings.yes_NR, ratings.seen_NR]) / ratings.verdicts_N[:, None]
    neurons_AB, both_AB = np.full((2, len(ratings.arms), resamples), np.nan)
    for arm in np.unique(ratings.arm_N):
        sums_BC = resampled_sums(share_NC[ratings.arm_N == arm], resamples, rng)
        yes_BR, seen_BR = sums_BC[:, :raters], sums_BC[:, raters:]
        neurons_AB[arm] = yes_BR.sum(axis=1) / seen_BR.sum(axis=1)
        both_AB[arm] = ratio(np.einsum("br,br->b", yes_BR, weight_BR), np.einsum("br,br->b", seen_BR, weight_BR))
    return Draws(neurons_AB, both_AB)


def ratio(above: Floats, below: Floats) -> Floats:
    """above / below, nan where below is 0."""
    return np.asarray(np.divide(above, below, out=np.full(np.shape(above), np.nan), where=below != 0))


def percentiles(draws_B: Floats, level: float, n: int | None = None) -> tuple[float, float]:
    """Bounds of the percentile interval; with `n`, widened as for the mean of n values (Hesterberg 2015)."""
    tail = (1 - level) / 2
    if n is not None and n > 1:
        tail = float(stats.norm.cdf(stats.t.ppf(tail, n - 1) * np.sqrt(n / (n - 1))))
    low, high = np.quantile(draws_B, [tail, 1 - tail])
    return float(low), float(high)
