"""Exact tests of one 2x2 table, for small studies with one verdict a neuron."""

from dataclasses import dataclass

import numpy as np
from scipy import stats

from app.reports.statistics.estimate import Test, untested

EMPTY = "A row or a column of the table is empty, so there is nothing to compare."
LARGE = "With more than {most} neurons the exact test is slow and no better than the permutation test."
MOST = 400


@dataclass(frozen=True)
class Exact:
    """Three exact tests of the same table; Boschloo and Barnard are more powerful than Fisher, and do not condition."""

    fisher: Test
    boschloo: Test
    barnard: Test


def exact_tests(yes_1: int, n_1: int, yes_2: int, n_2: int) -> Exact:
    """Two-sided p values for `yes_1` of `n_1` against `yes_2` of `n_2` independent verdicts.

    Fisher 1935; Boschloo 1970; Barnard 1945 with the pooled score statistic (scipy.stats).
    """
    table = np.array([[yes_1, n_1 - yes_1], [yes_2, n_2 - yes_2]])
    n = n_1 + n_2
    names = ("Fisher's exact test", "Boschloo's exact test", "Barnard's exact test")
    empty = 0 in (n_1, n_2, yes_1 + yes_2, n - yes_1 - yes_2)
    if empty or n > MOST:
        why = EMPTY if empty else LARGE.format(most=MOST)
        return Exact(*(untested(why, name, n, "neurons") for name in names))
    fisher, boschloo, barnard = stats.fisher_exact(table), stats.boschloo_exact(table), stats.barnard_exact(table)
    p_values = (fisher.pvalue, boschloo.pvalue, barnard.pvalue)
    difference = yes_1 / n_1 - yes_2 / n_2
    return Exact(*(Test(float(p), difference, name, n, "neurons") for p, name in zip(p_values, names, strict=True)))
