"""Differences and ratios of fractions between two conditions, in one size or averaged over the sizes they share."""

from dataclasses import dataclass, replace

import numpy as np
from statsmodels.stats.proportion import confint_proportions_2indep

from app.reports.statistics.arrays import Floats
from app.reports.statistics.estimate import Estimate, undefined
from app.reports.statistics.fractions import for_raters_like_these
from app.reports.statistics.ratings import Arm, Ratings
from app.reports.statistics.resampling import Draws, percentiles, ratio

FLAT = "All neurons of each arm got the same verdict, so resampling neurons shows no variation."
ONE_MODEL = "One trained model an arm: this is about these models, not about the architecture."
REPLICATES = "Replicate models of a condition and size are resampled too; with fewer than five this is unreliable."


@dataclass(frozen=True)
class Difference:
    """One condition minus the baseline, and their ratio."""

    condition: str
    baseline: str
    size: int | None
    """None: averaged over the sizes both conditions have."""
    neurons: Estimate
    """Primary: neurons resampled, for these raters."""
    raters: Estimate
    """Always shown with it: neurons and raters resampled, for raters like these."""
    newcombe: Estimate
    """Beside it when every neuron has one verdict."""
    ratio: Estimate
    """Condition divided by baseline, neurons resampled."""
    ratio_raters: Estimate
    """The ratio, neurons and raters resampled."""


def newcombe(yes_1: float, n_1: int, yes_2: float, n_2: int, level: float = 0.95) -> Estimate:
    """p1 - p2 with Newcombe's hybrid score interval (Newcombe 1998, method 10). Counts of independent verdicts."""
    method = "difference of two proportions, Newcombe interval"
    if not n_1 or not n_2:
        return undefined("One of the two sides has no verdict.", method, n_1 + n_2, "neurons")
    low, high = confint_proportions_2indep(yes_1, n_1, yes_2, n_2, method="newcomb", compare="diff", alpha=1 - level)
    return Estimate(yes_1 / n_1 - yes_2 / n_2, float(low), float(high), level, method, n_1 + n_2, "neurons")


def cells(ratings: Ratings, condition: str, size: int) -> list[int]:
    """Indices of the arms of a condition and size: one, or its replicate models."""
    return [i for i, arm in enumerate(ratings.arms) if arm.condition == condition and arm.size == size]


def shared_sizes(ratings: Ratings, condition: str, baseline: str) -> list[int]:
    """Sizes that both conditions have, ascending."""
    sizes = [{arm.size for arm in ratings.arms if arm.condition == name} for name in (condition, baseline)]
    return sorted(sizes[0] & sizes[1])


def weights(ratings: Ratings, condition: str, sizes: list[int]) -> Floats:
    """Weight of every arm (A,) in the condition's fraction: sizes weigh alike, and so do replicates in a size."""
    weight_A = np.zeros(len(ratings.arms))
    for size in sizes:
        arms = cells(ratings, condition, size)
        weight_A[arms] = 1 / (len(arms) * len(sizes))
    return weight_A


def resampled_weights(
    ratings: Ratings, condition: str, sizes: list[int], resamples: int, rng: np.random.Generator
) -> Floats:
    """The weights (A, B) with replicate models drawn with replacement. Where there is one model, it is drawn always.

    A model drawn twice brings the same draw of its neurons twice, which makes the interval a little too wide.
    """
    weight_AB = np.zeros((len(ratings.arms), resamples))
    for size in sizes:
        arms = cells(ratings, condition, size)
        share = np.full(len(arms), 1 / len(arms))
        weight_AB[arms] = rng.multinomial(len(arms), share, resamples).T / (len(arms) * len(sizes))
    return weight_AB


def differences(
    ratings: Ratings, draws: Draws, baseline: str, level: float, rng: np.random.Generator
) -> tuple[Difference, ...]:
    """Every other condition against the baseline: each shared size, and all of them where there are several."""
    others = dict.fromkeys(arm.condition for arm in ratings.arms if arm.condition != baseline)
    found = []
    for condition in others:
        sizes = shared_sizes(ratings, condition, baseline)
        found += [difference(ratings, draws, condition, baseline, [size], level, rng) for size in sizes]
        if len(sizes) > 1:
            found.append(difference(ratings, draws, condition, baseline, sizes, level, rng))
    return tuple(found)


