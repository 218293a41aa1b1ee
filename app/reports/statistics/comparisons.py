"""Several comparisons in one study: adjusted p values."""

from collections.abc import Sequence

from statsmodels.stats.multitest import multipletests

from app.reports.statistics.plan import Correction

NAMES: dict[Correction, str] = {"holm": "Holm", "bh": "Benjamini-Hochberg"}
METHODS: dict[Correction, str] = {"holm": "holm", "bh": "fdr_bh"}


def adjusted(p_values: Sequence[float | None], correction: Correction) -> list[float | None]:
    """P values adjusted for their number, in their order; an undefined one stays None and is not counted.

    Holm 1979 for confirmatory families; Benjamini and Hochberg 1995 for exploratory ones.
    """
    known = [p for p in p_values if p is not None]
    if not known:
        return list(p_values)
    found = iter(multipletests(known, method=METHODS[correction])[1])
    return [None if p is None else float(next(found)) for p in p_values]
