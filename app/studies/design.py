"""What a study asks for. Public from the first moment, and pure: no database, no files."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Self

from app.errors import Invalid

MOST_VERDICTS = 1_000_000


@dataclass(frozen=True, kw_only=True)
class Design:
    """The numbers of a study. Everything else about the draw follows from them, the runs and the secret."""

    neurons_per_arm: int = 60
    """Spread evenly over the layers of each arm."""
    snippets: int = 20
    """Snippets of every item, the same for all."""
    verdicts_per_neuron: int = 1
    """How many raters judge an ordinary item."""
    overlap: int = 0
    """Neurons an arm, of its `neurons_per_arm`, that more raters judge, so that they can be compared."""
    overlap_verdicts: int = 0
    """How many raters judge an overlap neuron; 0 means every seat."""
    seats: int = 3
    """Places for raters, each with an order of its own."""
    mixed_per_arm: int = 0
    """Controls an arm whose snippets come from as many different neurons of one layer."""
    repeats_per_arm: int = 0
    """Neurons an arm that are shown a second time, for self-consistency."""
    repeat_distance: int = 20
    """A repeat stands at least this many places after the first showing."""
    tokens: int = 64
    """Tokens of a snippet around its peak."""
    wide_tokens: int = 128
    """The same once the snippets are widened."""

    def __post_init__(self) -> None:
        for name, least in LEAST.items():
            if getattr(self, name) < least:
                raise Invalid(f"{PHRASES[name]} must be at least {least}; it is {getattr(self, name)}.")
        self._check_fit()

    def _check_fit(self) -> None:
        for small, large in FITS:
            if getattr(self, small) > getattr(self, large):
                raise Invalid(
                    f"{PHRASES[small]} ({getattr(self, small)}) cannot be more than "
                    f"{PHRASES[large].lower()} ({getattr(self, large)})."
                )
        if self.neurons_per_arm * self.seats > MOST_VERDICTS:
            raise Invalid(f"A study of more than {MOST_VERDICTS} verdicts an arm is not supported.")

    @property
    def overlap_capacity(self) -> int:
        return self.overlap_verdicts or self.seats

    def verdicts(self, arms: int) -> int:
        """How many verdicts the study wants in all, repeats aside."""
        ordinary = self.neurons_per_arm - self.overlap + self.mixed_per_arm
        return arms * (ordinary * self.verdicts_per_neuron + self.overlap * self.overlap_capacity)

    def as_dict(self) -> dict[str, int]:
        return asdict(self)

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Self:
        """The design that was stored. An unknown field is refused, because it would change the draw."""
        if unknown := set(values) - {field.name for field in fields(cls)}:
            raise Invalid(f"This program does not know {', '.join(sorted(unknown))} in a study's design.")
        return cls(**values)


LEAST: Mapping[str, int] = {
    "neurons_per_arm": 1,
    "snippets": 1,
    "verdicts_per_neuron": 1,
    "overlap": 0,
    "overlap_verdicts": 0,
    "seats": 1,
    "mixed_per_arm": 0,
    "repeats_per_arm": 0,
    "repeat_distance": 1,
    "tokens": 8,
    "wide_tokens": 8,
}
PHRASES: Mapping[str, str] = {
    "neurons_per_arm": "Neurons an arm",
    "snippets": "Snippets an item",
    "verdicts_per_neuron": "Raters a neuron",
    "overlap": "Overlap neurons an arm",
    "overlap_verdicts": "Raters an overlap neuron",
    "seats": "Raters",
    "mixed_per_arm": "Mixed controls an arm",
    "repeats_per_arm": "Repeats an arm",
    "repeat_distance": "The distance of a repeat",
    "tokens": "Tokens a snippet",
    "wide_tokens": "Tokens a widened snippet",
}
FITS = (
    ("verdicts_per_neuron", "seats"),
    ("overlap", "neurons_per_arm"),
    ("overlap_verdicts", "seats"),
    ("repeats_per_arm", "neurons_per_arm"),
    ("tokens", "wide_tokens"),
)
