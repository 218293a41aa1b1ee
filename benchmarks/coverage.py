"""Do the intervals cover, and does the test keep its level? 2,000 simulated studies in each of sixteen cells.

python -m benchmarks.coverage            prints the table
python -m benchmarks.coverage --write    also puts it into docs/statistics.md
"""

import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import product

import numpy as np

from app.reports.statistics import trial
from app.reports.statistics.simulate import Design, Truth, simulate
from benchmarks.cells import command, outcome_of, table_of
from benchmarks.outcome import Outcome
from model_runner.progress import track

NAME = "coverage"
STUDIES, RESAMPLES, LEVEL, SEED = 2_000, 999, 0.95, 20_261_130
BATCH = 100  # studies a task: small enough for a progress bar that moves
MARKS = ("<!-- coverage: begin -->", "<!-- coverage: end -->")
COLUMNS = (
    "true fractions",
    "raters",
    "rater x arm SD",
    "verdicts a neuron",
    "neuron bootstrap covers",
    "two-way bootstrap covers",
    "permutation rejects",
)


@dataclass(frozen=True)
class Cell:
    """One kind of study."""

    truth: Truth
    design: Design

    @property
    def null(self) -> bool:
        """No effect: every rejection is a false positive."""
        return self.truth.difference == 0

    @property
    def varied(self) -> bool:
        """Raters differ in how they treat an arm."""
        return self.truth.rater_arm_sd > 0


@dataclass(frozen=True)
class Row:
    """What was counted in a cell, as shares of its studies."""

    cell: Cell
    neurons: float
    raters: float
    rejected: float

    def failures(self) -> Iterator[str]:
        """Sentences for what misses its target; the targets leave room for the noise of 2,000 studies."""
        if not self.cell.varied and not 0.93 <= self.neurons <= 0.97:
            yield f"{words(self.cell)}: the neuron bootstrap covers {self.neurons:.1%}, not 93 to 97 %."
        if not self.cell.varied and self.cell.null and not 0.035 <= self.rejected <= 0.065:
            yield f"{words(self.cell)}: the permutation test rejects {self.rejected:.1%}, not 3.5 to 6.5 %."
        if self.cell.varied and self.cell.design.raters >= 6 and self.raters < 0.93:
            yield f"{words(self.cell)}: the two-way bootstrap covers {self.raters:.1%}, less than 93 %."


def words(cell: Cell) -> str:
    """A cell in words."""
    return (
        f"{cell.truth.baseline} against {cell.truth.other}, {cell.design.raters} raters, "
        f"rater x arm SD {cell.truth.rater_arm_sd}, {cell.design.verdicts} verdicts"
    )


def cells() -> list[Cell]:
    """No effect or the paper's; three or six raters; with and without rater x arm variation; one or three verdicts."""
    return [
        Cell(Truth(baseline=0.35, other=other, rater_arm_sd=sd), Design(neurons=60, raters=raters, verdicts=verdicts))
        for other, raters, sd, verdicts in product((0.35, 0.60), (3, 6), (0.0, 0.8), (1, 3))
    ]


def batch(task: tuple[int, Cell, int, int]) -> tuple[int, list[trial.Outcome]]:
    """Some studies of a cell; the seed depends on cell and batch only, so any number of processes gives one table."""
    index, cell, number, studies = task
    rng = np.random.default_rng([SEED, index, number])
    return index, [trial.outcome(simulate(cell.design, cell.truth, rng), RESAMPLES, LEVEL, rng) for _ in range(studies)]


def row(cell: Cell, found: list[trial.Outcome]) -> Row:
    """Count what covers and what rejects."""
    true, n = cell.truth.difference, len(found)
    return Row(
        cell,
        sum(one.neurons[0] <= true <= one.neurons[1] for one in found) / n,
        sum(one.raters[0] <= true <= one.raters[1] for one in found) / n,
        sum(one.p <= 1 - LEVEL for one in found) / n,
    )


def study(studies: int = STUDIES) -> list[Row]:
    """Every cell, on all processors."""
    tasks = [(i, cell, k, BATCH) for i, cell in enumerate(cells()) for k in range(studies // BATCH)]
    found: list[list[trial.Outcome]] = [[] for _ in cells()]
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for index, outcomes in track(pool.map(batch, tasks), "Coverage", len(tasks), "batches"):
            found[index] += outcomes
    return [row(cell, outcomes) for cell, outcomes in zip(cells(), found, strict=True)]


def table(rows: list[Row], studies: int) -> str:
    """The study as a table in Markdown."""
    note = (
        f"{studies:,} simulated studies a cell, 60 neurons an arm, neuron SD 1.5 and rater SD 0.6 on the logit scale, "
        f"{RESAMPLES} resamples, seed {SEED}. The standard error of a share near 95 % is "
        f"{(0.95 * 0.05 / studies) ** 0.5:.1%}."
    )
    return table_of(note, COLUMNS, [_cells(row) for row in rows])


def _cells(found: Row) -> list[str]:
    truth, design = found.cell.truth, found.cell.design
    numbers = [f"{truth.baseline:.2f} / {truth.other:.2f}", design.raters, truth.rater_arm_sd, design.verdicts]
    return [*map(str, numbers), *(f"{share:.1%}" for share in (found.neurons, found.raters, found.rejected))]


def measure() -> Outcome:
    rows = study()
    return outcome_of(NAME, rows, STUDIES, [dict(zip(COLUMNS, _cells(found), strict=True)) for found in rows])


if __name__ == "__main__":
    command(__doc__, STUDIES, study, table, *MARKS)
