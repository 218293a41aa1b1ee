"""How many neurons and raters an effect needs: what is asked, and the answers by formula and by simulation.

Each simulated point has random numbers of its own, drawn from the seed and the point: the same question gives the
same answer, whatever else is asked beside it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from app.errors import Invalid
from app.words.language import N_

if TYPE_CHECKING:
    from app.reports.statistics.power import Needed, Power
    from app.reports.statistics.simulate import Design, Truth

WORK = 12_000
"""Neurons that are simulated for a point at most, where somebody waits for the page: a second or two."""
RESAMPLES = 399
"""Of each simulated study: enough for a level of 5 %."""
FEWEST_STUDIES = 25
STEPS = (0.5, 0.75, 1.0, 1.5, 2.0)
"""The curve: these multiples of the neurons that are asked about."""
MOST = {
    "neurons": 20_000, "raters": 1000, "verdicts": 1000, "sizes": 50, "neuron_sd": 10, "rater_sd": 10,
    "rater_arm_sd": 10, "studies": 100_000, "seed": 2**63 - 1,
}  # fmt: skip
"""More than any study has, and no more than a machine can hold."""
GOALS = (0.8, 0.9)
MOST_VERDICTS_SHOWN = 3
FRACTIONS = {
    "baseline": N_("The baseline fraction must lie between 0 and 1; it is %(given)s."),
    "other": N_("The other fraction must lie between 0 and 1; it is %(given)s."),
}


@dataclass(frozen=True, kw_only=True)
class Question:
    """A design, and a world in which it is carried out. The defaults are the paper's effect."""

    baseline: float = 0.35
    other: float = 0.60
    neurons: int = 60
    """Neurons an arm."""
    raters: int = 3
    verdicts: int = 1
    """Verdicts a neuron."""
    sizes: int = 1
    """Pairs of arms of one size."""
    neuron_sd: float = 1.5
    rater_sd: float = 0.6
    rater_arm_sd: float = 0.0
    studies: int = 200
    """Simulated studies a point, at most."""
    seed: int = 1

    def __post_init__(self) -> None:
        """Refuse, in a sentence, what has no answer."""
        self._refuse_too_much()
        for name, fraction in (("baseline", self.baseline), ("other", self.other)):
            if not 0 < fraction < 1:
                raise Invalid(FRACTIONS[name], given=fraction)
        if self.baseline == self.other:
            raise Invalid(N_("Two different fractions are needed; both are %(given)s."), given=self.baseline)
        if min(self.neurons - 1, self.raters, self.verdicts, self.sizes) < 1 or self.studies < 0:
            raise Invalid(
                N_("A design has two neurons or more, and at least one rater, one verdict and one pair of arms.")
            )
        if min(self.neuron_sd, self.rater_sd, self.rater_arm_sd) < 0 or self.seed < 0:
            raise Invalid(N_("A standard deviation and a seed cannot be negative. Give 0 or more."))
        if self.verdicts > self.raters:
            raise Invalid(
                N_(
                    "A neuron cannot have %(verdicts)s verdicts of different raters: there are %(raters)s. "
                    "Ask for fewer verdicts or more raters."
                ),
                verdicts=self.verdicts,
                raters=self.raters,
            )

    def _refuse_too_much(self) -> None:
        for name, most in MOST.items():
            if not getattr(self, name) <= most:
                raise Invalid(
                    N_("%(field)s can be at most %(most)s; it is %(given)s."),
                    field=name, most=most, given=getattr(self, name),
                )  # fmt: skip

    @property
    def truth(self) -> "Truth":
        from app.reports.statistics.simulate import Truth

        return Truth(
            baseline=self.baseline, other=self.other, neuron_sd=self.neuron_sd, rater_sd=self.rater_sd,
            rater_arm_sd=self.rater_arm_sd,
        )  # fmt: skip

    @property
    def design(self) -> "Design":
        from app.reports.statistics.simulate import Design

        return Design(neurons=self.neurons, raters=self.raters, verdicts=self.verdicts, sizes=self.sizes)


def detectable(question: Question) -> list[tuple[float, float | None]]:
    """For each goal, the smallest difference above the baseline that the design detects, by formula."""
    from app.reports.statistics import power

    return [(goal, power.detectable(question.design, question.truth, goal)) for goal in GOALS]


def needed(question: Question) -> list[list["Needed"]]:
    """For each number of verdicts a neuron, what each goal needs, by formula: a row of the table."""
    from app.reports.statistics import power

    verdicts = range(1, min(MOST_VERDICTS_SHOWN, question.raters) + 1)
    return [[power.needed(question.truth, number, goal) for goal in GOALS] for number in verdicts]


def points(question: Question) -> list["Design"]:
    """The designs of the curve: fewer and more neurons than asked about."""
    numbers = sorted({max(2, round(step * question.neurons)) for step in STEPS})
    return [replace(question.design, neurons=number) for number in numbers]


def studies_of(question: Question, design: "Design", work: int = WORK) -> int:
    """How many studies are simulated for a point: as many as are asked for and as fit the work."""
    fitting = max(FEWEST_STUDIES, work // (2 * design.neurons * design.sizes))
    return min(question.studies, fitting)


def simulated(question: Question, work: int = WORK) -> Iterator["Power"]:
    """The points of the curve one after the other, so that whoever waits sees how far it is."""
    import numpy as np

    from app.reports.statistics.power import simulated_power

    for design in points(question):
        rng = np.random.default_rng([question.seed, design.neurons, design.raters, design.verdicts, design.sizes])
        yield simulated_power(design, question.truth, studies_of(question, design, work), rng, resamples=RESAMPLES)
