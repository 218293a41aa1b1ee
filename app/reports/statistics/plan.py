"""The plan of an analysis: everything that is decided before the first verdict."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, Self, get_args

from app.words.said import N_, Said

CannotDecide = Literal["no", "yes", "left_out"]
Version = Literal["last", "first"]
Shuffle = Literal["size", "size_and_rater"]
Correction = Literal["holm", "bh"]
Estimand = Literal["top", "spectrum"]
LONGEST_QUESTION = 2000
FEWEST_RESAMPLES = 100
MOST_RESAMPLES = 1_000_000
"""More would say nothing more, and whoever reads the report would wait: a plan cannot be amended by then."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How verdicts become numbers. The defaults are the paper's rules."""

    baseline: str
    """The condition that the others are compared with, such as "gelu"."""
    question: str = ""
    """What the study asks and what is expected, in the words of who planned it."""
    estimand: Estimand = "top"
    """What verdicts are about: a neuron's strongest firings, or firings across its range. Follows from the design."""
    cannot_decide: CannotDecide = "no"
    """What CANNOT_DECIDE counts as: not interpretable (the paper's "else NOT"), interpretable, or nothing."""
    version: Version = "last"
    """Which version of an edited verdict counts: the last before the lock, or the first."""
    late_counts: bool = True
    """Whether a verdict given after its lease had run out counts."""
    surplus_counts: bool = False
    """Whether a late verdict whose place had gone to somebody else meanwhile counts."""
    opened_early_counts: bool = False
    """Whether verdicts on an item count that was opened before the study was."""
    excluded_raters: frozenset[int] = frozenset()
    """Raters whose verdicts do not count, by a rule written down before unblinding: numbers from 0, A is 0."""
    fewest_verdicts: int = 0
    """A rater with fewer verdicts on neurons than this is left out."""
    most_false_positives: float = 1.0
    """A rater who called a larger share of the controls interpretable than this is left out."""
    least_seconds: float = 0.0
    """A verdict given in less time than this is left out."""
    shuffle: Shuffle = "size"
    """Within what the permutation test shuffles labels of condition."""
    correction: Correction = "holm"
    """How p values of several comparisons are adjusted: Holm (confirmatory), Benjamini-Hochberg (exploratory)."""
    alpha: float = 0.05
    """Two-sided level of tests; intervals cover 1 - alpha."""
    resamples: int = 10_000
    """Draws of each bootstrap and permutation."""
    looks: int = 1
    """How many times the data are looked at. A study is unblinded once, so it is 1."""
    simulated: bool = False
    """The study is simulated: only simulated raters count, and everything carries the label SIMULATED."""

    def __post_init__(self) -> None:
        """Refuse what would make every later number meaningless."""
        if not 0 < self.alpha < 1:
            raise ValueError(Said(N_("The level alpha must lie between 0 and 1; it is %(n)s."), n=self.alpha))
        if not FEWEST_RESAMPLES <= self.resamples <= MOST_RESAMPLES:
            raise ValueError(
                Said(
                    N_("A plan has %(least)s to %(most)s resamples; this one asks for %(n)s."),
                    least=FEWEST_RESAMPLES, most=f"{MOST_RESAMPLES:,}", n=self.resamples,
                )
            )  # fmt: skip
        if self.looks != 1:
            raise ValueError(
                Said(N_("A study is unblinded once, so there is one look; the plan has %(n)s."), n=self.looks)
            )
        if not 0 <= self.most_false_positives <= 1:
            raise ValueError(
                Said(
                    N_("The share of controls called interpretable lies between 0 and 1; it is %(n)s."),
                    n=self.most_false_positives,
                )
            )
        if self.fewest_verdicts < 0:
            raise ValueError(
                Said(N_("The fewest verdicts of a rater are 0 or more; the plan says %(n)s."), n=self.fewest_verdicts)
            )
        if not 0 <= self.least_seconds < float("inf"):
            raise ValueError(
                Said(N_("The least seconds of a verdict are 0 or more; the plan says %(n)s."), n=self.least_seconds)
            )
        if len(self.question) > LONGEST_QUESTION:
            raise ValueError(
                Said(
                    N_("The question has %(n)s characters; at most %(most)s are kept."),
                    n=len(self.question), most=LONGEST_QUESTION,
                )
            )  # fmt: skip
        self._refuse_unknown_choices()

    def _refuse_unknown_choices(self) -> None:
        for name, choices in CHOICES.items():
            if getattr(self, name) not in choices:
                raise ValueError(
                    Said(
                        N_("The plan's %(name)s must be one of %(choices)s; it is %(value)s."),
                        name=name, choices=", ".join(choices), value=repr(getattr(self, name)),
                    )
                )  # fmt: skip

    @property
    def level(self) -> float:
        """Coverage of the intervals."""
        return 1 - self.alpha

    @property
    def rater_kind(self) -> str:
        """The one kind of rater that enters the fractions."""
        return "simulated" if self.simulated else "human"

    def as_dict(self) -> dict[str, Any]:
        """The plan as JSON takes it: what a study stores and its seal fixes."""
        return asdict(self) | {"excluded_raters": sorted(self.excluded_raters)}

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Self:
        """The plan that was stored. Raises ValueError for a field that this program does not know."""
        unknown = sorted(set(values) - {field.name for field in fields(cls)})
        if unknown:
            raise ValueError(
                Said(N_("The plan says %(name)s, which this program does not know."), name=repr(unknown[0]))
            )
        return cls(**{**values, "excluded_raters": frozenset(values.get("excluded_raters", ()))})


CHOICES: Mapping[str, tuple[str, ...]] = {
    "cannot_decide": get_args(CannotDecide),
    "version": get_args(Version),
    "shuffle": get_args(Shuffle),
    "correction": get_args(Correction),
    "estimand": get_args(Estimand),
}
"""What a field that is a choice may say."""
