"""Several comparisons in one study: adjusted p values."""

from collections.abc import Sequence

import numpy as np
from scipy import stats

from app.reports.statistics.arrays import Floats
from app.reports.statistics.plan import Correction

NAMES: dict[Correction, str] = {"holm": "Holm", "bh": "Benjamini-Hochberg"}


def adjusted(p_values: Sequence[float | None], correction: Correction) -> list[float | None]:
    """P values adjusted for their number, in their order; an undefined one stays None and is not counted."""
    known = np.array([p for p in p_values if p is not None], dtype=float)
    if not len(known):
        return list(p_values)
    found = iter(holm(known) if correction == "holm" else stats.false_discovery_control(known))
    return [None if p is None else float(next(found)) for p in p_values]


def holm(p_values: Floats) -> Floats:
    """Holm 1979, for confirmatory families: the k-th smallest of m p values times m - k + 1, never falling."""
    order = np.argsort(p_values)
    steps = p_values[order] * np.arange(len(p_values), 0, -1)
    found = np.empty(len(p_values))
    found[order] = np.minimum(np.maximum.accumulate(steps), 1)
    return found
