"""Simulated studies with a known truth: for the power of a design, and to check that intervals cover.

A neuron is called interpretable with a logit of its condition's mean + the neuron + the rater + the rater in the
arm, all normal. The mean is chosen so that the fraction over all neurons and raters is exactly the one asked for.
Raters are assigned as by seats: every rater sees each arm equally often, as far as the numbers allow.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy import optimize, special

from app.reports.statistics.arrays import Floats
from app.reports.statistics.ratings import Arm, Ratings

CONDITIONS = ("baseline", "other")
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(61)  # fractions are then exact to far below a thousandth
SHARES = WEIGHTS / WEIGHTS.sum()


@dataclass(frozen=True, kw_only=True)
class Design:
    """What is planned."""

    neurons: int = 60
    """Neurons an arm."""
    raters: int = 6
    verdicts: int = 1
    """Verdicts a neuron, by different raters."""
    sizes: int = 1
    """Sizes of model, each with both conditions."""

    def __post_init__(self) -> None:
        """Refuse a design that cannot be carried out."""
        if min(self.neurons, self.raters, self.verdicts, self.sizes) < 1:
            raise ValueError("A design needs at least one neuron, one rater, one verdict and one size.")
        if self.verdicts > self.raters:
            raise ValueError(
                f"A neuron cannot have {self.verdicts} verdicts of different raters: there are {self.raters}."
            )


@dataclass(frozen=True, kw_only=True)
class Truth:
    """What is true in a simulated world. The defaults are the paper's effect."""

    baseline: float = 0.35
    """Interpretable fraction of the baseline."""
    other: float = 0.60
    """Interpretable fraction of the other condition."""
    neuron_sd: float = 1.5
    """Standard deviation between neurons, on the logit scale."""
    rater_sd: float = 0.6
    """Standard deviation between raters' strictness."""
    rater_arm_sd: float = 0.0
    """Standard deviation of how a rater treats an arm."""

    @property
    def difference(self) -> float:
        """The difference that an interval should cover."""
        return self.other - self.baseline

    @property
    def total_sd(self) -> float:
        """Standard deviation of the logit over neurons and raters."""
        return float(np.sqrt(self.neuron_sd**2 + self.rater_sd**2 + self.rater_arm_sd**2))


@lru_cache(maxsize=4096)  # a page asks for ever new fractions
def logit_of(fraction: float, sd: float) -> float:
    """The mean logit with which a normal logit of this standard deviation says yes to `fraction` of the cases."""
    if not 0 < fraction < 1:
        raise ValueError(f"A fraction must lie between 0 and 1; it is {fraction}.")
    found = optimize.brentq(lambda mean: _yes(mean, sd) - fraction, -60, 60)
    return float(found)


def _yes(mean: float, sd: float) -> float:
    return float(SHARES @ special.expit(mean + sd * NODES))


def correlation(fraction: float, truth: Truth) -> float:
    """Correlation of two raters' verdicts on the same neuron (ICC of 0/1 verdicts)."""
    mean = logit_of(fraction, truth.total_sd)
    between = np.sqrt(truth.rater_sd**2 + truth.rater_arm_sd**2)
    given = np.array([_yes(mean + truth.neuron_sd * node, float(between)) for node in NODES])
    return float((SHARES @ given**2 - fraction**2) / (fraction * (1 - fraction)))


def simulate(design: Design, truth: Truth, rng: np.random.Generator) -> Ratings:
    """One study."""
    arms = tuple(Arm(name, size + 1, 0, 0) for name in CONDITIONS for size in range(design.sizes))
    arms = tuple(Arm(arm.condition, arm.size, 0, index) for index, arm in enumerate(arms))
    total = len(arms) * design.neurons
    arm_N = np.repeat(np.arange(len(arms)), design.neurons)
    mean_A = np.array([_mean(truth, arm.condition) for arm in arms])
    rater_R = rng.normal(0, truth.rater_sd, design.raters)
    treats_AR = rng.normal(0, truth.rater_arm_sd, (len(arms), design.raters))
    neuron_N = rng.normal(0, truth.neuron_sd, total)
    logit_NR = mean_A[arm_N, None] + neuron_N[:, None] + rater_R + treats_AR[arm_N]
    seen_NR = np.concatenate([seats(design, rng) for _ in arms])
    yes_NR = (rng.random(logit_NR.shape) < special.expit(logit_NR)) * seen_NR
    return Ratings(yes_NR, seen_NR, np.arange(total), arm_N, np.arange(design.raters), arms)


def _mean(truth: Truth, condition: str) -> float:
    fraction = truth.baseline if condition == CONDITIONS[0] else truth.other
    return logit_of(fraction, truth.total_sd)


def seats(design: Design, rng: np.random.Generator) -> Floats:
    """Which rater sees which neuron of one arm (N, R): neighbours in a circle of raters, neurons in random order."""
    first_N = rng.permutation(design.neurons) % design.raters
    column_NV = (first_N[:, None] + np.arange(design.verdicts)) % design.raters
    seen_NR = np.zeros((design.neurons, design.raters))
    np.put_along_axis(seen_NR, column_NV, 1.0, axis=1)
    return seen_NR
