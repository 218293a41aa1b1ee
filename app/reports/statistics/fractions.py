"""The interpretable fraction of an arm: the mean over its neurons of the neuron's mean verdict."""

from dataclasses import dataclass, replace

import numpy as np
from statsmodels.stats.proportion import proportion_confint

from app.reports.statistics.arrays import Floats
from app.reports.statistics.estimate import Estimate, undefined
from app.reports.statistics.ratings import Arm, Ratings
from app.reports.statistics.resampling import Draws, percentiles

FEW_RATERS = 6
FEW = (
    "Only {raters} raters: resampling raters is unreliable below six, and the interval is likely too narrow if they "
    "differ in how they treat the conditions."
)


@dataclass(frozen=True)
class RaterShare:
    """One rater's own verdicts in one arm, for the small points of the figure."""

    rater: int
    n: int
    """Verdicts."""
    fraction: float


@dataclass(frozen=True)
class ArmFraction:
    """One arm, one row of the table."""

    arm: Arm
    neurons: int
    verdicts: int
    fraction: Estimate
    """For these raters: Wilson with one verdict a neuron, neuron bootstrap otherwise."""
    fraction_of_raters: Estimate
    """For raters like these: neurons and raters resampled."""
    by_rater: tuple[RaterShare, ...]


@dataclass(frozen=True)
class Replaced:
    """The fraction where neurons without enough snippets were replaced by others, three ways."""

    arm: int
    shown: Estimate
    """Among the neurons shown."""
    live_times_shown: Estimate
    """P(live) x P(interpretable | live), with P(live) counted over all units of the arm."""
    replaced_as_not: Estimate
    """Every replaced neuron of the draw counted as not interpretable."""


def wilson(successes: float, n: int, level: float = 0.95, unit_note: str = "") -> Estimate:
    """A fraction with Wilson's score interval (Wilson 1927). Undefined for n = 0."""
    if n == 0:
        return undefined("There is no verdict.", "Wilson interval", 0, "verdicts")
    low, high = proportion_confint(successes, n, alpha=1 - level, method="wilson")
    return Estimate(successes / n, float(low), float(high), level, "Wilson interval", n, "verdicts", note=unit_note)


def mean_verdict(mean_N: Floats, single: bool, draws_B: Floats, level: float) -> Estimate:
    """Mean over neurons of the mean verdict (N,), for these raters; `draws_B` are its neuron-bootstrap draws."""
    n = len(mean_N)
    if n == 0:
        return undefined("No neuron of this arm has a counted verdict.", "neuron bootstrap", 0, "neurons")
    if single or (np.ptp(mean_N) == 0 and mean_N[0] in (0, 1)):
        note = "" if single else "All neurons got the same verdict, so resampling shows nothing; Wilson over neurons."
        return replace(wilson(round(float(mean_N.sum())), n, level, note), unit="neurons")
    low, high = percentiles(draws_B, level, n)
    return Estimate(float(mean_N.mean()), low, high, level, "neuron bootstrap, percentile interval", n, "neurons")


def for_raters_like_these(value: float, draws_B: Floats, raters: int, level: float, n: int) -> Estimate:
    """An estimate with the two-way bootstrap interval; draws without any verdict (nan) are left out."""
    method = "two-way (pigeonhole) bootstrap of neurons and raters, percentile interval"
    kept_B = draws_B[~np.isnan(draws_B)]
    if raters < 2:
        why = "With a single rater nothing can be said about raters like this one."
        return Estimate(value, None, None, None, method, n, "neurons", why=why)
    if len(kept_B) < 0.9 * len(draws_B):
        why = "Too few raters saw this: in more than a tenth of the resamples none of them was drawn."
        return Estimate(value, None, None, None, method, n, "neurons", why=why)
    low, high = percentiles(kept_B, level)
    note = FEW.format(raters=raters) if raters < FEW_RATERS else ""
    return Estimate(value, low, high, level, method, n, "neurons", note=note)


def arm_fractions(ratings: Ratings, draws: Draws, level: float) -> tuple[ArmFraction, ...]:
    """A row for every arm of the matrix."""
    return tuple(_arm_fraction(ratings, draws, index, level) for index in range(len(ratings.arms)))


def _arm_fraction(ratings: Ratings, draws: Draws, index: int, level: float) -> ArmFraction:
    part = ratings.of_arms([index])
    mean_N = part.mean_N
    raters = int((part.seen_NR.sum(axis=0) > 0).sum())
    both_B = draws.both_AB[index]
    return ArmFraction(
        ratings.arms[index],
        len(mean_N),
        int(part.seen_NR.sum()),
        mean_verdict(mean_N, part.single, draws.neurons_AB[index], level),
        for_raters_like_these(float(mean_N.mean()), both_B, raters, level, len(mean_N)),
        _by_rater(part),
    )


def _by_rater(part: Ratings) -> tuple[RaterShare, ...]:
    seen_R, yes_R = part.seen_NR.sum(axis=0), part.yes_NR.sum(axis=0)
    return tuple(
        RaterShare(int(rater), int(seen), float(yes / seen))
        for rater, seen, yes in zip(part.raters_R, seen_R, yes_R, strict=True)
        if seen
    )


def with_replaced(arm: int, shown: Estimate, units: int, live: int, replaced: int) -> Replaced:
    """The three ways of one arm: `units` it has, `live` of them with enough snippets, `replaced` in the draw.

    Both factors are constants for the bootstrap: the whole arm was counted, and the draw is what it is.
    """
    if not 0 < live <= units or replaced < 0:
        raise ValueError(f"Arm {arm}: {live} live of {units} units and {replaced} replaced cannot be.")
    drawn = shown.n + replaced
    as_not = shown.n / drawn if drawn else 1.0
    return Replaced(
        arm,
        shown,
        scaled(shown, live / units, f"times P(live) = {live}/{units}"),
        replace(scaled(shown, as_not, f"with {replaced} replaced neurons counted as not interpretable"), n=drawn),
    )


def scaled(estimate: Estimate, factor: float, words: str) -> Estimate:
    """The estimate and its bounds times a known factor."""
    value, low, high = (None if x is None else x * factor for x in (estimate.value, estimate.low, estimate.high))
    return replace(estimate, value=value, low=low, high=high, method=f"{estimate.method}, {words}")
