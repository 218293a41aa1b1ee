"""Whether verdicts drift: along a rater's own order of items, and from sitting to sitting."""

import pandas as pd

from app.reports.statistics.model import Effect, condition_terms, effects

POSITION, SITTING = "position, per 10 items", "sitting"


def drift(rows: pd.DataFrame, baseline: str, level: float) -> tuple[Effect, ...]:
    """Odds ratios of position and, where raters had several, of sitting; conditions, sizes and raters held fixed."""
    terms = {POSITION: rows["position"].to_numpy(float) / 10}
    if rows["sitting"].nunique() > 1:
        terms[SITTING] = rows["sitting"].to_numpy(float)
    found = effects(rows, terms | condition_terms(rows, baseline), level)
    return tuple(effect for effect in found if effect.term in (POSITION, SITTING))
