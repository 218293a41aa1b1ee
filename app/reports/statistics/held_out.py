"""The hypothesis check: does what a rater says of a neuron foretell where it fires in text that it was not said of?

Balanced accuracy is the mean of two shares: of firing snippets that were ticked, of quiet ones that were not. It is
0.5 for whoever ticks at random, or ticks all, or none. The neuron is the unit: a neuron's balanced accuracy is the mean
over the raters who checked it. As with fractions two questions need two intervals: neurons resampled, for these
raters; neurons and raters resampled (resampling.py), for raters like these. Only neurons that a rater called
interpretable are checked, so a condition's balanced accuracy is about these, and stands beside its interpretable
fraction, not instead of it.

N neurons, R raters, B resamples.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

from app.reports.statistics.arrays import Floats
from app.reports.statistics.estimate import Estimate, undefined
from app.reports.statistics.fractions import for_raters_like_these
from app.reports.statistics.resampling import percentiles, rater_weights, ratio, resampled_sums

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
    """Balanced accuracy, neurons resampled: for these raters."""
    over_raters: Estimate
    """The same, neurons and raters resampled: for raters like these."""
    bands: tuple[Band, ...]


@dataclass(frozen=True)
class HeldOutDifference:
    """Balanced accuracy of a condition minus the baseline's."""

    condition: str
    baseline: str
    difference: Estimate
    """Neurons resampled: for these raters."""
    over_raters: Estimate
    """The same, neurons and raters resampled: for raters like these."""


@dataclass(frozen=True)
class Check:
    """The whole hypothesis check."""

    conditions: tuple[HeldOut, ...]
    differences: tuple[HeldOutDifference, ...]


def hypothesis_check(
    answers: pd.DataFrame, baseline: str, level: float, resamples: int, rng: np.random.Generator
) -> Check:
    """`answers` has a row a snippet that a rater judged: rater, neuron, condition, band (0 to 5) and fires (bool)."""
    raters, two_way = sorted(set(answers["rater"])), rng.spawn(1)[0]
    weight_BR = rater_weights(len(raters), resamples, two_way) if raters else np.zeros((resamples, 0))
    found, drawn = [], {}
    conditions = sorted(set(answers["condition"]), key=lambda name: (name != baseline, name))
    for condition in conditions:
        part = answers[answers["condition"] == condition]
        score_NR = _accuracies(part, raters)
        side = drawn[condition] = _resampled(score_NR, weight_BR, resamples, rng, two_way)
        bands = tuple(_band(part, band, level, resamples, rng) for band in sorted(set(part["band"])))
        pairs, who = len(part[["rater", "neuron"]].drop_duplicates()), int(part["rater"].nunique())
        estimate = _estimate(side.mean_N, side.neurons_B, level, "Balanced accuracy")
        like = _like_these(estimate, side.both_B, who, level)
        found.append(HeldOut(condition, len(score_NR), pairs, estimate, like, bands))
    others = [name for name in conditions if name != baseline and baseline in drawn]
    seen = {name: set(answers["rater"][answers["condition"] == name]) for name in conditions}
    differences = tuple(
        _difference(name, baseline, drawn[name], drawn[baseline], level, len(seen[name] | seen[baseline]))
        for name in others
    )
    return Check(tuple(found), differences)


class _Side(NamedTuple):
    """One condition, and its resamples."""

    mean_N: Floats
    neurons_B: Floats
    both_B: Floats


def _accuracies(part: pd.DataFrame, raters: list[object]) -> Floats:
    """Of each neuron and rater: half the share of firing snippets that were ticked, half that of quiet ones that were
    not; nan where this rater did not check it. A neuron whose every answer lacks one of both sides is left out.
    """
    right = part["fires"].to_numpy(bool) == (part["band"].to_numpy() != QUIET)
    keys = [part["neuron"].to_numpy(), part["rater"].to_numpy(), part["band"].to_numpy() == QUIET]
    score = pd.Series(right.astype(float)).groupby(keys).mean().unstack().mean(axis=1, skipna=False)
    table = score.unstack().reindex(columns=raters).dropna(how="all")
    return np.asarray(table.to_numpy(float))


def _resampled(
    score_NR: Floats, weight_BR: Floats, resamples: int, rng: np.random.Generator, two_way: np.random.Generator
) -> _Side:
    """Neurons, and neurons with raters: an answer weighs as its neuron times its rater, over the neuron's answers."""
    if len(score_NR) == 0:
        return _Side(np.empty(0), np.empty(0), np.empty(0))
    seen_NR = np.isfinite(score_NR)
    mean_N = np.asarray(np.nanmean(score_NR, axis=1))
    share_NC = np.hstack([np.nan_to_num(score_NR), seen_NR]) / seen_NR.sum(axis=1, keepdims=True)
    sums_BC = resampled_sums(share_NC, resamples, two_way)
    score_BR, seen_BR = np.hsplit(sums_BC, 2)
    both_B = ratio(np.einsum("br,br->b", score_BR, weight_BR), np.einsum("br,br->b", seen_BR, weight_BR))
    return _Side(mean_N, _means(mean_N, resamples, rng), both_B)


def _like_these(estimate: Estimate, both_B: Floats, raters: int, level: float) -> Estimate:
    if estimate.value is None or estimate.low is None:
        return estimate  # and why
    return for_raters_like_these(estimate.value, both_B, raters, level, estimate.n)


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


def _difference(name: str, baseline: str, one: _Side, base: _Side, level: float, raters: int) -> HeldOutDifference:
    method = f"Difference of balanced accuracies, {METHOD}"
    n = len(one.mean_N) + len(base.mean_N)
    if min(len(one.mean_N), len(base.mean_N)) == 0:
        lacking = undefined("No neuron of one of the two conditions was checked.", method, n, "neurons")
        return HeldOutDifference(name, baseline, lacking, lacking)
    value = float(one.mean_N.mean() - base.mean_N.mean())
    if min(len(one.neurons_B), len(base.neurons_B)) == 0:
        alone = Estimate(value, None, None, None, method, n, "neurons", why=ONE)
        return HeldOutDifference(name, baseline, alone, alone)
    low, high = percentiles(one.neurons_B - base.neurons_B, level)
    like = for_raters_like_these(value, one.both_B - base.both_B, raters, level, n)
    return HeldOutDifference(name, baseline, Estimate(value, low, high, level, method, n, "neurons"), like)
