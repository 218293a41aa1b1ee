"""Success of blinding, from raters' guesses of the condition at the end. Controls are left out.

Bang, Ni and Davis 2004, "Assessment of blinding in clinical trials", Controlled Clinical Trials 25; James et al. 1996,
"An index for assessing blindness in a multi-centre clinical trial", Statistics in Medicine 15.
"""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from scipy import stats

from app.reports.statistics.arrays import Floats
from app.reports.statistics.estimate import Estimate, undefined
from app.reports.statistics.fractions import FEW_RATERS
from app.reports.statistics.resampling import percentiles, rater_weights, ratio

UNKNOWN = "UNKNOWN"
ALIKE = "All guesses about a condition are alike, so nothing varies and there is no interval."
SAME_RATERS = "Every rater guessed like the others, so resampling raters shows no variation."
ONE_RATER = "A single rater guessed, so raters cannot be resampled."
NONE = "Nobody guessed."
ALONE = "There is a single condition, so there is nothing to guess."
FEW = "Only {raters} raters guessed: resampling raters is unreliable below six."


@dataclass(frozen=True)
class Bang:
    """Bang's index of one condition: 0 for blind guessing, 1 when every guess is right, negative when wrong."""

    condition: str
    right: int
    wrong: int
    unknown: int
    index: Estimate
    """With the interval of independent guesses."""
    error: float | None
    """Its standard error."""
    over_raters: Estimate
    """The same index, raters resampled: guesses of one rater go together."""


@dataclass(frozen=True)
class Blinding:
    """Both indices."""

    conditions: tuple[Bang, ...]
    james: Estimate
    """0 when every guess is right, 0.5 for random guessing, 1 when nobody knows; raters resampled."""
    chance: float
    """Share of right guesses by chance: 1 over the number of conditions."""


def bang(
    right: int, wrong: int, unknown: int, conditions: int = 2, level: float = 0.95
) -> tuple[Estimate, float | None]:
    """Bang's index and its standard error. With k conditions a wrong guess weighs 1/(k - 1), so that chance is 0."""
    method = "Bang's index, normal interval"
    n = right + wrong + unknown
    if n == 0 or conditions < 2:
        return undefined(ALONE if conditions < 2 else NONE, method, n, "guesses"), None
    weight = 1 / (conditions - 1)
    p, q = right / n, wrong / n
    value = p - weight * q
    error = float(np.sqrt(max(p + weight**2 * q - value**2, 0) / n))
    if max(right, wrong, unknown) == n:
        return Estimate(value, None, None, None, method, n, "guesses", why=ALIKE), error
    half = float(stats.norm.ppf((1 + level) / 2)) * error
    low, high = max(value - half, -weight), min(value + half, 1.0)
    return Estimate(value, low, high, level, method, n, "guesses"), error


def james(counts_BGK: Floats) -> Floats:
    """James's index of tables with a row a guess (K conditions, then unknown) and a column a truth; nan if undefined.

    (1 + P(unknown) + P(known) (wrong / wrong expected from the margins - 1)) / 2, over guesses that name a condition.
    """
    conditions = counts_BGK.shape[2]
    total_B = counts_BGK.sum(axis=(1, 2))
    named_BKK = counts_BGK[:, :conditions]
    named_B = named_BKK.sum(axis=(1, 2))
    wrong_B = ratio(named_B - np.trace(named_BKK, axis1=1, axis2=2), named_B)
    by_chance_B = ratio((named_BKK.sum(axis=2) * named_BKK.sum(axis=1)).sum(axis=1), named_B**2)
    unknown_B = 1 - ratio(named_B, total_B)
    kappa_B = ratio(wrong_B, 1 - by_chance_B) - 1
    index_B = (1 + unknown_B + (1 - unknown_B) * kappa_B) / 2
    return np.where(unknown_B == 1, 1.0, index_B)


def blinding(
    guesses: pd.DataFrame, conditions: list[str], level: float, resamples: int, rng: np.random.Generator
) -> Blinding:
    """Both indices from a table of guesses: columns rater, condition (the truth) and guess (a condition or UNKNOWN).

    Raises ValueError for a guess that is neither. `conditions` are all that a rater could choose from.
    """
    strange = sorted(set(guesses["guess"]) - {*conditions, UNKNOWN})
    if strange:
        raise ValueError(f"The guess {strange[0]!r} is none of {', '.join(conditions)} or {UNKNOWN}.")
    raters = sorted(guesses["rater"].unique())
    counts_RGK = np.zeros((len(raters), len(conditions) + 1, len(conditions)))
    places = [*conditions, UNKNOWN]
    for rater, guess, truth in zip(guesses["rater"], guesses["guess"], guesses["condition"], strict=True):
        counts_RGK[raters.index(rater), places.index(guess), conditions.index(truth)] += 1
    weight_BR = rater_weights(len(raters), resamples, rng) if raters else np.zeros((resamples, 0))
    counts_BGK = np.einsum("br,rgk->bgk", weight_BR, counts_RGK)
    found = tuple(_bang(counts_RGK, counts_BGK, index, conditions, level) for index in range(len(conditions)))
    return Blinding(found, _james(counts_RGK, counts_BGK, level), 1 / len(conditions))


def _bang(counts_RGK: Floats, counts_BGK: Floats, index: int, conditions: list[str], level: float) -> Bang:
    k = len(conditions)
    guesses_G = counts_RGK[:, :, index].sum(axis=0)
    right, unknown = int(guesses_G[index]), int(guesses_G[k])
    wrong = int(guesses_G.sum()) - right - unknown
    value, error = bang(right, wrong, unknown, k, level)
    drawn_BG = counts_BGK[:, :, index]
    total_B = drawn_BG.sum(axis=1)
    right_B = drawn_BG[:, index]
    wrong_B = total_B - right_B - drawn_BG[:, k]
    drawn_B = ratio(right_B - wrong_B / max(k - 1, 1), total_B)
    return Bang(
        conditions[index],
        right,
        wrong,
        unknown,
        value,
        error,
        _over_raters(value, drawn_B, counts_RGK, level, "Bang's index"),
    )


def _james(counts_RGK: Floats, counts_BGK: Floats, level: float) -> Estimate:
    total = counts_RGK.sum(axis=0, keepdims=True)
    method = "James's index"
    n = int(total.sum())
    if n == 0:
        return undefined(NONE, method, 0, "guesses")
    value = float(james(total)[0])
    if np.isnan(value):
        return undefined("All named guesses or all neurons are of one condition.", method, n, "guesses")
    point = Estimate(value, None, None, None, method, n, "guesses")
    return _over_raters(point, james(counts_BGK), counts_RGK, level, method)


def _over_raters(value: Estimate, draws_B: Floats, counts_RGK: Floats, level: float, name: str) -> Estimate:
    """The estimate with the interval of resampled raters instead of its own."""
    raters = len(counts_RGK)
    bare = replace(value, low=None, high=None, level=None, method=f"{name}, raters resampled, percentile interval")
    kept_B = draws_B[np.isfinite(draws_B)]
    if not value.defined:
        return bare
    if raters < 2 or len(kept_B) < 0.9 * len(draws_B):
        return replace(bare, why=ONE_RATER if raters < 2 else "Too few raters guessed for an interval.")
    if np.ptp(kept_B) == 0:
        return replace(bare, why=SAME_RATERS)
    low, high = percentiles(kept_B, level)
    note = FEW.format(raters=raters) if raters < FEW_RATERS else ""
    return replace(bare, low=low, high=high, level=level, note=note)
