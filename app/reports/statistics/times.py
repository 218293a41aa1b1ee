"""How long a verdict took, and how often the soft clock had turned."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

from app.reports.statistics.arrays import Floats
from app.reports.statistics.estimate import Estimate, undefined
from app.reports.statistics.fractions import wilson

UNKNOWN = "No time is recorded."
FEW = "Too few verdicts for an interval of a median."
QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)


@dataclass(frozen=True)
class Times:
    """Active seconds of the verdicts in one condition, or in all."""

    condition: str | None
    """None: over all conditions."""
    median_seconds: Estimate
    quantiles_seconds: tuple[float, ...]
    """10, 25, 50, 75 and 90 %; empty when no time is known."""
    over_one_minute: Estimate
    over_two_minutes: Estimate


def times(rows: pd.DataFrame, level: float) -> tuple[Times, ...]:
    """Times over all verdicts and by condition. They are outcomes: an arm that takes longer is harder to judge."""
    parts: list[tuple[str | None, pd.DataFrame]] = [(None, rows)]
    parts += [(str(condition), part) for condition, part in rows.groupby("condition")]
    return tuple(_times(condition, part["seconds"].dropna().to_numpy(float), level) for condition, part in parts)


def _times(condition: str | None, seconds_V: Floats, level: float) -> Times:
    n = len(seconds_V)
    quantiles = tuple(float(q) for q in np.quantile(seconds_V, QUANTILES)) if n else ()
    over = [wilson(float((seconds_V > limit).sum()), n, level) for limit in (60, 120)]
    return Times(condition, median(seconds_V, level), quantiles, *over)


def median(values_V: Floats, level: float = 0.95) -> Estimate:
    """Median with the order-statistic interval, which assumes no distribution (Conover 1999, section 3.2)."""
    method = "median, order-statistic interval"
    n = len(values_V)
    if n == 0:
        return undefined(UNKNOWN, method, 0, "verdicts")
    ordered_V = np.sort(values_V)
    value = float(np.median(values_V))
    below = int(stats.binom.ppf((1 - level) / 2, n, 0.5))
    if stats.binom.cdf(below - 1, n, 0.5) == 0 or below < 1:
        return Estimate(value, None, None, None, method, n, "verdicts", why=FEW)
    return Estimate(value, float(ordered_V[below - 1]), float(ordered_V[n - below]), level, method, n, "verdicts")
