"""The main figures of a study under one plan: fractions, differences, and the primary test."""

from dataclasses import dataclass, replace

import pandas as pd

from app.reports.statistics.comparisons import NAMES, adjusted
from app.reports.statistics.differences import Difference, differences
from app.reports.statistics.estimate import Test
from app.reports.statistics.fractions import ArmFraction, arm_fractions
from app.reports.statistics.permutation import permutation
from app.reports.statistics.plan import Plan
from app.reports.statistics.ratings import Ratings, matrix
from app.reports.statistics.resampling import draw
from app.reports.statistics.seeds import generator


@dataclass(frozen=True)
class Comparison:
    """One condition against the baseline, over the sizes they share: the primary test."""

    condition: str
    baseline: str
    difference: Difference
    """Averaged over the shared sizes."""
    permutation: Test
    adjusted_p: float | None
    """The p value adjusted for the number of comparisons, by the plan's correction."""
    correction: str
    """Holm or Benjamini-Hochberg, or "none" with a single comparison."""


@dataclass(frozen=True)
class Primary:
    """The main figures."""

    arms: tuple[ArmFraction, ...]
    differences: tuple[Difference, ...]
    comparisons: tuple[Comparison, ...]


def primary(rows: pd.DataFrame, plan: Plan, seed: int) -> tuple[Ratings, Primary]:
    """Main figures of the counted rows, and the matrix they stand on. The same seed draws the same resamples."""
    ratings = matrix(rows)
    draws = draw(ratings, plan.resamples, generator(seed, "bootstrap"))
    found = differences(ratings, draws, plan.baseline, plan.level, generator(seed, "models"))
    compared = [_comparison(ratings, row, plan, seed) for row in overall(found)]
    p_values = adjusted([row.permutation.p for row in compared], plan.correction)
    correction = NAMES[plan.correction] if len(compared) > 1 else "none"
    comparisons = tuple(
        replace(row, adjusted_p=p, correction=correction) for row, p in zip(compared, p_values, strict=True)
    )
    return ratings, Primary(arm_fractions(ratings, draws, plan.level), found, comparisons)


def overall(found: tuple[Difference, ...]) -> list[Difference]:
    """One difference a condition: over all sizes, or in the only one."""
    return list({row.condition: row for row in found}.values())  # the average over sizes comes last


def _comparison(ratings: Ratings, row: Difference, plan: Plan, seed: int) -> Comparison:
    rng = generator(seed, f"permutation {row.condition}")
    test = permutation(ratings, row.condition, plan.baseline, plan.shuffle, plan.resamples, rng)
    return Comparison(row.condition, plan.baseline, row, test, None, "")
