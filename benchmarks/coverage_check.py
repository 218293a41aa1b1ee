"""Do the intervals of the hypothesis check cover? 2,000 simulated checks in each of four cells.

python -m benchmarks.coverage_check            prints the table
python -m benchmarks.coverage_check --write    also puts it into docs/statistics.md

A snippet is ticked with a logit of the rater's readiness to tick, plus half of how well this rater tells this neuron
where it fires, minus half of it where it is quiet. Readiness and telling are normal; N neurons, R raters, S snippets.
"""

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from itertools import product

import numpy as np
import pandas as pd
from scipy import special

from app.reports.statistics.estimate import Estimate
from app.reports.statistics.held_out import QUIET, hypothesis_check
from app.reports.statistics.simulate import CONDITIONS, NODES, SHARES
from benchmarks.cells import command, outcome_of, table_of
from benchmarks.outcome import Outcome
from model_runner.progress import track

NAME = "coverage_check"
STUDIES, RESAMPLES, LEVEL, SEED = 2_000, 999, 0.95, 20_261_130
BATCH = 50
NEURONS, RATERS, BANDS = 30, 6, (0, 1, 2, 3, 4, *[QUIET] * 5)
READINESS_SD, NEURON_SD = 0.6, 1.5
TELLING = dict(zip(CONDITIONS, (1.5, 2.5), strict=True))
"""How well a rule tells the neurons of each condition, on the logit scale: a balanced accuracy of .66 and .74."""
MARKS = ("<!-- coverage of the check: begin -->", "<!-- coverage of the check: end -->")
COLUMNS = (
    "rater SD of telling",
    "raters a neuron",
    "accuracy, neurons resampled",
    "accuracy, two-way",
    "difference, neurons resampled",
    "difference, two-way",
)


@dataclass(frozen=True)
class Cell:
    """One kind of check."""

    rater_sd: float
    """Standard deviation between raters in how well they tell."""
    each: int
    """Raters who check a neuron."""


Covered = tuple[bool, bool, bool, bool]
"""Of one check: the second condition's accuracy by neurons and two-way, and the difference likewise."""


@dataclass(frozen=True)
class Row:
    """What covers, as shares of the checks of a cell."""

    cell: Cell
    accuracy: float
    accuracy_two_way: float
    difference: float
    difference_two_way: float

    def failures(self) -> Iterator[str]:
        """The interval of neurons is for these raters: it must cover a difference where they are alike."""
        told = f"rater SD {self.cell.rater_sd}, {self.cell.each} raters a neuron"
        if self.cell.rater_sd == 0 and not 0.93 <= self.difference <= 0.97:
            yield f"{told}: the neuron bootstrap of the difference covers {self.difference:.1%}, not 93 to 97 %."
        for what, share in (("accuracy", self.accuracy_two_way), ("difference", self.difference_two_way)):
            if share < 0.93:
                yield f"{told}: the two-way bootstrap of the {what} covers {share:.1%}, less than 93 %."


def cells() -> list[Cell]:
    return [Cell(rater_sd, each) for rater_sd, each in product((0.0, 1.0), (1, 3))]


def simulate(cell: Cell, rng: np.random.Generator) -> pd.DataFrame:
    """The answers of one study: a row a snippet that a rater judged."""
    readiness_R, rater_R = rng.normal(0, READINESS_SD, RATERS), rng.normal(0, cell.rater_sd, RATERS)
    sign_S = np.where(np.array(BANDS) == QUIET, -0.5, 0.5)
    parts = []
    for number, (condition, mean) in enumerate(TELLING.items()):
        neuron_N = mean + rng.normal(0, NEURON_SD, NEURONS)
        who_NE = (rng.permutation(NEURONS)[:, None] + np.arange(cell.each)) % RATERS
        logit_NES = readiness_R[who_NE][:, :, None] + (neuron_N[:, None] + rater_R[who_NE])[:, :, None] * sign_S
        fires_NES = rng.random(logit_NES.shape) < special.expit(logit_NES)
        shape = fires_NES.shape
        neurons = np.broadcast_to(np.arange(NEURONS)[:, None, None] + number * NEURONS, shape)
        columns = {
            "rater": np.broadcast_to(who_NE[:, :, None], shape), "neuron": neurons,
            "band": np.broadcast_to(np.array(BANDS), shape), "fires": fires_NES,
        }  # fmt: skip
        parts.append(
            pd.DataFrame({name: column.ravel() for name, column in columns.items()} | {"condition": condition})
        )
    return pd.concat(parts, ignore_index=True)


