"""What raters said, as closing a study fixes it: a digest a table, which an export's tables give again by themselves.

Texts stay out, so that one can be withdrawn; and so does whatever is known of a neuron only after unblinding.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from app.models import Assignment, CheckAnswer, Guess, Item, PracticeAnswer, Rater, Rating, Study
from app.phases.actions import UNKNOWN
from app.studies.seal import canonical

Row = Mapping[str, Any]
COLUMNS: Mapping[str, tuple[str, ...]] = {
    "ratings": ("rater", "item", "position", "version", "action", "verdict", "at", "seconds", "late", "surplus"),
    "practice": ("rater", "item", "verdict", "at", "seconds"),
    "checks": ("rater", "item", "fires", "at", "seconds"),
    "guesses": ("rater", "item", "guess", "at", "seconds"),
}
"""Of each table of an export, the columns that its digest is over."""


def digest_of(name: str, rows: Iterable[Row]) -> str:
    """Of the rows of one table, whatever their order."""
    lines = sorted(canonical([_plain(row[column]) for column in COLUMNS[name]]) for row in rows)
    return hashlib.sha256(b"\n".join(lines)).hexdigest()


def _plain(cell: Any) -> Any:
    """What is empty is null, and a moment has one spelling."""
    if isinstance(cell, datetime):
        return cell.astimezone(UTC).isoformat(timespec="microseconds")
    return None if cell == "" else cell


def said_so_far(session: Session, study: Study) -> dict[str, str]:
    """The digest of every table that the design has."""
    wanted = {"practice": "practice_items", "checks": "check_snippets", "guesses": "guesses"}
    names = ["ratings", *(name for name, field in wanted.items() if study.design.get(field))]
    return {name: digest_of(name, READERS[name](session, study)) for name in names}


def _ratings(session: Session, study: Study) -> Iterable[Row]:
    statement = _of_study(
        select(Rating, Assignment.position, Rater.code, Item.code)
        .join(Assignment, Assignment.id == Rating.assignment_id)
        .join(Rater, Rater.id == Assignment.rater_id)
        .join(Item, Item.id == Assignment.item_id),
        study,
    )
    for one, position, rater, item in session.execute(statement):
        yield _common(one, rater, item) | {
            "position": position, "version": one.version, "action": one.action.value,
            "verdict": one.verdict.value if one.verdict else None, "late": one.late, "surplus": one.surplus,
        }  # fmt: skip


def _practice(session: Session, study: Study) -> Iterable[Row]:
    for one, rater, item in _answers(session, study, PracticeAnswer):
        yield _common(one, rater, item) | {"verdict": one.verdict.value}


def _checks(session: Session, study: Study) -> Iterable[Row]:
    for one, rater, item in _answers(session, study, CheckAnswer):
        yield _common(one, rater, item) | {"fires": " ".join(map(str, one.fires))}


def _guesses(session: Session, study: Study) -> Iterable[Row]:
    for one, rater, item in _answers(session, study, Guess):
        yield _common(one, rater, item) | {"guess": one.condition or UNKNOWN}


READERS: Mapping[str, Callable[[Session, Study], Iterable[Row]]] = {
    "ratings": _ratings, "practice": _practice, "checks": _checks, "guesses": _guesses,
}  # fmt: skip


def _answers(session: Session, study: Study, of: type[Any]) -> Iterable[Any]:
    statement = select(of, Rater.code, Item.code).join(Rater, Rater.id == of.rater_id).join(Item, Item.id == of.item_id)
    return session.execute(_of_study(statement, study))


def _of_study(statement: Select[*tuple[Any, ...]], study: Study) -> Select[*tuple[Any, ...]]:
    return statement.where(Rater.study_id == study.id)


def _common(one: Any, rater: str, item: str) -> dict[str, Any]:
    return {"rater": rater, "item": item, "at": one.at, "seconds": one.seconds}
