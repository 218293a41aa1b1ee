"""What this very analysis says of one simulated study. Power and coverage are counts of these."""

from typing import NamedTuple

import numpy as np

from app.reports.statistics.differences import difference
from app.reports.statistics.estimate import Estimate
from app.reports.statistics.permutation import permutation
from app.reports.statistics.ratings import Ratings
from app.reports.statistics.resampling import draw
from app.reports.statistics.simulate import CONDITIONS


class Outcome(NamedTuple):
    """One study's results."""

    neurons: tuple[float, float]
    """Bounds of the difference, neurons resampled."""
    raters: tuple[float, float]
    """Bounds of the difference, neurons and raters resampled."""
    p: float
    """Permutation test."""


def outcome(ratings: Ratings, resamples: int, level: float, rng: np.random.Generator) -> Outcome:
    """The primary estimate, its companion and the primary test, as `analyse` computes them."""
    baseline, other = CONDITIONS
    draws = draw(ratings, resamples, rng)
    sizes = sorted({arm.size for arm in ratings.arms})
    found = difference(ratings, draws, other, baseline, sizes, level, rng)
    test = permutation(ratings, other, baseline, "size", resamples, rng)
    return Outcome(_bounds(found.neurons), _bounds(found.raters), 1.0 if test.p is None else test.p)


def _bounds(estimate: Estimate) -> tuple[float, float]:
    """An interval that does not exist excludes nothing."""
    if estimate.low is None or estimate.high is None:
        return -1.0, 1.0
    return estimate.low, estimate.high
