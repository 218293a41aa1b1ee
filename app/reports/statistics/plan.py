"""The plan of an analysis: everything that is decided before the first verdict."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, Self

CannotDecide = Literal["no", "yes", "left_out"]
Version = Literal["last", "first"]
Shuffle = Literal["size", "size_and_rater"]
Correction = Literal["holm", "bh"]


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How verdicts become numbers. The defaults are the paper's rules."""

    baseline: str
    """The condition that the others are compared with, such as "gelu"."""
    cannot_decide: CannotDecide = "no"
    """What CANNOT_DECIDE counts as: not interpretable (the paper's "else NOT"), interpretable, or nothing."""
    version: Version = "last"
    """Which version of an edited verdict counts: the last before the lock, or the first."""
    late_counts: bool = True
    """Whether a verdict given after its lease had run out counts."""
    surplus_counts: bool = False
    """Whether a late verdict whose place had gone to somebody else meanwhile counts."""
    excluded_raters: frozenset[int] = frozenset()
    """Raters whose verdicts do not count, by a rule written down before unblinding."""
    shuffle: Shuffle = "size"
    """Within what the permutation test shuffles labels of condition."""
    correction: Correction = "holm"
    """How p values of several comparisons are adjusted: Holm (confirmatory), Benjamini-Hochberg (exploratory)."""
    alpha: float = 0.05
    """Two-sided level of tests; intervals cover 1 - alpha."""
    resamples: int = 10_000
    """Draws of each bootstrap and permutation."""
    simulated: bool = False
    """The study is simulated: only simulated raters count, and everything carries the label SIMULATED."""

    def __post_init__(self) -> None:
        """Refuse what would make every later number meaningless."""
        if not 0 < self.alpha < 1:
            raise ValueError(f"The level alpha must lie between 0 and 1; it is {self.alpha}.")
        if self.resamples < 100:
            raise ValueError(f"At least 100 resamples are needed; the plan asks for {self.resamples}.")

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
            raise ValueError(f"The plan says {unknown[0]!r}, which this program does not know.")
        return cls(**{**values, "excluded_raters": frozenset(values.get("excluded_raters", ()))})
