"""A mixed model of verdicts with random neurons and raters, fitted by bambi, an optional extra that is loaded late.

Gelman and Hill 2007, "Data Analysis Using Regression and Multilevel/Hierarchical Models", chapter 14. Weakly
informative priors as bambi chooses them (Westfall 2017); four chains of the no-U-turn sampler.
"""

from importlib.util import find_spec
from typing import Any

import numpy as np
import pandas as pd

from app.reports.statistics.estimate import Estimate, undefined
from app.reports.statistics.model import Effect

METHOD = "mixed model, random neuron and rater, logit, posterior mean and credible interval"
MISSING = "The package bambi is not installed. Run, in Glance's folder: pip install -c constraints.txt -e '.[mixed]'"
FEW = "It needs two raters or more, and twenty neurons or more."
UNMIXED = "The chains did not mix (R-hat above 1.05), so the model says nothing."
FEWEST_NEURONS, HIGHEST_RHAT = 20, 1.05
DRAWS, TUNE, CHAINS = 1000, 1000, 4


def mixed_model(
    rows: pd.DataFrame, baseline: str, level: float, seed: int, *, draws: int = DRAWS, tune: int = TUNE
) -> tuple[Effect, ...]:
    """Odds ratio of each condition against the baseline, sizes fixed, from counted rows (a row a verdict).

    The odds ratio is for one neuron and one rater, so it lies further from 1 than the one of a marginal model (GEE).
    There is no p value: the interval is the central part of the posterior.
    """
    others = [name for name in sorted(rows["condition"].unique()) if name != baseline]
    if why := _lacking(rows):
        return tuple(Effect(name, undefined(why, METHOD, len(rows), "verdicts"), None) for name in others)
    posterior, rhat = _fit(rows, others, seed, draws, tune)
    if rhat > HIGHEST_RHAT:
        return tuple(Effect(name, undefined(UNMIXED, METHOD, len(rows), "verdicts"), None) for name in others)
    return tuple(_effect(name, posterior[f"term_{at}"], level, len(rows)) for at, name in enumerate(others))


def _lacking(rows: pd.DataFrame) -> str:
    if find_spec("bambi") is None:
        return MISSING
    few = rows["rater"].nunique() < 2 or rows["neuron"].nunique() < FEWEST_NEURONS
    return FEW if few else ""


def _fit(
    rows: pd.DataFrame, others: list[str], seed: int, draws: int, tune: int
) -> tuple[dict[str, np.ndarray[Any, Any]], float]:
    """Draws of each condition's coefficient, and the largest R-hat among them."""
    import arviz
    import bambi

    terms = {f"term_{at}": (rows["condition"] == name).astype(float) for at, name in enumerate(others)}
    sizes = ["C(size)"] if rows["size"].nunique() > 1 else []
    table = pd.DataFrame({
        "yes": rows["interpretable"].astype(int), "neuron": rows["neuron"].astype(str),
        "rater": rows["rater"].astype(str), "size": rows["size"].astype(str), **terms,
    })  # fmt: skip
    formula = "yes ~ " + " + ".join([*terms, *sizes, "(1|neuron)", "(1|rater)"])
    model = bambi.Model(formula, table, family="bernoulli")
    found = model.fit(draws=draws, tune=tune, chains=CHAINS, cores=1, random_seed=seed, progressbar=False)
    rhat = arviz.rhat(found, var_names=list(terms))
    return {name: found.posterior[name].to_numpy().ravel() for name in terms}, max(float(rhat[name]) for name in terms)


def _effect(name: str, draws_D: np.ndarray[Any, Any], level: float, n: int) -> Effect:
    low, mean, high = np.quantile(draws_D, (1 - level) / 2), draws_D.mean(), np.quantile(draws_D, (1 + level) / 2)
    ratio = Estimate(float(np.exp(mean)), float(np.exp(low)), float(np.exp(high)), level, METHOD, n, "verdicts")
    return Effect(name, ratio, None)
