"""What was found, first of all: two fractions and their difference, for each condition against the baseline."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.reports.statistics.analysis import Analysis
    from app.reports.statistics.differences import Difference
    from app.reports.statistics.estimate import Estimate, Test
    from app.reports.statistics.fractions import ArmFraction


@dataclass(frozen=True)
class Lead:
    """One condition against the baseline, over the sizes that both have."""

    condition: str
    baseline: str
    fraction: float
    """The condition's, averaged over the shared sizes."""
    baseline_fraction: float
    sizes: int
    """How many sizes both have."""
    difference: "Difference"
    test: "Test"

    @property
    def undecided(self) -> str:
        """A sentence where an interval of the difference holds 0, else nothing. The wider interval may stand alone."""
        if _holds_zero(self.difference.neurons):
            return "The data do not tell the two apart."
        if _holds_zero(self.difference.raters):
            return "For these raters the two differ; for raters like them the data do not tell the two apart."
        return ""


def _holds_zero(estimate: "Estimate") -> bool:
    return estimate.low is not None and estimate.high is not None and estimate.low <= 0 <= estimate.high


def leads(analysis: "Analysis") -> list[Lead]:
    """A lead for every condition that shares a size with the baseline, the ones with most sizes first."""
    found = []
    for comparison in analysis.comparisons:
        rows = [row for row in analysis.differences if row.condition == comparison.condition]
        if rows:
            sizes = {row.size for row in rows if row.size is not None}
            found.append(
                Lead(
                    comparison.condition,
                    comparison.baseline,
                    _fraction(analysis.arms, comparison.condition, sizes),
                    _fraction(analysis.arms, comparison.baseline, sizes),
                    len(sizes),
                    rows[-1],  # the average over sizes where there are several, else the only one
                    comparison.permutation,
                )
            )
    return sorted(found, key=lambda lead: -lead.sizes)


def _fraction(arms: "Sequence[ArmFraction]", condition: str, sizes: set[int]) -> float:
    """Sizes weigh alike, and so do replicate models within a size."""
    return fmean(
        fmean(
            arm.fraction.value or 0.0
            for arm in arms
            if arm.arm.size == size and arm.arm.condition == condition and arm.fraction.defined
        )
        for size in sorted(sizes)
    )
