"""Bringing ratings back: the raters, sittings and verdicts of an export into the study they were made in."""

import hashlib
from pathlib import Path
from typing import NamedTuple

from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from app import log
from app.errors import Conflict, Invalid
from app.models import Study, StudyState
from app.reports.import_answers import import_answers
from app.reports.import_raters import import_raters, import_sittings
from app.reports.import_verdicts import import_verdicts
from app.reports.reading import Cells, read_table
from app.reports.table import CLOSED, asked_for
from app.reports.tables import CHECKS, GUESSES, PRACTICE, RATERS, RATINGS, SITTINGS


class Imported(NamedTuple):
    """How much was brought back; what was there already is not counted."""

    raters: int
    sittings: int
    ratings: int
    answers: int = 0
    """Of practice, the hypothesis check and guesses."""


def import_ratings(session: Session, study: Study, export: Path, actor: str) -> Imported:
    """Bring an export's ratings back. All of them or, where anything does not fit, none.

    What is there already and the same is left alone, so that the same import can be done twice.
    """
    if study.state != StudyState.OPEN:
        state = study.state.value
        raise Conflict(f"The study “{study.name}” is {state}, and ratings can be brought back only while it is open.")
    wanted = [
        table
        for table in (RATERS, SITTINGS, RATINGS, PRACTICE, CHECKS, GUESSES)
        if asked_for(study.design, table.needs)
    ]
    tables: dict[str, list[Cells]] = {
        table.name: read_table(export, table.seen_in(CLOSED, study.design)) for table in wanted
    }
    found = _write(session, study, tables)
    if any(found):
        log.append(session, study.id, actor, "ratings imported", **found._asdict(), digest=_digest(tables))
    return found


def _write(session: Session, study: Study, tables: dict[str, list[Cells]]) -> Imported:
    try:
        found = Imported(
            import_raters(session, study, tables["raters"]),
            import_sittings(session, study, tables["sittings"]),
            import_verdicts(session, study, tables["ratings"]),
        )
        return found._replace(answers=import_answers(session, study, tables))
    except DBAPIError as error:  # a number or a text beyond what a column holds
        raise Invalid(f"The database does not take a value of this export: {error.orig}.") from None


def _digest(tables: dict[str, list[Cells]]) -> str:
    return hashlib.sha256(repr(list(tables.values())).encode()).hexdigest()
