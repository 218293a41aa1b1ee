"""A logit model of verdicts with neurons as clusters (GEE) and raters as fixed effects.

Liang and Zeger 1986, "Longitudinal data analysis using generalized linear models", Biometrika 73. Clusters are
neurons, never raters: with fewer than forty clusters the robust standard errors are too small.
"""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats
from statsmodels.genmod.cov_struct import Exchangeable, Independence  # statsmodels.api would load time series too
from statsmodels.genmod.families import Binomial
from statsmodels.genmod.generalized_estimating_equations import GEE
from statsmodels.tools.sm_exceptions import ConvergenceWarning, IterationLimitWarning, PerfectSeparationWarning

from app.reports.statistics.arrays import Floats
from app.reports.statistics.estimate import Estimate, undefined

FEWEST_CLUSTERS = 40
UNBOUNDED = 12.0  # a log odds ratio beyond this is a group that always says the same, not an estimate
FEW = "It clusters on neurons and needs {least} of them; there are {n}."
MOST_RATERS = 100
MANY = "It has a term for every rater, which fits at most {most} of them; there are {n}."
SEPARATED = "All verdicts of one group are alike, so its effect is unbounded and the model cannot be fitted."
NOT_CONVERGED = "The fit did not converge."


@dataclass(frozen=True)
class Effect:
    """One term of the model."""

    term: str
    """What it is: a condition against the baseline, or "position, per 10 items"."""
    odds_ratio: Estimate
    p: float | None
    """Two-sided Wald p value."""


def condition_terms(rows: pd.DataFrame, baseline: str) -> dict[str, Floats]:
    """A 0/1 column for every condition but the baseline, as the model's terms of interest."""
    others = [name for name in sorted(rows["condition"].unique()) if name != baseline]
    return {name: (rows["condition"] == name).to_numpy(float) for name in others}


def effects(rows: pd.DataFrame, terms: Mapping[str, Floats], level: float) -> tuple[Effect, ...]:
    """Fit verdicts (`interpretable`, a row a verdict) on `terms`, sizes and raters: the odds ratios of the terms.

    With very many raters their own terms take minutes and pull the others away from 1 (Neyman and Scott 1948), so it is
    not fitted then.
    """
    n = len(rows)
    single = rows["neuron"].is_unique
    method = (
        f"GEE, logit, {'independence' if single else 'exchangeable'} within neuron, fixed effects of size and rater"
    )

    def refused(why: str) -> tuple[Effect, ...]:
        return tuple(Effect(name, undefined(why, method, n, "verdicts"), None) for name in terms)

    clusters = rows["neuron"].nunique()
    if clusters < FEWEST_CLUSTERS:
        return refused(FEW.format(least=FEWEST_CLUSTERS, n=clusters))
    raters = rows["rater"].nunique()
    if raters > MOST_RATERS:
        return refused(MANY.format(most=MOST_RATERS, n=raters))
    design_VC = _design(rows, terms)
    if np.linalg.matrix_rank(design_VC) < design_VC.shape[1]:
        return refused("The terms cannot be told apart: one of them follows from the others.")
    within = Independence() if single else Exchangeable()
    fitted = _fit(rows["interpretable"].to_numpy(float), design_VC, rows["neuron"].to_numpy(), within)
    if isinstance(fitted, str):
        return refused(fitted)
    value_C, error_C = fitted
    return tuple(
        _effect(name, float(value_C[1 + index]), float(error_C[1 + index]), method, n, level)
        for index, name in enumerate(terms)
    )


def _design(rows: pd.DataFrame, terms: Mapping[str, Floats]) -> Floats:
    """Intercept, the terms, and indicator columns of sizes and raters (the first of each is the reference)."""
    fixed = pd.get_dummies(rows[["size", "rater"]].astype(str), drop_first=True, dtype=float).to_numpy(float)
    return np.column_stack([np.ones(len(rows)), *terms.values(), fixed])


def _fit(yes_V: Floats, design_VC: Floats, neurons: Floats, within: object) -> tuple[Floats, Floats] | str:
    """Coefficients and robust standard errors, or the sentence that says why there are none."""
    model = GEE(yes_V, design_VC, groups=neurons, family=Binomial(), cov_struct=within)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # overflow on the way; the result is checked below
        warnings.simplefilter("error", ConvergenceWarning)
        warnings.simplefilter("error", IterationLimitWarning)
        warnings.simplefilter("error", PerfectSeparationWarning)
        try:
            found = model.fit(maxiter=100)
        except (ConvergenceWarning, IterationLimitWarning):
            return NOT_CONVERGED
        except (PerfectSeparationWarning, np.linalg.LinAlgError):
            return SEPARATED
    value_C, error_C = np.asarray(found.params), np.asarray(found.bse)
    if not (np.isfinite(value_C).all() and np.isfinite(error_C).all()) or np.abs(value_C).max() > UNBOUNDED:
        return SEPARATED
    return value_C, error_C


def _effect(name: str, value: float, error: float, method: str, n: int, level: float) -> Effect:
    half = float(stats.norm.ppf((1 + level) / 2)) * error
    ratio = Estimate(
        float(np.exp(value)), float(np.exp(value - half)), float(np.exp(value + half)), level, method, n, "verdicts"
    )
    return Effect(name, ratio, float(2 * stats.norm.sf(abs(value) / error)))
