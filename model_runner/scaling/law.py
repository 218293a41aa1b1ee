"""The law by which a loss falls with size: fitted to a baseline's models, and read backwards."""

# Shape suffixes: R replicates of the losses, K models, G exponents that are tried.
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from model_runner.errors import RunnerError
from model_runner.words import counted

Form = Literal["floor", "plain"]
FORMS: tuple[str, ...] = get_args(Form)
NUMBERS = {"floor": 3, "plain": 2}
"""Numbers that each form fits."""
LEAST_SIZES = 4
EXPONENTS = (0.01, 3.0)
"""Between these the exponent of a law with a floor is sought."""
TRIED = 40
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Law:
    """L = floor + scale (N / unit)^-exponent, nats a token; one law or R at once.

    With a floor: Hoffmann et al. 2022, "Training compute-optimal large language models", equation 2, its term in
    size, as every model here sees the same tokens. Plain (floor 0, so that ln L is linear in ln N): Kaplan et al.
    2020, "Scaling laws for neural language models", equation 1.1.
    """

    form: Form
    unit: float
    """Parameters. The geometric mean of the sizes, so that `scale` is a loss near those that were seen."""
    floor_R: Floats
    scale_R: Floats
    exponent_R: Floats

    def losses(self, sizes_K: Floats) -> Floats:
        """(R, K) nats a token that a model of each size (parameters) has by the law."""
        exponents = -self.exponent_R[:, None]
        losses_RK: Floats = self.floor_R[:, None] + self.scale_R[:, None] * (sizes_K / self.unit) ** exponents
        return losses_RK

    def sizes(self, losses_RK: Floats) -> Floats:
        """(R, K) parameters at which the law has each loss: infinite where none does, for it is at or under the
        floor, or because the law does not fall with size."""
        above_RK = (losses_RK - self.floor_R[:, None]) / self.scale_R[:, None]
        reached_RK = (above_RK > 0) & (self.exponent_R > 0)[:, None] & (self.scale_R > 0)[:, None]
        powers_RK = np.log(np.where(reached_RK, above_RK, 1.0)) / -np.maximum(self.exponent_R, 1e-12)[:, None]
        # Far beyond any model there is, at either end, and a float above 0 all the same.
        sizes_RK: Floats = np.where(reached_RK, self.unit * np.exp(np.clip(powers_RK, -300.0, 300.0)), np.inf)
        return sizes_RK


def choose_form(sizes_K: Floats, asked: Form | None) -> Form:
    """The form that so many sizes can carry: a floor from five on, plain with four.

    Raises RunnerError for fewer than four sizes, and where the form asked for leaves one degree of freedom or less:
    the scatter about the law, and with it every interval, would then be a guess.
    """
    different = len(np.unique(sizes_K))
    if different < LEAST_SIZES:
        raise RunnerError(
            f"The baseline has {counted(different, 'size')}; a law needs at least {LEAST_SIZES}. "
            "Train it at more sizes, about four times apart."
        )
    form = asked or ("floor" if different > LEAST_SIZES else "plain")
    left = different - NUMBERS[form]
    if left <= 1:
        raise RunnerError(
            f"A law with a {form} fits {NUMBERS[form]} numbers to {counted(different, 'size')}, which leaves "
            f"{counted(left, 'degree')} of freedom; at least 2 are needed. Train more sizes, or ask for --law plain."
        )
    return form


def fit(sizes_K: Floats, losses_RK: Floats, form: Form) -> Law:
    """The law of least squares: in the losses with a floor, in their logarithms where plain.

    `sizes_K` are parameters, `losses_RK` nats a token; R replicates are fitted at once, each on its own.
    """
    unit = float(np.exp(np.log(sizes_K).mean()))
    places_K = np.log(sizes_K / unit)
    if form == "plain":
        level_R, slope_R = _line(places_K, np.log(losses_RK))
        return Law(form, unit, np.zeros_like(level_R), np.exp(level_R), -slope_R)
    exponent_R = _best_exponent(places_K, losses_RK)
    floor_R, scale_R, _ = _with_exponent(places_K, losses_RK, exponent_R[:, None])
    return Law(form, unit, floor_R[:, 0], scale_R[:, 0], exponent_R)


def scatter(law: Law, sizes_K: Floats, losses_K: Floats) -> tuple[float, int]:
    """Sum of squares of the losses about one law, and the degrees of freedom that are left to it.

    In what the law was fitted in: nats^2 with a floor, squares of differences of logarithms where plain.
    """
    fitted_K = law.losses(sizes_K)[0]
    residuals_K = np.log(losses_K / fitted_K) if law.form == "plain" else losses_K - fitted_K
    return float((residuals_K**2).sum()), len(losses_K) - NUMBERS[law.form]


def moved(law: Law, losses_K: Floats, noise_RK: Floats, scatter_RK: Floats) -> Floats:
    """(R, K) losses moved by noise (nats) and by scatter in what the law was fitted in (see `scatter`)."""
    if law.form == "plain":
        return losses_K * np.exp(noise_RK / losses_K + scatter_RK)
    return losses_K + noise_RK + scatter_RK


def _line(places_K: Floats, values_RK: Floats) -> tuple[Floats, Floats]:
    """Level at place 0 and slope of the least-squares line. `places_K` need not have mean 0."""
    centred_K = places_K - places_K.mean()
    slope_R: Floats = values_RK @ centred_K / (centred_K**2).sum()
    level_R: Floats = values_RK.mean(axis=1) - slope_R * places_K.mean()
    return level_R, slope_R


def _best_exponent(places_K: Floats, losses_RK: Floats) -> Floats:
    """The exponent with the least squares: over a grid, then between the best one's neighbours, three times.

    Given the exponent, floor and scale are a linear fit, so one number is all that has to be searched for.
    """
    grid_RG = np.geomspace(*EXPONENTS, TRIED)[None, :].repeat(len(losses_RK), axis=0)
    for _ in range(4):
        squares_RG = _with_exponent(places_K, losses_RK, grid_RG)[2]
        best_R = squares_RG.argmin(axis=1)
        rows = np.arange(len(best_R))
        low_R, high_R = grid_RG[rows, np.maximum(best_R - 1, 0)], grid_RG[rows, np.minimum(best_R + 1, TRIED - 1)]
        exponent_R: Floats = grid_RG[rows, best_R]
        grid_RG = np.linspace(low_R, high_R, TRIED, axis=1)
    return exponent_R


def _with_exponent(places_K: Floats, losses_RK: Floats, exponents_RG: Floats) -> tuple[Floats, Floats, Floats]:
    """Floor, scale and sum of squares (R, G) of the best law with each exponent."""
    powers_RGK = np.exp(-exponents_RG[:, :, None] * places_K)
    centred_RGK = powers_RGK - powers_RGK.mean(axis=2, keepdims=True)
    from_mean_RK = losses_RK - losses_RK.mean(axis=1, keepdims=True)
    scale_RG: Floats = np.einsum("rgk,rk->rg", centred_RGK, from_mean_RK) / (centred_RGK**2).sum(axis=2)
    floor_RG: Floats = losses_RK.mean(axis=1)[:, None] - scale_RG * powers_RGK.mean(axis=2)
    squares_RG: Floats = ((from_mean_RK[:, None, :] - scale_RG[:, :, None] * centred_RGK) ** 2).sum(axis=2)
    return floor_RG, scale_RG, squares_RG
