"""One entry point: a table of verdicts and a plan in, everything a report says out."""

from dataclasses import dataclass
from typing import Any

import pandas as pd

from app.reports.statistics.agreement import Agreement, agreement
from app.reports.statistics.differences import Difference, differences
from app.reports.statistics.estimate import Test, jsonable
from app.reports.statistics.fractions import ArmFraction, arm_fractions
from app.reports.statistics.permutation import permutation
from app.reports.statistics.plan import Plan
from app.reports.statistics.ratings import matrix
from app.reports.statistics.resampling import draw
from app.reports.statistics.seeds import generator
from app.reports.statistics.strictness import Rater, strictness
from app.reports.statistics.verdicts import complete, counted


@dataclass(frozen=True)
class Comparison:
    """One condition against the baseline: the primary test."""

    condition: str
    baseline: str
    permutation: Test


@dataclass(frozen=True)
class Analysis:
    """Everything a report says in numbers."""

    label: str
    """SIMULATED in a study flagged as simulated, else empty."""
    seed: int
    """Seed of every resampling."""
    plan: Plan
    neurons: int
    raters: int
    verdicts: int
    """Verdicts on neurons that the plan counts."""
    arms: tuple[ArmFraction, ...]
    differences: tuple[Difference, ...]
    comparisons: tuple[Comparison, ...]
    agreement: Agreement
    strictness: tuple[Rater, ...]


def analyse(verdicts: pd.DataFrame, plan: Plan, seed: int) -> Analysis:
    """Analyse a study. `verdicts` has the columns described in verdicts.py; the seed makes every number repeatable.

    Raises ValueError when no verdict counts, and for a table that contradicts itself.
    """
    rows = counted(complete(verdicts), plan)
    if rows.empty:
        raise ValueError(f"No verdict of a {plan.rater_kind} rater on a neuron counts, so there is nothing to report.")
    ratings = matrix(rows)
    draws = draw(ratings, plan.resamples, generator(seed, "bootstrap"))
    conditions = list(dict.fromkeys(arm.condition for arm in ratings.arms))
    return Analysis(
        "SIMULATED" if plan.simulated else "",
        seed,
        plan,
        len(ratings.neurons_N),
        len(ratings.raters_R),
        len(rows),
        arm_fractions(ratings, draws, plan.level),
        differences(ratings, draws, plan.baseline, plan.level),
        tuple(
            Comparison(
                name,
                plan.baseline,
                permutation(
                    ratings, name, plan.baseline, plan.shuffle, plan.resamples, generator(seed, f"permutation {name}")
                ),
            )
            for name in conditions
            if name != plan.baseline
        ),
        agreement(ratings, plan.level, plan.resamples, generator(seed, "agreement")),
        strictness(ratings, plan.baseline, plan.level),
    )


def to_json(analysis: Analysis) -> dict[str, Any]:
    """The analysis as `json.dumps` takes it. Raises ValueError should a number not be finite."""
    found: dict[str, Any] = jsonable(analysis)
    return found
