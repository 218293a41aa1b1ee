"""Controls: how often raters call interpretable what is not one neuron."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from app.reports.statistics.estimate import Estimate
from app.reports.statistics.fractions import mean_verdict, wilson
from app.reports.statistics.ratings import matrix
from app.reports.statistics.resampling import resampled_sums

NAMES = {"mixed": "mixed snippets of several neurons", "direction": "random direction"}


@dataclass(frozen=True)
class Control:
    """One kind of control, in one condition or in all."""

    kind: str
    """mixed or direction."""
    condition: str | None
    """None: over all conditions."""
    verdicts: int
    fraction: Estimate
    """Fraction called interpretable: for a mixed control, the raters' false-positive rate."""


@dataclass(frozen=True)
class RaterControls:
    """One rater's false positives on mixed controls."""

    rater: int
    fraction: Estimate


def controls(rows: pd.DataFrame, level: float, resamples: int, rng: np.random.Generator) -> tuple[Control, ...]:
    """Every kind of control in each condition and over all, from counted rows of the kinds mixed and direction."""
    found = []
    for kind in NAMES:
        of_kind = rows[rows["kind"] == kind]
        if of_kind.empty:
            continue
        found.append(_control(of_kind, kind, None, level, resamples, rng))
        for condition, part in of_kind.groupby("condition"):
            found.append(_control(part, kind, str(condition), level, resamples, rng))
    return tuple(found)


def _control(
    rows: pd.DataFrame, kind: str, condition: str | None, level: float, resamples: int, rng: np.random.Generator
) -> Control:
    ratings = matrix(rows)
    mean_N = ratings.mean_N
    draws_B = resampled_sums(mean_N[:, None], resamples, rng)[:, 0] / len(mean_N)
    return Control(kind, condition, len(rows), mean_verdict(mean_N, ratings.single, draws_B, level))


def false_positives(rows: pd.DataFrame, level: float) -> tuple[RaterControls, ...]:
    """Each rater's fraction of mixed controls called interpretable, Wilson intervals."""
    mixed = rows[rows["kind"] == "mixed"]
    return tuple(
        RaterControls(rater, wilson(float(said.sum()), len(said), level))
        for rater in sorted(int(number) for number in mixed["rater"].unique())
        for said in [mixed.loc[mixed["rater"] == rater, "interpretable"]]
    )
