"""What the design of a study could have seen, by formula: the sizes of its arms and raters, not its outcome."""

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.reports.statistics.analysis import Analysis

POWERS = (0.8, 0.9)


@dataclass(frozen=True)
class Detectable:
    """Power of the design that was carried out, one size of model against another condition's."""

    neurons: int
    """An arm: the fewest of any arm."""
    verdicts: int
    """A neuron, rounded down."""
    sizes: int
    """Over which the comparison averages."""
    baseline: float
    """The fraction from which a difference is counted: the baseline's own, over all its arms."""
    eighty: float | None
    """The difference that is detected with 80 % power; None where there is none."""
    ninety: float | None
    curve: tuple[tuple[float, float], ...]
    """Difference and power, for the figure."""


def detectable_by(analysis: "Analysis") -> Detectable | None:
    """None where there is no comparison, or the baseline leaves no room above it."""
    from dataclasses import replace

    from app.reports.statistics.power import detectable, formula_power
    from app.reports.statistics.simulate import Design, Truth

    of_baseline = [arm for arm in analysis.arms if arm.arm.condition == analysis.plan.baseline]
    if not analysis.comparisons or not of_baseline:
        return None
    baseline = sum((arm.fraction.value or 0.0) for arm in of_baseline) / len(of_baseline)
    if not 0.01 <= baseline <= 0.95:
        return None
    neurons = min(arm.neurons for arm in analysis.arms)
    verdicts = max(1, analysis.verdicts // max(analysis.neurons, 1))
    shared = Counter(row.condition for row in analysis.differences if row.size is not None)
    design = Design(
        neurons=neurons, raters=max(analysis.raters, verdicts), verdicts=verdicts, sizes=max(shared.values(), default=1)
    )
    truth = Truth(baseline=baseline, other=min(baseline + 0.1, 0.99))
    eighty, ninety = (detectable(design, truth, power, analysis.plan.alpha) for power in POWERS)
    steps = [step / 100 for step in range(2, 61, 2) if baseline + step / 100 < 0.99]
    curve = tuple(
        (step, formula_power(design, replace(truth, other=baseline + step), analysis.plan.alpha)) for step in steps
    )
    return Detectable(neurons, verdicts, design.sizes, baseline, eighty, ninety, curve)
