"""How often each rater says yes, over all and in each condition."""

from dataclasses import dataclass

import numpy as np

from app.reports.statistics.differences import newcombe
from app.reports.statistics.estimate import Estimate
from app.reports.statistics.fractions import wilson
from app.reports.statistics.ratings import Ratings

OTHER_NEURONS = "Over the rater's own verdicts; raters need not have seen the same neurons."


@dataclass(frozen=True)
class InCondition:
    """One rater's verdicts in one condition."""

    condition: str
    fraction: Estimate


@dataclass(frozen=True)
class Rater:
    """One rater."""

    rater: int
    fraction: Estimate
    by_condition: tuple[InCondition, ...]
    differences: tuple[InCondition, ...]
    """Each other condition minus the baseline, in this rater's own verdicts (Newcombe)."""


def strictness(ratings: Ratings, baseline: str, level: float) -> tuple[Rater, ...]:
    """Every rater's fraction of yes with Wilson intervals, strictest first."""
    raters = [_rater(ratings, column, baseline, level) for column in range(len(ratings.raters_R))]
    return tuple(sorted(raters, key=lambda rater: (rater.fraction.value or 0.0, rater.rater)))


def _rater(ratings: Ratings, column: int, baseline: str, level: float) -> Rater:
    names_N = np.array([arm.condition for arm in ratings.arms])[ratings.arm_N]
    seen_N, yes_N = ratings.seen_NR[:, column] > 0, ratings.yes_NR[:, column]
    counts = {
        name: (float(yes_N[seen_N & (names_N == name)].sum()), int((seen_N & (names_N == name)).sum()))
        for name in dict.fromkeys(arm.condition for arm in ratings.arms)
    }
    others = [name for name in counts if name != baseline and baseline in counts]
    return Rater(
        int(ratings.raters_R[column]),
        wilson(float(yes_N.sum()), int(seen_N.sum()), level, OTHER_NEURONS),
        tuple(InCondition(name, wilson(yes, n, level)) for name, (yes, n) in counts.items()),
        tuple(InCondition(name, newcombe(*counts[name], *counts[baseline], level)) for name in others),
    )
