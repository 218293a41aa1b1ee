"""Other chance-corrected coefficients of the same agreement, for comparison with studies that report them.

They share the observed agreement and differ in what they call chance: Fleiss 1971 (for unequal numbers of raters),
Conger 1980, Brennan and Prediger 1981; formulas for missing verdicts as in Gwet 2014, "Handbook of Inter-Rater
Reliability", chapter 2.
"""

from dataclasses import dataclass

import numpy as np

from app.reports.statistics.arrays import Floats
from app.reports.statistics.estimate import Estimate, undefined

NO_INTERVAL = "It is shown for comparison, without an interval."
NO_OVERLAP = "No neuron has two verdicts, so agreement cannot be measured."
CERTAIN = "Chance alone would give full agreement, so nothing is left to measure."


@dataclass(frozen=True)
class Coefficients:
    """Point values."""

    fleiss: Estimate
    conger: Estimate
    brennan_prediger: Estimate


def coefficients(yes_NR: Floats, seen_NR: Floats) -> Coefficients:
    """The three coefficients over items with two verdicts or more."""
    overlap_N = seen_NR.sum(axis=1) > 1
    yes_NR, seen_NR = yes_NR[overlap_N], seen_NR[overlap_N]
    items = len(seen_NR)
    names = ("Fleiss's kappa, generalised", "Conger's kappa", "Brennan and Prediger's coefficient")
    if not items:
        return Coefficients(*(undefined(NO_OVERLAP, name, 0, "items") for name in names))
    n_N, yes_N = seen_NR.sum(axis=1), yes_NR.sum(axis=1)
    no_N = n_N - yes_N
    agreed = float(((yes_N * (yes_N - 1) + no_N * (no_N - 1)) / (n_N * (n_N - 1))).mean())
    share = float((yes_N / n_N).mean())
    chances = (share**2 + (1 - share) ** 2, _conger_chance(yes_NR, seen_NR), 0.5)
    return Coefficients(*(_beyond(agreed, chance, name, items) for chance, name in zip(chances, names, strict=True)))


def _conger_chance(yes_NR: Floats, seen_NR: Floats) -> float:
    """Chance agreement of two different raters with their own shares of yes; one rater alone has no partner."""
    seen_R = seen_NR.sum(axis=0)
    share_R = yes_NR.sum(axis=0)[seen_R > 0] / seen_R[seen_R > 0]
    both = [share_R, 1 - share_R]
    return float(sum(part.mean() ** 2 - part.var(ddof=1) / len(part) for part in both))


def _beyond(agreed: float, chance: float, name: str, items: int) -> Estimate:
    if np.isclose(chance, 1):
        return undefined(CERTAIN, name, items, "items")
    return Estimate((agreed - chance) / (1 - chance), None, None, None, name, items, "items", why=NO_INTERVAL)
