"""The effective size multiplier: which size of the baseline would reach an arm's loss, over the arm's own size."""

# Shape suffixes: R replicates, K models of the baseline, J models of an arm, M models of both, D documents.
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from model_runner.errors import RunnerError
from model_runner.scaling.law import Floats, Form, Law, fit, moved, scatter

REPLICATES = 2000
TOGETHER = 100
"""Resamplings of the documents that are held in memory at once."""


@dataclass(frozen=True)
class Interval:
    """A multiplier with its interval. None where no size of the baseline has such a loss."""

    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Multiplier:
    """Of one model."""

    size: int
    loss: float
    interval: Interval
    equal_size: float | None
    """The size of the baseline that would reach this loss, parameters."""
    extrapolated: bool
    """That size lies outside those of the baseline: it leans on the law where nothing was trained."""


@dataclass(frozen=True)
class Multipliers:
    """Of one arm."""

    models: list[Multiplier]
    pooled: Interval
    """The geometric mean over the arm's models, each counted alike."""


def document_noise(nats_DM: Floats, tokens_D: Floats, replicates: int, rng: np.random.Generator) -> Floats:
    """(R, M) how much each model's loss (nats a token) moves when the documents are drawn again.

    A bootstrap over documents (Efron and Tibshirani 1993, An introduction to the bootstrap, chapter 6), the same
    draw for every model: what makes a document hard is common to all of them and cancels in their comparison.
    """
    losses_M = nats_DM.sum(axis=0) / tokens_D.sum()
    found = []
    for first in range(0, replicates, TOGETHER):
        shape = min(TOGETHER, replicates - first)
        counts_RD = rng.multinomial(len(tokens_D), np.full(len(tokens_D), 1 / len(tokens_D)), shape).astype(np.float64)
        found.append(counts_RD @ nats_DM / (counts_RD @ tokens_D)[:, None] - losses_M)
    return np.concatenate(found)


def multipliers(
    baseline: tuple[Floats, Floats],
    arm: tuple[Floats, Floats],
    form: Form,
    noise: tuple[Floats, Floats],
    rng: np.random.Generator,
) -> tuple[Law, Multipliers]:
    """The baseline's law and an arm's multipliers with 95 % intervals.

    `baseline` and `arm` are sizes (parameters) and losses (nats a token). `noise` holds how the losses of both move
    with the documents, (R, K) and (R, J), as `document_noise` gives it; zeros where that is not known.

    A replicate takes the fitted losses of the baseline, moves them and the arm's by one draw of the documents and by
    scatter (below), fits the law again and reads the arm's losses on it; the interval lies between the 2.5th and
    97.5th percentile of the replicates (Efron and Tibshirani 1993, sections 13.3 and 6.5: percentiles, parametric
    bootstrap). The scatter is what the baseline's losses show about their law: in each replicate a normal draw for
    every model with variance (sum of squares) / (chi-squared of the degrees of freedom), so that a scatter known
    from few sizes is not taken for certain (Gelman et al. 2013, Bayesian data analysis, section 14.2; with a line
    for a law this is the t-interval). An arm's own models are taken to scatter as the baseline's do. The scatter
    holds some noise of the documents already, so the intervals are a little wide rather than narrow.

    Raises RunnerError where the baseline's loss does not fall with size.
    """
    (sizes_K, losses_K), (sizes_J, losses_J) = baseline, arm
    law = fit(sizes_K, losses_K[None, :], form)
    if law.scale_R[0] <= 0 or law.exponent_R[0] <= 0:
        raise RunnerError(
            "The baseline's loss does not fall with size, so no size can be read from a loss. "
            "Train its sizes alike and long enough that the larger ones are better."
        )
    replicates_RK, replicates_RJ = _replicates(law, baseline, losses_J, noise, rng)
    draws_RJ = fit(sizes_K, replicates_RK, form).sizes(replicates_RJ) / sizes_J
    equal_J = law.sizes(losses_J[None, :])[0]
    models = [
        Multiplier(
            size=int(size),
            loss=float(loss),
            interval=_interval(equal / size, draws_R),
            equal_size=_finite(equal),
            extrapolated=not sizes_K.min() <= equal <= sizes_K.max(),
        )
        for size, loss, equal, draws_R in zip(sizes_J, losses_J, equal_J, draws_RJ.T, strict=True)
    ]
    pooled = _interval(_geometric_mean(equal_J / sizes_J), _geometric_mean(draws_RJ))
    return law, Multipliers(models, pooled)


def _replicates(
    law: Law,
    baseline: tuple[Floats, Floats],
    losses_J: Floats,
    noise: tuple[Floats, Floats],
    rng: np.random.Generator,
) -> tuple[Floats, Floats]:
    """(R, K) and (R, J): the losses of the baseline and of the arm in each replicate."""
    squares, freedom = scatter(law, *baseline)
    noise_RK, noise_RJ = noise
    spread_R1 = np.sqrt(squares / rng.chisquare(freedom, (len(noise_RK), 1)))
    baseline_RK = moved(law, law.losses(baseline[0])[0], noise_RK, spread_R1 * rng.standard_normal(noise_RK.shape))
    arm_RJ = moved(law, losses_J, noise_RJ, spread_R1 * rng.standard_normal(noise_RJ.shape))
    return baseline_RK, arm_RJ


def _geometric_mean(values_RJ: Floats) -> Floats:
    means: Floats = np.exp(np.log(values_RJ).mean(axis=-1))
    return means


def _interval(value: float | Floats, draws_R: Floats) -> Interval:
    low, high = _percentiles(draws_R)
    return Interval(_finite(float(value)), _finite(low), _finite(high))


def _percentiles(draws_R: Floats) -> tuple[float, float]:
    """Taken from the sorted draws and not between two of them, as some may be infinite."""
    low, high = np.quantile(draws_R, [0.025, 0.975], method="inverted_cdf")
    return float(low), float(high)


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def no_noise(replicates: int, models: int) -> NDArray[np.float64]:
    """Noise of documents that nobody measured."""
    return np.zeros((replicates, models))
