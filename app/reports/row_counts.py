"""How many rows each table of an export has, counted by the database: the rows themselves are not read."""

from typing import Any

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session, join

from app.models import (
    Amendment,
    Arm,
    Assignment,
    CheckAnswer,
    EarlyOpening,
    Event,
    Guess,
    Item,
    MachineCall,
    MachineRater,
    MachineVerdict,
    Placement,
    PracticeAnswer,
    Rater,
    Rating,
    Seat,
    Sitting,
    Study,
)
from app.reports.table import Table
from app.studies.rules import open_rules

COUNT = func.count()
OF_STUDY: dict[str, Any] = {
    "progress": Rater, "items": Item, "raters": Rater, "arms": Arm, "amendments": Amendment, "events": Event,
}  # fmt: skip
OF_OTHERS: dict[str, tuple[Any, Any, Any]] = {
    "ratings": (
        join(Rating, Assignment, Assignment.id == Rating.assignment_id),
        Rater,
        Rater.id == Assignment.rater_id,
    ),
    "sittings": (Sitting, Rater, Rater.id == Sitting.rater_id),
    "practice": (PracticeAnswer, Rater, Rater.id == PracticeAnswer.rater_id),
    "checks": (CheckAnswer, Rater, Rater.id == CheckAnswer.rater_id),
    "guesses": (Guess, Rater, Rater.id == Guess.rater_id),
    "placements": (Placement, Seat, Seat.id == Placement.seat_id),
    "machine_verdicts": (MachineVerdict, MachineRater, MachineRater.id == MachineVerdict.machine_rater_id),
    "machine_calls": (MachineCall, MachineRater, MachineRater.id == MachineCall.machine_rater_id),
    "opened_early": (EarlyOpening, Item, Item.id == EarlyOpening.item_id),
}
"""Rows that know their study by another row: what a row is, whose it is, and how one finds the other."""


def count_rows(session: Session, study: Study, table: Table) -> int:
    """As many as `read_rows` would give."""
    by_rules = _by_rules(session, study) if table.name == "machine_verdicts" else 0
    return session.scalars(_counted(study, table.name)).one() + by_rules


def _counted(study: Study, name: str) -> Select[int]:
    if name in OF_STUDY:
        return select(func.count()).select_from(OF_STUDY[name]).where(OF_STUDY[name].study_id == study.id)
    rows, owner, owned = OF_OTHERS[name]
    return select(func.count()).select_from(rows).join(owner, owned).where(owner.study_id == study.id)


def _by_rules(session: Session, study: Study) -> int:
    """The rule rater's verdicts lie in one sealed row."""
    rules = open_rules(session, study)
    return len(rules.items) if rules else 0
