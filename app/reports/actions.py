"""Bringing ratings back: the raters, sittings and verdicts of an export into the study they were made in."""

import hashlib
from pathlib import Path
from typing import NamedTuple

from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from app import log
from app.errors import Conflict, Invalid
from app.models import Study, StudyState
from app.reports.import_raters import import_raters, import_sittings
from app.reports.import_verdicts import import_verdicts
from app.reports.reading import Cells, read_table
from app.reports.tables import CLOSED, RATERS, RATINGS, SITTINGS


class Imported(NamedTuple):
    """How much was brought back; what was there already is not counted."""

    raters: int
    sittings: int
    ratings: int


def import_ratings(session: Session, study: Study, export: Path, actor: str) -> Imported:
    """Bring an export's ratings back. All of them or, where anything does not fit, none.

    What is there already and the same is left alone, so that the same import can be done twice.
    """
    if study.state != StudyState.OPEN:
        state = study.state.value
        raise Conflict(f"The study “{study.name}” is {state}, and ratings can be brought back only while it is open.")
    tables = [read_table(export, table.seen_in(CLOSED)) for table in (RATERS, SITTINGS, RATINGS)]
    found = _write(session, study, *tables)
    if any(found):
        log.append(session, study.id, actor, "ratings imported", **found._asdict(), digest=_digest(tables))
    return found


def _write(
    session: Session, study: Study, raters: list[Cells], sittings: list[Cells], ratings: list[Cells]
) -> Imported:
    try:
        return Imported(
            import_raters(session, study, raters),
            import_sittings(session, study, sittings),
            import_verdicts(session, study, ratings),
        )
    except DBAPIError as error:  # a number or a text beyond what a column holds
        raise Invalid(f"The database does not take a value of this export: {error.orig}.") from None


def _digest(tables: list[list[Cells]]) -> str:
    return hashlib.sha256(repr(tables).encode()).hexdigest()
