"""The figures of one machine rater: fractions and differences of its own, and its agreement with people.

It gives one verdict on each neuron, so nothing is resampled but neurons. No function here is given both kinds of
verdict to add up: people's come in only as what the machine is compared with.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from app.reports.statistics.agreement import Agreement, agreement_of
from app.reports.statistics.differences import differences
from app.reports.statistics.estimate import Estimate
from app.reports.statistics.fractions import mean_verdict
from app.reports.statistics.plan import Plan
from app.reports.statistics.ratings import Arm, Ratings, matrix
from app.reports.statistics.resampling import Draws, draw
from app.reports.statistics.seeds import generator
from app.reports.statistics.verdicts import complete, counted, with_answers


@dataclass(frozen=True)
class MachineFraction:
    """One arm."""

    arm: Arm
    fraction: Estimate
    """Neuron bootstrap."""


@dataclass(frozen=True)
class MachineDifference:
    """One condition minus the baseline."""

    condition: str
    baseline: str
    size: int | None
    """None: averaged over the sizes both conditions have."""
    difference: Estimate
    """Neuron bootstrap."""


@dataclass(frozen=True)
class MachineFigures:
    """What one machine rater's verdicts on neurons come to."""

    neurons: int
    arms: tuple[MachineFraction, ...]
    differences: tuple[MachineDifference, ...]
    agreement: Agreement
    """With people: the machine's verdict and the majority of people's, on the neurons that have both."""
    ties: int
    """Neurons on which people were evenly divided; they are left out of the agreement."""


def machine_figures(
    rows: pd.DataFrame, people: pd.DataFrame, plan: Plan, seed: int, name: str
) -> MachineFigures | None:
    """The figures of one machine rater under the study's plan; None where none of its verdicts counts.

    `rows`: its verdicts, and `people`: everybody's, with the columns of verdicts.py and `item`, the item's code. Of
    `people` only raters of the plan's kind are looked at. The same seed and name give the same intervals.
    """
    own = with_answers(_of_neurons(complete(rows)), plan)
    if own.empty:
        return None
    ratings = matrix(own)
    draws = draw(ratings, plan.resamples, generator(seed, f"machine {name}"))
    found = differences(ratings, draws, plan.baseline, plan.level, generator(seed, f"machine {name}, models"))
    pairs_NQ, ties = compared(own, counted(complete(people), plan))
    return MachineFigures(
        len(ratings.neurons_N),
        tuple(_fraction(ratings, draws, index, plan.level) for index in range(len(ratings.arms))),
        tuple(MachineDifference(one.condition, one.baseline, one.size, one.neurons) for one in found),
        agreement_of(pairs_NQ, plan.level, plan.resamples, generator(seed, f"machine {name}, agreement")),
        ties,
    )


def compared(own: pd.DataFrame, people: pd.DataFrame) -> tuple[np.ndarray, int]:
    """Two verdicts on each neuron that both have judged, the machine's and people's majority, as how often no and
    yes was said (N, 2); and how many neurons are left out because people were evenly divided.
    """
    majority = people.groupby("item")["interpretable"].mean() - 0.5
    both = own.set_index("item")["interpretable"].to_frame("machine").join(majority.rename("people"), how="inner")
    decided = both[both["people"] != 0]
    yes_N = decided["machine"].to_numpy(float) + (decided["people"] > 0).to_numpy(float)
    return np.column_stack([2 - yes_N, yes_N]), len(both) - len(decided)


def _of_neurons(table: pd.DataFrame) -> pd.DataFrame:
    return table[table["kind"] == "neuron"]


def _fraction(ratings: Ratings, draws: Draws, index: int, level: float) -> MachineFraction:
    mean_N = ratings.of_arms([index]).mean_N
    return MachineFraction(ratings.arms[index], mean_verdict(mean_N, False, draws.neurons_AB[index], level))
