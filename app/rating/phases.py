"""What a rater meets before and after rating, in which order and at which address. Needs no database."""

from collections.abc import Mapping
from typing import Any

from app.models import RaterPhase

PLACES: Mapping[RaterPhase, str] = {
    RaterPhase.PRACTICE: "/practice",
    RaterPhase.CHECK: "/check",
    RaterPhase.GUESSES: "/guesses",
    RaterPhase.DONE: "/thanks",
}
"""Where a rater is who is not rating."""


def first_phase(design: Mapping[str, Any]) -> RaterPhase:
    return RaterPhase.PRACTICE if design.get("practice_items") else RaterPhase.RATING


def next_phase(phase: RaterPhase, design: Mapping[str, Any]) -> RaterPhase | None:
    """What comes after; None where nothing does, so that rating stays open to whoever is rating."""
    if phase is RaterPhase.PRACTICE:
        return RaterPhase.RATING
    if phase is RaterPhase.RATING and design.get("check_snippets"):
        return RaterPhase.CHECK
    if phase in (RaterPhase.RATING, RaterPhase.CHECK) and design.get("guesses"):
        return RaterPhase.GUESSES
    return RaterPhase.DONE if phase in (RaterPhase.CHECK, RaterPhase.GUESSES) else None
