"""The same rater, the same neuron again: agreement of a rater with themselves."""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from app.reports.statistics.agreement import agreement_of
from app.reports.statistics.estimate import Estimate, undefined

UPPER = "An upper bound of self-agreement: a rater may recognise a neuron they saw before."
NONE = "No rater was shown a neuron twice."


@dataclass(frozen=True)
class Repeats:
    """Agreement within raters."""

    percent: Estimate
    ac1: Estimate


def repeats(
    first: pd.DataFrame, again: pd.DataFrame, level: float, resamples: int, rng: np.random.Generator
) -> Repeats:
    """Agreement over pairs of verdicts of one rater on one neuron. A repeat carries its original's neuron number."""
    key = ["rater", "neuron"]
    pairs = first[[*key, "interpretable"]].merge(again[[*key, "interpretable"]], on=key, suffixes=("_1", "_2"))
    if pairs.empty:
        method = "{} within raters, bootstrap of pairs"
        return Repeats(
            *(undefined(NONE, method.format(name), 0, "pairs") for name in ("percent agreement", "Gwet's AC1"))
        )
    yes = (pairs["interpretable_1"] + pairs["interpretable_2"]).to_numpy(float)
    found = agreement_of(np.stack([2 - yes, yes], axis=1), level, resamples, rng)
    percent, ac1 = (
        replace(
            one,
            unit="pairs",
            note=UPPER,
            method=one.method.replace("item bootstrap", "within raters, bootstrap of pairs"),
        )
        for one in (found.percent, found.ac1)
    )
    return Repeats(percent, ac1)
