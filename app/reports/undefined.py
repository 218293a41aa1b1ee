"""What could not be computed, in one list: each reason once, with what it is about."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from app.reports.statistics.estimate import Estimate, Test
from app.words.language import N_

if TYPE_CHECKING:
    from app.reports.statistics.analysis import Analysis

ABOUT = {
    "arms": N_("Fraction"),
    "differences": N_("Difference"),
    "comparisons": N_("Permutation test"),
    "replaced": N_("Replaced neurons"),
    "exact": N_("Exact tests"),
    "across": N_("Tests across sizes and raters"),
    "model": N_("GEE"),
    "agreement": N_("Agreement"),
    "repeats": N_("Repeats"),
    "strictness": N_("Strictness"),
    "times": N_("Time"),
    "drift": N_("Drift"),
    "controls": N_("Controls"),
    "blinding": N_("Guesses of the condition"),
    "check": N_("Hypothesis check"),
    "form": N_("Audit of form"),
}
"""The parts of an analysis, as a reader knows them."""
NO_LOSS = {"It is for a single size."}
"""Reasons why a number is not asked for, rather than missing."""


class Undefined(NamedTuple):
    """One reason."""

    about: tuple[str, ...]
    """The parts that it is about, to be translated."""
    why: str


def undefined(analysis: "Analysis") -> list[Undefined]:
    """Every reason why a number or an interval is missing, in the order of the report."""
    found: dict[str, dict[str, None]] = {}
    for name, about in ABOUT.items():
        for why in _whys(getattr(analysis, name, None)):
            found.setdefault(why, {})[about] = None
    return [Undefined(tuple(about), why) for why, about in found.items()]


def _whys(thing: Any) -> Iterator[str]:
    if isinstance(thing, Estimate | Test):
        if thing.why and thing.why not in NO_LOSS:
            yield thing.why
    elif is_dataclass(thing) and not isinstance(thing, type):
        for field in fields(thing):
            yield from _whys(getattr(thing, field.name))
    elif isinstance(thing, list | tuple):
        for part in thing:
            yield from _whys(part)
