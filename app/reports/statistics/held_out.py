"""The hypothesis check: does what a rater says of a neuron foretell where it fires in text that it was not said of?

Balanced accuracy is the mean of two shares: of firing snippets that were ticked, of quiet ones that were not. It is
0.5 for whoever ticks at random, or ticks all, or none. The neuron is the unit: a neuron's answers are averaged over
the raters who checked it, and neurons are resampled. Only neurons that a rater called interpretable are checked, so
a condition's balanced accuracy is about these, and stands beside its interpretable fraction, not instead of it.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from app.reports.statistics.arrays import Floats
from app.reports.statistics.estimate import Estimate, undefined
from app.reports.statistics.resampling import percentiles

QUIET = 5
METHOD = "mean over neurons, neurons resampled, percentile interval"
FEW_NEURONS = 2
ONE = "A single neuron was checked, so neurons cannot be resampled."


@dataclass(frozen=True)
class Band:
    """How often snippets of one band were ticked."""

    band: int
    """0 is the octave of the neuron's greatest activation, 4 the fourth below; 5 is quiet."""
    ticked: Estimate


@dataclass(frozen=True)
class HeldOut:
    """The check of one condition's neurons."""

    condition: str
    neurons: int
    answers: int
    """Pairs of a rater and a neuron."""
    accuracy: Estimate
    """Balanced accuracy."""
    bands: tuple[Band, ...]


@dataclass(frozen=True)
class HeldOutDifference:
    """Balanced accuracy of a condition minus the baseline's."""

    condition: str
    baseline: str
    difference: Estimate


@dataclass(frozen=True)
class Check:
    """The whole hypothesis check."""

    conditions: tuple[HeldOut, ...]
    differences: tuple[HeldOutDifference, ...]


def hypothesis_check(
    answers: pd.DataFrame, baseline: str, level: float, resamples: int, rng: np.random.Generator
) -> Check:
    """`answers` has a row a snippet that a rater judged: rater, neuron, condition, band (0 to 5) and fires (bool)."""
    found, drawn = [], {}
    conditions = sorted(set(answers["condition"]), key=lambda name: (name != baseline, name))
    for condition in conditions:
        part = answers[answers["condition"] == condition]
        score_N = _accuracies(part)
        drawn[condition] = score_N, _means(score_N, resamples, rng)
        bands = tuple(_band(part, band, level, resamples, rng) for band in sorted(set(part["band"])))
        pairs = len(part[["rater", "neuron"]].drop_duplicates())
        estimate = _estimate(score_N, drawn[condition][1], level, "Balanced accuracy")
        found.append(HeldOut(condition, len(score_N), pairs, estimate, bands))
    others = [name for name in conditions if name != baseline and baseline in drawn]
    differences = tuple(
        HeldOutDifference(name, baseline, _difference(*drawn[name], *drawn[baseline], level)) for name in others
    )
    return Check(tuple(found), differences)


def _accuracies(part: pd.DataFrame) -> Floats:
    """Of each neuron: half the share of its firing snippets that were ticked, half that of its quiet ones that were
    not, over all raters who checked it.
    """
    right = part["fires"].to_numpy(bool) == (part["band"].to_numpy() != QUIET)
    by_side = pd.Series(right.astype(float)).groupby([part["neuron"].to_numpy(), part["band"].to_numpy() == QUIET])
    return by_side.mean().unstack().mean(axis=1, skipna=False).dropna().to_numpy(float)


def _band(part: pd.DataFrame, band: int, level: float, resamples: int, rng: np.random.Generator) -> Band:
    rows = part[part["band"] == band]
    share_N = rows.groupby("neuron")["fires"].mean().to_numpy(float)
    return Band(band, _estimate(share_N, _means(share_N, resamples, rng), level, "Share ticked"))


def _means(value_N: Floats, resamples: int, rng: np.random.Generator) -> Floats:
    if len(value_N) < FEW_NEURONS:
        return np.empty(0)
    drawn_BN = rng.integers(len(value_N), size=(resamples, len(value_N)))
    return np.asarray(value_N[drawn_BN].mean(axis=1))


def _estimate(value_N: Floats, drawn_B: Floats, level: float, what: str) -> Estimate:
    method = f"{what}, {METHOD}"
    if len(value_N) == 0:
        return undefined("No neuron was checked.", method, 0, "neurons")
    value = float(value_N.mean())
    if len(drawn_B) == 0:
        return Estimate(value, None, None, None, method, len(value_N), "neurons", why=ONE)
    low, high = percentiles(drawn_B, level, len(value_N))
    return Estimate(value, max(low, 0.0), min(high, 1.0), level, method, len(value_N), "neurons")


def _difference(one_N: Floats, one_B: Floats, base_N: Floats, base_B: Floats, level: float) -> Estimate:
    method = f"Difference of balanced accuracies, {METHOD}"
    n = len(one_N) + len(base_N)
    if min(len(one_N), len(base_N)) == 0:
        return undefined("No neuron of one of the two conditions was checked.", method, n, "neurons")
    value = float(one_N.mean() - base_N.mean())
    if min(len(one_B), len(base_B)) == 0:
        return Estimate(value, None, None, None, method, n, "neurons", why=ONE)
    low, high = percentiles(one_B - base_B, level)
    return Estimate(value, low, high, level, method, n, "neurons")
