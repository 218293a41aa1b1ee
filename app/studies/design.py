"""What a study asks for. Public from the first moment, and pure: no database, no files."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, Self, get_args

from app.errors import Invalid
from app.words.said import N_, Said

MOST_VERDICTS = 1_000_000
LONGEST_INSTRUCTIONS = 4000
SnippetChoice = Literal["top", "spectrum"]


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
    directions_per_arm: int = 0
    """Controls an arm that show a random direction among a layer's neurons."""
    rank_shaded_per_arm: int = 0
    """Neurons an arm, of its `neurons_per_arm`, that are shaded by the rank of each activation, not by its level."""
    snippet_choice: SnippetChoice = "top"
    """The strongest firings, or a spectrum: half of them, and the rest from bands of the whole range. The two answer
    different questions and are never pooled."""
    practice_items: int = 0
    """Items with feedback before the first rated one."""
    check_snippets: int = 0
    """Held-out snippets of the hypothesis check of a neuron that was called interpretable; 0 means no check."""
    guesses: int = 0
    """Items that a rater is shown again at the end, to guess the condition of each."""
    unblinders: int = 1
    """How many persons it takes to unblind: one or two."""
    clock_seconds: int = 60
    """When the soft clock turns."""
    clock_end_seconds: int = 120
    """When it is full."""
    instructions: str = ""
    """What raters read beside the rule, in the administrator's words."""

    def __post_init__(self) -> None:
        for name, least in LEAST.items():
            if getattr(self, name) < least:
                raise Invalid(
                    N_("%(field)s must be at least %(least)s; it is %(given)s."), least=least, **self._said(name)
                )
        for name, most in MOST.items():
            if getattr(self, name) > most:
                raise Invalid(N_("%(field)s can be at most %(most)s; it is %(given)s."), most=most, **self._said(name))
        if self.snippet_choice not in get_args(SnippetChoice):
            choices = ", ".join(get_args(SnippetChoice))
            raise Invalid(
                N_("The choice of snippets is one of %(choices)s; it is %(given)s."),
                choices=choices, given=self.snippet_choice,
            )  # fmt: skip
        if len(self.instructions) > LONGEST_INSTRUCTIONS:
            raise Invalid(
                N_("The instructions have %(n)s characters; at most %(most)s are shown. Shorten them."),
                n=len(self.instructions), most=LONGEST_INSTRUCTIONS,
            )  # fmt: skip
        self._check_fit()

    def _check_fit(self) -> None:
        for small, large in FITS:
            if getattr(self, small) > getattr(self, large):
                raise Invalid(
                    N_("%(field)s (%(given)s) cannot be more than “%(other)s” (%(most)s)."),
                    other=Said(PHRASES[large]), most=getattr(self, large), **self._said(small),
                )  # fmt: skip
        if self.neurons_per_arm * self.seats > MOST_VERDICTS:
            raise Invalid(
                N_(
                    "%(neurons)s neurons an arm for %(raters)s raters are %(verdicts)s verdicts an arm, and at most "
                    "%(most)s are supported. Ask for fewer of either."
                ),
                neurons=self.neurons_per_arm, raters=self.seats, verdicts=f"{self.neurons_per_arm * self.seats:,}",
                most=f"{MOST_VERDICTS:,}",
            )  # fmt: skip

    def _said(self, name: str) -> dict[str, Any]:
        return {"field": Said(PHRASES[name]), "given": getattr(self, name)}

    @property
    def overlap_capacity(self) -> int:
        return self.overlap_verdicts or self.seats

    def verdicts(self, arms: int) -> int:
        """How many verdicts the study wants in all, repeats aside."""
        ordinary = self.neurons_per_arm - self.overlap + self.mixed_per_arm + self.directions_per_arm
        return arms * (ordinary * self.verdicts_per_neuron + self.overlap * self.overlap_capacity)

    def as_dict(self) -> dict[str, Any]:
        """As it is stored and sealed. What came later is left out where nobody asked for it, so that the designs of
        earlier studies keep their digests.
        """
        usual = {field.name: field.default for field in fields(self)}
        return {name: value for name, value in asdict(self).items() if name not in LATER or value != usual[name]}

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Self:
        """The design that was stored. An unknown field is refused, because it would change the draw."""
        if unknown := set(values) - {field.name for field in fields(cls)}:
            raise Invalid(
                N_("This program does not know %(names)s in a study's design."), names=", ".join(sorted(unknown))
            )
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
    "directions_per_arm": 0,
    "rank_shaded_per_arm": 0,
    "practice_items": 0,
    "check_snippets": 0,
    "guesses": 0,
    "unblinders": 1,
    "clock_seconds": 5,
    "clock_end_seconds": 5,
}
MOST: Mapping[str, int] = {
    "practice_items": 40,
    "check_snippets": 40,
    "guesses": 200,
    "unblinders": 2,
    "clock_seconds": 3600,
    "clock_end_seconds": 3600,
}
LATER = frozenset(
    {
        "directions_per_arm",
        "rank_shaded_per_arm",
        "snippet_choice",
        "practice_items",
        "check_snippets",
        "guesses",
        "unblinders",
        "clock_seconds",
        "clock_end_seconds",
        "instructions",
    }
)
"""Fields that the first studies did not have."""
PHRASES: Mapping[str, str] = {
    "neurons_per_arm": N_("Neurons an arm"),
    "snippets": N_("Snippets an item"),
    "verdicts_per_neuron": N_("Raters a neuron"),
    "overlap": N_("Overlap neurons an arm"),
    "overlap_verdicts": N_("Raters an overlap neuron"),
    "seats": N_("Raters"),
    "mixed_per_arm": N_("Mixed controls an arm"),
    "repeats_per_arm": N_("Repeats an arm"),
    "repeat_distance": N_("The distance of a repeat"),
    "tokens": N_("Tokens a snippet"),
    "wide_tokens": N_("Tokens a widened snippet"),
    "directions_per_arm": N_("Random directions an arm"),
    "rank_shaded_per_arm": N_("Neurons an arm shaded by rank"),
    "practice_items": N_("Practice items"),
    "check_snippets": N_("Snippets of the hypothesis check"),
    "guesses": N_("Guesses of the condition"),
    "unblinders": N_("Persons it takes to unblind"),
    "clock_seconds": N_("Seconds until the clock turns"),
    "clock_end_seconds": N_("Seconds until the clock is full"),
}
FITS = (
    ("verdicts_per_neuron", "seats"),
    ("overlap", "neurons_per_arm"),
    ("overlap_verdicts", "seats"),
    ("repeats_per_arm", "neurons_per_arm"),
    ("tokens", "wide_tokens"),
    ("rank_shaded_per_arm", "neurons_per_arm"),
    ("clock_seconds", "clock_end_seconds"),
)
