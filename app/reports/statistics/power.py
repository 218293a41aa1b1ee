"""How many neurons and raters an effect needs: by formula, by design effect, and by simulating this very analysis."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil

import numpy as np
from scipy import optimize
from statsmodels.stats.proportion import power_proportions_2indep, samplesize_proportions_2indep_onetail

from app.reports.statistics.estimate import Estimate
from app.reports.statistics.fractions import wilson
from app.reports.statistics.simulate import Design, Truth, correlation, simulate
from app.reports.statistics.trial import Outcome, outcome


@dataclass(frozen=True)
class Needed:
    """Neurons an arm that an effect needs, for one or several verdicts a neuron."""

    baseline: float
    other: float
    power: float
    alpha: float
    exact: float
    """For one verdict a neuron, before rounding."""
    neurons: int
    """Neurons an arm with `verdicts` verdicts each, rounded up."""
    verdicts: int
    correlation: float
    """Correlation of two raters' verdicts on a neuron (ICC)."""
    design_effect: float
    """1 + (verdicts - 1) correlation."""
    method: str


@dataclass(frozen=True)
class Power:
    """Power of one design."""

    design: Design
    truth: Truth
    formula: float
    """By the two-proportion formula with the design effect; it knows nothing of raters or shuffling."""
    permutation: Estimate
    """Share of simulated studies in which the primary test rejects."""
    neurons: Estimate
    """Share in which the interval over neurons excludes 0."""
    raters: Estimate
    """Share in which the interval over neurons and raters excludes 0."""


def neurons_needed(baseline: float, other: float, power: float = 0.8, alpha: float = 0.05) -> float:
    """Neurons an arm with one verdict each, before rounding up; two-sided test of two proportions.

    Raises ValueError when the two fractions are equal or not between 0 and 1.
    """
    if not (0 < baseline < 1 and 0 < other < 1) or baseline == other:
        raise ValueError(f"Two different fractions between 0 and 1 are needed; they are {baseline} and {other}.")
    found = samplesize_proportions_2indep_onetail(
        other - baseline, baseline, power, ratio=1, alpha=alpha, alternative="two-sided"
    )
    return float(found)


def design_effect(verdicts: int, icc: float) -> float:
    """How much less `verdicts` verdicts on one neuron are worth than on as many neurons (Kish 1965)."""
    return 1 + (verdicts - 1) * icc


def needed(truth: Truth, verdicts: int = 1, power: float = 0.8, alpha: float = 0.05) -> Needed:
    """Neurons an arm for an effect, with several verdicts a neuron by the design effect."""
    icc = correlation((truth.baseline + truth.other) / 2, truth)
    effect = design_effect(verdicts, icc)
    exact = neurons_needed(truth.baseline, truth.other, power, alpha)
    method = "two-proportion sample size (unpooled under the alternative), design effect 1 + (m - 1) ICC"
    neurons = ceil(exact * effect / verdicts)
    return Needed(truth.baseline, truth.other, power, alpha, exact, neurons, verdicts, icc, effect, method)


def formula_power(design: Design, truth: Truth, alpha: float = 0.05) -> float:
    """Power by the formula, with as many independent neurons as the verdicts are worth."""
    if truth.difference == 0:
        return alpha
    icc = correlation((truth.baseline + truth.other) / 2, truth)
    worth = design.sizes * design.neurons * design.verdicts / design_effect(design.verdicts, icc)
    found = power_proportions_2indep(
        truth.difference, truth.baseline, worth, ratio=1, alpha=alpha, return_results=False
    )
    return float(found)


def detectable(design: Design, truth: Truth, power: float = 0.8, alpha: float = 0.05) -> float | None:
    """The smallest difference above the baseline that the design detects by formula; None when there is none."""

    def lacking(other: float) -> float:
        return formula_power(design, replace(truth, other=other), alpha) - power

    highest = 0.999
    if lacking(highest) < 0:
        return None
    return float(optimize.brentq(lacking, truth.baseline + 1e-4, highest, xtol=1e-4)) - truth.baseline


def simulated_power(
    design: Design, truth: Truth, studies: int, rng: np.random.Generator, alpha: float = 0.05, resamples: int = 999
) -> Power:
    """Power by simulating studies and analysing each as `analyse` does. About 5 ms a study of 120 neurons."""
    found = [outcome(simulate(design, truth, rng), resamples, 1 - alpha, rng) for _ in range(studies)]
    return summary(design, truth, found, alpha)


def summary(design: Design, truth: Truth, found: Sequence[Outcome], alpha: float = 0.05) -> Power:
    """Count the outcomes of simulated studies."""
    n = len(found)

    def share(method: str, hits: int) -> Estimate:
        return replace(wilson(hits, n), method=f"{method}, {n} simulated studies, Wilson interval", unit="studies")

    return Power(
        design,
        truth,
        formula_power(design, truth, alpha),
        share("permutation test rejects", sum(one.p <= alpha for one in found)),
        share("interval over neurons excludes 0", sum(_excludes(one.neurons) for one in found)),
        share("interval over neurons and raters excludes 0", sum(_excludes(one.raters) for one in found)),
    )


def _excludes(bounds: tuple[float, float]) -> bool:
    return bounds[0] > 0 or bounds[1] < 0