def truth(cell: Cell, mean: float) -> float:
    """Balanced accuracy over all neurons and raters."""
    telling_K = mean + np.hypot(NEURON_SD, cell.rater_sd) * NODES
    readiness_K = READINESS_SD * NODES
    hit = SHARES @ special.expit(readiness_K[:, None] + telling_K / 2) @ SHARES
    false = SHARES @ special.expit(readiness_K[:, None] - telling_K / 2) @ SHARES
    return float(hit + 1 - false) / 2


def covered(cell: Cell, rng: np.random.Generator) -> Covered:
    """Whether the intervals of one study hold what is true."""
    baseline, other = CONDITIONS
    found = hypothesis_check(simulate(cell, rng), baseline, LEVEL, RESAMPLES, rng)
    accuracy = truth(cell, TELLING[other])
    difference = accuracy - truth(cell, TELLING[baseline])
    second, between = found.conditions[1], found.differences[0]
    return (
        _holds(second.accuracy, accuracy),
        _holds(second.over_raters, accuracy),
        _holds(between.difference, difference),
        _holds(between.over_raters, difference),
    )


def _holds(estimate: Estimate, true: float) -> bool:
    return estimate.low is not None and estimate.high is not None and estimate.low <= true <= estimate.high


def batch(task: tuple[int, Cell, int, int]) -> tuple[int, list[Covered]]:
    """Some studies of a cell; the seed depends on cell and batch only."""
    index, cell, number, studies = task
    rng = np.random.default_rng([SEED, index, number])
    return index, [covered(cell, rng) for _ in range(studies)]


def row(cell: Cell, found: Sequence[Covered]) -> Row:
    return Row(cell, *(float(share) for share in np.mean(np.array(found), axis=0)))


def study(studies: int = STUDIES) -> list[Row]:
    """Every cell, on all processors."""
    tasks = [(i, cell, k, BATCH) for i, cell in enumerate(cells()) for k in range(studies // BATCH)]
    found: list[list[Covered]] = [[] for _ in cells()]
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for index, outcomes in track(pool.map(batch, tasks), "Coverage of the check", len(tasks), "batches"):
            found[index] += outcomes
    return [row(cell, outcomes) for cell, outcomes in zip(cells(), found, strict=True)]


def table(rows: Sequence[Row], studies: int) -> str:
    """The study as a table in Markdown."""
    base, other = (truth(Cell(0.0, 1), mean) for mean in TELLING.values())
    note = (
        f"{studies:,} simulated checks a cell, {NEURONS} checked neurons a condition, {RATERS} raters, 5 firing and 5 "
        f"quiet snippets a neuron, balanced accuracies {base:.2f} and {other:.2f}, neuron SD {NEURON_SD} and rater "
        f"SD of readiness to tick {READINESS_SD} on the logit scale, {RESAMPLES} resamples, seed {SEED}."
    )
    return table_of(note, COLUMNS, [[str(one.cell.rater_sd), str(one.cell.each), *_shares(one)] for one in rows])


def _shares(one: Row) -> list[str]:
    found = (one.accuracy, one.accuracy_two_way, one.difference, one.difference_two_way)
    return [f"{share:.1%}" for share in found]


def measure() -> Outcome:
    rows = study()
    return outcome_of(NAME, rows, STUDIES, [asdict(found) for found in rows])


if __name__ == "__main__":
    command(__doc__, STUDIES, study, table, *MARKS)
