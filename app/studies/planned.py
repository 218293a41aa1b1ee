"""What a design comes to: verdicts, hours, and the difference it can tell. Pure."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from app.studies.design import Design

MINUTES_A_VERDICT = 1
BASELINE, POWER = 0.35, 0.8
"""The fraction of GELU's neurons that were interpretable in the paper, and how surely a difference should be told."""


@dataclass(frozen=True, kw_only=True)
class Planned:
    """The numbers of a study before it is drawn."""

    arms: int
    neurons: int
    controls: int
    repeats: int
    verdicts: int
    """All of them, those on controls and repeats with them."""
    a_seat: int
    """Items of the seat that has most."""
    minutes_a_seat: int
    """At a minute a verdict, practice with it."""
    minutes: int
    pairs: int
    """Pairs of arms that differ in condition and agree in size."""
    detectable: float | None
    """The smallest difference from the baseline's fraction that is told with POWER; None where there is none."""

    @property
    def other(self) -> float:
        return BASELINE + (self.detectable or 0)


def planned(design: Design, arms: Sequence[tuple[str, int]]) -> Planned:
    """The counts of a design for arms of these conditions and sizes."""
    twice = min(design.repeats_per_arm, design.overlap)
    repeats = twice * design.overlap_capacity + (design.repeats_per_arm - twice) * design.verdicts_per_neuron
    verdicts = design.verdicts(len(arms)) + len(arms) * repeats
    a_seat = -(-verdicts // design.seats)
    minutes = (a_seat + design.practice_items) * MINUTES_A_VERDICT
    pairs = pairs_of(arms)
    return Planned(
        arms=len(arms),
        neurons=len(arms) * design.neurons_per_arm,
        controls=len(arms) * (design.mixed_per_arm + design.directions_per_arm),
        repeats=len(arms) * design.repeats_per_arm,
        verdicts=verdicts,
        a_seat=a_seat,
        minutes_a_seat=minutes,
        minutes=verdicts * MINUTES_A_VERDICT + design.seats * design.practice_items * MINUTES_A_VERDICT,
        pairs=pairs,
        detectable=_detectable(design, pairs) if pairs else None,
    )


def pairs_of(arms: Sequence[tuple[str, int]]) -> int:
    """How many arms of the baseline's condition have a partner of the same size, for the condition with most of them.

    Replicate models count one by one. The baseline is GELU, or where there is none the first condition by name.
    """
    counts = Counter(arms)
    conditions = sorted({condition for condition, _ in arms})
    baseline = "gelu" if "gelu" in conditions else conditions[0] if conditions else ""
    return max(
        (
            sum(min(counts[baseline, size], counts[other, size]) for size in {size for _, size in arms})
            for other in conditions
            if other != baseline
        ),
        default=0,
    )


def _detectable(design: Design, pairs: int) -> float | None:
    """By the formula; what more raters judge a part of the neurons is left out, which is on the safe side."""
    from app.reports.statistics import power, simulate  # SciPy, only where it is asked for

    wanted = simulate.Design(
        neurons=design.neurons_per_arm, raters=design.seats, verdicts=design.verdicts_per_neuron, sizes=pairs
    )
    return power.detectable(wanted, simulate.Truth(baseline=BASELINE), POWER)