def difference(
    ratings: Ratings,
    draws: Draws,
    condition: str,
    baseline: str,
    sizes: list[int],
    level: float,
    rng: np.random.Generator,
) -> Difference:
    """One condition against the baseline, averaged over `sizes` (which both must have)."""
    one_A, two_A = weights(ratings, condition, sizes), weights(ratings, baseline, sizes)
    used = np.flatnonzero(one_A + two_A)
    part = ratings.of_arms([int(arm) for arm in used])
    means_A = np.bincount(part.arm_N, part.mean_N, len(ratings.arms)) / np.maximum(
        np.bincount(part.arm_N, minlength=len(ratings.arms)), 1
    )
    fractions = float(one_A @ means_A), float(two_A @ means_A)
    resamples = draws.neurons_AB.shape[1]
    sides = [resampled_weights(ratings, name, sizes, resamples, rng)[used] for name in (condition, baseline)]
    drawn = [
        np.einsum("ab,ab->b", weight_AB, draws_AB[used])
        for draws_AB in (draws.neurons_AB, draws.both_AB)
        for weight_AB in sides
    ]
    beside = _newcombe(part, condition, level) if len(sizes) == 1 else None
    value, share = fractions[0] - fractions[1], _ratio(*fractions)
    n, raters = len(part.neurons_N), int((part.seen_NR.sum(axis=0) > 0).sum())
    return Difference(
        condition,
        baseline,
        sizes[0] if len(sizes) == 1 else None,
        _neurons(value, drawn[0] - drawn[1], part, beside, level),
        for_raters_like_these(value, drawn[2] - drawn[3], raters, level, n),
        beside or undefined("It is for a single size.", "Newcombe interval", n, "neurons"),
        _ratio_estimate(share, ratio(drawn[0], drawn[1]), n, level),
        _ratio_estimate(share, ratio(drawn[2], drawn[3]), n, level, raters),
    )


def _neurons(value: float, draws_B: Floats, part: Ratings, beside: Estimate | None, level: float) -> Estimate:
    method = "difference of mean fractions, neuron bootstrap, percentile interval"
    per_arm = np.bincount(part.arm_N)
    per_arm = per_arm[per_arm > 0]
    note = ONE_MODEL if len(per_arm) == len({(a.condition, a.size) for a in _arms(part)}) else REPLICATES
    if np.ptp(draws_B) == 0:
        if beside and beside.defined:
            return replace(beside, note=f"{FLAT} {note}")
        return Estimate(value, None, None, None, method, len(part.neurons_N), "neurons", why=FLAT, note=note)
    low, high = percentiles(draws_B, level, int(per_arm.min()))
    return Estimate(value, low, high, level, method, len(part.neurons_N), "neurons", note=note)


def _arms(part: Ratings) -> list[Arm]:
    return [part.arms[int(arm)] for arm in np.unique(part.arm_N)]


def _newcombe(part: Ratings, condition: str, level: float) -> Estimate:
    first_N = np.array([part.arms[int(arm)].condition == condition for arm in part.arm_N])
    n_1, n_2 = int(first_N.sum()), int((~first_N).sum())
    if not part.single:
        why = "It needs exactly one verdict for each neuron; here some neurons have several."
        return undefined(why, "Newcombe interval", n_1 + n_2, "neurons")
    return newcombe(part.mean_N[first_N].sum(), n_1, part.mean_N[~first_N].sum(), n_2, level)


def _ratio(one: float, two: float) -> float | None:
    return None if two == 0 else one / two


def _ratio_estimate(value: float | None, draws_B: Floats, n: int, level: float, raters: int | None = None) -> Estimate:
    method = "ratio of mean fractions, neuron bootstrap, percentile interval"
    if value is None:
        return undefined("The baseline's fraction is 0, so there is no ratio.", method, n, "neurons")
    kept_B = draws_B[np.isfinite(draws_B)]
    if len(kept_B) < 0.975 * len(draws_B):
        why = "The baseline's fraction is 0 in many resamples, so the ratio has no upper bound."
        return Estimate(value, None, None, None, method, n, "neurons", why=why)
    if raters is not None:
        return for_raters_like_these(value, kept_B, raters, level, n)
    if np.ptp(kept_B) == 0:
        return Estimate(value, None, None, None, method, n, "neurons", why=FLAT)
    low, high = percentiles(kept_B, level)
    return Estimate(value, low, high, level, method, n, "neurons")
