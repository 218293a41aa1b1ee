"""What raters said, as closing a study fixes it: a digest a table, which an export's tables give again by themselves.

Texts stay out, so that one can be withdrawn; and so does whatever is known of a neuron only after unblinding.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
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
SPELLED: Mapping[str, Callable[[Any], str]] = {
    "fires": lambda numbers: " ".join(map(str, numbers)),
    "guess": lambda condition: condition or UNKNOWN,
}
"""How an export writes what the database keeps otherwise."""


def digest_of(name: str, rows: Iterable[Row]) -> str:
    """Of the rows of one table, whatever their order."""
    return _digest([row[column] for column in COLUMNS[name]] for row in rows)


def _digest(rows: Iterable[Iterable[Any]]) -> str:
    lines = sorted(canonical([_plain(cell) for cell in row]) for row in rows)
    return hashlib.sha256(b"\n".join(lines)).hexdigest()


def _plain(cell: Any) -> Any:
    """What is empty is null, and a moment has one spelling."""
    if isinstance(cell, datetime):
        return cell.astimezone(UTC).isoformat(timespec="microseconds")
    return None if cell == "" else cell


def said_so_far(session: Session, study: Study) -> dict[str, str]:
    """The digest of every table that the design has."""
    return {name: _digest(_rows(session, study, name)) for name in tables_of(study)}


def tables_of(study: Study) -> Sequence[str]:
    wanted = {"practice": "practice_items", "checks": "check_snippets", "guesses": "guesses"}
    return ["ratings", *(name for name, field in wanted.items() if study.design.get(field))]


def _rows(session: Session, study: Study, name: str) -> Iterable[Iterable[Any]]:
    spell = [SPELLED.get(column) for column in COLUMNS[name]]
    for row in session.execute(statement_of(study, name)):
        yield [one(cell) if one else cell for one, cell in zip(spell, row, strict=True)]


def statement_of(study: Study, name: str) -> Select[*tuple[Any, ...]]:
    """The columns of one table, as many and in the order that its digest has them."""
    if name == "ratings":
        of = (Rating.version, Rating.action, Rating.verdict, Rating.at, Rating.seconds, Rating.late, Rating.surplus)
        given = select(Rater.code, Item.code, Assignment.position, *of).select_from(Rating)
        linked = given.join(Assignment, Assignment.id == Rating.assignment_id)
        return _of_study(linked, study, Assignment).order_by(Rating.id)
    kind, column = ANSWERS[name]
    answers = select(Rater.code, Item.code, column, kind.at, kind.seconds).select_from(kind)
    return _of_study(answers, study, kind).order_by(kind.id)


ANSWERS: Mapping[str, tuple[Any, Any]] = {
    "practice": (PracticeAnswer, PracticeAnswer.verdict),
    "checks": (CheckAnswer, CheckAnswer.fires),
    "guesses": (Guess, Guess.condition),
}


def _of_study(statement: Select[*tuple[Any, ...]], study: Study, link: Any) -> Select[*tuple[Any, ...]]:
    """`link`: the table that says whose an answer is, and to which item."""
    joined = statement.join(Rater, Rater.id == link.rater_id).join(Item, Item.id == link.item_id)
    return joined.where(Rater.study_id == study.id)
