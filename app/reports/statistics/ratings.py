"""Counted verdicts as a matrix of neurons by raters: the form that all resampling works on."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from app.reports.statistics.arrays import Floats, Ints


@dataclass(frozen=True, order=True)
class Arm:
    """One model of the study."""

    condition: str
    size: int
    """Non-embedding parameters."""
    seed: int
    """Training seed; replicate models of a condition and size differ only here."""
    id: int


@dataclass(frozen=True)
class Ratings:
    """Neurons by raters. Every neuron has at least one verdict; most cells may be empty."""

    yes_NR: Floats
    """1 where the rater called the neuron interpretable, 0 elsewhere (also where there is no verdict)."""
    seen_NR: Floats
    """1 where there is a verdict."""
    neurons_N: Ints
    """The neurons' numbers, as in the table."""
    arm_N: Ints
    """Index into `arms`."""
    raters_R: Ints
    """The raters' numbers, as in the table."""
    arms: tuple[Arm, ...]
    """Sorted by condition, size and seed."""

    @property
    def verdicts_N(self) -> Floats:
        """How many verdicts each neuron has."""
        return np.asarray(self.seen_NR.sum(axis=1))

    @property
    def mean_N(self) -> Floats:
        """Each neuron's mean verdict."""
        return np.asarray(self.yes_NR.sum(axis=1) / self.verdicts_N)

    @property
    def single(self) -> bool:
        """True when every neuron has exactly one verdict."""
        return bool((self.verdicts_N == 1).all())

    def of_arms(self, arms: list[int]) -> "Ratings":
        """Only the neurons of these arms (indices); raters and arms keep their numbering."""
        keep = np.isin(self.arm_N, arms)
        return Ratings(
            self.yes_NR[keep],
            self.seen_NR[keep],
            self.neurons_N[keep],
            self.arm_N[keep],
            self.raters_R,
            self.arms,
        )


def matrix(counted: pd.DataFrame) -> Ratings:
    """Rows of `verdicts.counted` as a matrix. Raises ValueError when a rater has two verdicts on one neuron."""
    twice = counted.duplicated(["neuron", "rater"])
    if twice.any():
        row = counted[twice].iloc[0]
        raise ValueError(
            f"Rater {row['rater']} has two counted verdicts on neuron {row['neuron']}; "
            "a second showing must be an item of kind repeat."
        )
    neurons_N, row_V = np.unique(counted["neuron"].to_numpy(np.int64), return_inverse=True)
    raters_R, column_V = np.unique(counted["rater"].to_numpy(np.int64), return_inverse=True)
    yes_NR, seen_NR = np.zeros((2, len(neurons_N), len(raters_R)))
    yes_NR[row_V, column_V] = counted["interpretable"].to_numpy(float)
    seen_NR[row_V, column_V] = 1
    arms = _arms(counted)
    first = counted.drop_duplicates("neuron").set_index("neuron")["arm"]
    where = {arm.id: index for index, arm in enumerate(arms)}
    arm_N = np.array([where[arm] for arm in first.loc[neurons_N]], dtype=np.int64)
    return Ratings(yes_NR, seen_NR, neurons_N, arm_N, raters_R, arms)


def _arms(counted: pd.DataFrame) -> tuple[Arm, ...]:
    if (counted.groupby("neuron")["arm"].nunique() > 1).any():
        raise ValueError("A neuron number stands in two arms; it must be unique in the study.")
    rows = counted[["condition", "size", "model_seed", "arm"]].drop_duplicates()
    arms = tuple(sorted(Arm(str(c), int(s), int(seed), int(a)) for c, s, seed, a in rows.to_numpy()))
    if len({arm.id for arm in arms}) < len(arms):
        raise ValueError("An arm number stands for two models: its condition, size or seed differs between rows.")
    return arms
