"""A table of an export and its columns, and from which state of a study on they are given out. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from app.models import StudyState

Kind = Literal["text", "whole", "number", "time", "yes_no"]
Name = Literal[
    "progress", "ratings", "items", "raters", "sittings", "practice", "checks", "guesses", "arms", "placements",
    "machine_verdicts", "machine_calls", "amendments", "opened_early", "events", "dictionary",
]  # fmt: skip

OPEN, CLOSED, UNBLINDED = StudyState.OPEN, StudyState.CLOSED, StudyState.UNBLINDED
ORDER = (OPEN, CLOSED, UNBLINDED)


@dataclass(frozen=True)
class Column:
    name: str
    kind: Kind
    about: str
    """What a cell says, in a sentence; goes into the data dictionary."""
    since: StudyState = OPEN
    """The state of the study from which on the column is given out."""
    needs: tuple[str, ...] = ()
    """Fields of a design, one of which must ask for something; else the column is left out."""
    added: bool = False
    """The first exports do not have it; brought back, its cells are empty."""


@dataclass(frozen=True)
class Table:
    name: Name
    about: str
    since: StudyState
    """The state of the study from which on the table is given out."""
    columns: tuple[Column, ...]
    needs: tuple[str, ...] = ()
    """Fields of a design, one of which must ask for something; else there is no such table."""
    may_be_empty: bool = False
    """Nobody need wonder why it has no rows."""

    def seen_in(self, state: StudyState, design: Mapping[str, Any]) -> "Table":
        """The table as it may be given out in this state, with what the design has."""
        shown = tuple(c for c in self.columns if reached(state, c.since) and asked_for(design, c.needs))
        return replace(self, columns=shown)


def asked_for(design: Mapping[str, Any], needs: tuple[str, ...]) -> bool:
    return not needs or any(design.get(name) for name in needs)


def reached(state: StudyState, since: StudyState) -> bool:
    return ORDER.index(state) >= ORDER.index(since)
