"""Across sizes: one odds ratio for all of them (Cochran-Mantel-Haenszel), and whether it is one (Breslow-Day)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from statsmodels.stats.contingency_tables import StratifiedTable

from app.reports.statistics.arrays import Floats
from app.reports.statistics.estimate import Estimate, Test, undefined, untested

EMPTY = "In the stratum {name} a row or a column of the table is empty, so it cannot be part of a stratified test."
SINGLE = "It needs exactly one verdict for each neuron; here some neurons have several."
UNBOUNDED = "A condition has only one kind of verdict in every stratum, so the odds ratio is unbounded."
ONE = "There is a single stratum, so there is nothing to compare across strata."
METHODS = (
    "Mantel-Haenszel common odds ratio, Robins-Breslow-Greenland interval",
    "Cochran-Mantel-Haenszel test without continuity correction",
    "Breslow-Day test of equal odds ratios with Tarone's correction",
)


@dataclass(frozen=True)
class Across:
    """Two conditions across strata."""

    odds_ratio: Estimate
    """Common odds ratio, condition against baseline."""
    test: Test
    """That the common odds ratio is 1."""
    homogeneity: Test
    """That the strata share one odds ratio."""


def refused(why: str, n: int) -> Across:
    """No result, and the sentence that says why."""
    ratio, test, equal = METHODS
    return Across(
        undefined(why, ratio, n, "neurons"), untested(why, test, n, "neurons"), untested(why, equal, n, "neurons")
    )


def across(tables: Sequence[Floats], names: Sequence[str], level: float = 0.95) -> Across:
    """Stratified analysis of 2x2 tables of counts, rows condition and baseline, columns yes and no.

    Cochran 1954; Mantel and Haenszel 1959; Breslow and Day 1980, Tarone 1985 (statsmodels StratifiedTable).
    """
    n = int(sum(table.sum() for table in tables))
    for table, name in zip(tables, names, strict=True):
        if (table.sum(axis=0) == 0).any() or (table.sum(axis=1) == 0).any():
            return refused(EMPTY.format(name=name), n)
    if not tables:
        return refused("The two conditions share no stratum.", 0)
    if 0 in (sum(t[0, 0] * t[1, 1] for t in tables), sum(t[0, 1] * t[1, 0] for t in tables)):
        return refused(UNBOUNDED, n)
    found = StratifiedTable([np.asarray(table, dtype=float) for table in tables])
    low, high = found.oddsratio_pooled_confint(alpha=1 - level)
    null = found.test_null_odds(correction=False)
    return Across(
        Estimate(float(found.oddsratio_pooled), float(low), float(high), level, METHODS[0], n, "neurons"),
        Test(float(null.pvalue), float(null.statistic), METHODS[1], n, "neurons"),
        _homogeneity(found, n) if len(tables) > 1 else untested(ONE, METHODS[2], n, "neurons"),
    )


def _homogeneity(found: StratifiedTable, n: int) -> Test:
    equal = found.test_equal_odds(adjust=True)
    return Test(float(equal.pvalue), float(equal.statistic), METHODS[2], n, "neurons")
