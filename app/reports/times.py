"""How long a verdict took, by condition. Server time between showing an item and its verdict."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

    from app.reports.statistics.plan import Plan


@dataclass(frozen=True)
class Times:
    """Quartiles, in seconds."""

    of: str
    """A condition; empty for all verdicts together."""
    verdicts: int
    lower: float
    median: float
    upper: float


def times(table: "pd.DataFrame", plan: "Plan") -> list[Times]:
    """Times of the verdicts on neurons, all together first, then by condition. Empty without a known time."""
    from app.reports.statistics.verdicts import complete, of_kind

    rows = of_kind(complete(table), plan, "neuron").dropna(subset=["seconds"])
    if rows.empty:
        return []
    by_condition = [_times(str(condition), part) for condition, part in rows.groupby("condition", sort=True)]
    return [_times("", rows), *by_condition]


def _times(of: str, rows: "pd.DataFrame") -> Times:
    lower, median, upper = rows["seconds"].quantile([0.25, 0.5, 0.75])
    return Times(of, len(rows), float(lower), float(median), float(upper))
