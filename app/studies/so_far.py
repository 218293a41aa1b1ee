"""What a study's log and its raters have said so far: read beforehand, and believed where no row of it has changed."""

import hashlib
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from sqlalchemy import Row, Select, select, type_coerce
from sqlalchemy.orm import Session
from sqlalchemy.types import NULLTYPE

from app.log import FIRST, first_broken_line
from app.models import Assignment, Event, Study
from app.studies.queries import verdicts_digest
from app.studies.said import said_so_far, statement_of, tables_of

LINE = (Event.line, Event.at, Event.actor, Event.what, Event.detail, Event.previous, Event.hash)
ASKED_FOR = frozenset({"study closed", "plan amended", "item opened early"})
"""Acts that are compared with the tables before a study is unblinded."""


class SoFar(NamedTuple):
    """All that raters said, and the log up to some line."""

    lines: int
    head: str
    """The hash of the last of them."""
    broken: int | None
    """The first line that does not follow from the one before."""
    acts: list[Row[Any]]
    """The lines that are ASKED_FOR, first to last."""
    verdicts: str
    """The digest of every version of every verdict."""
    tables: dict[str, str]
    """The digest of each table of what raters said."""
    rows: str
    """SHA-256 over every row that this is about, as the database keeps it."""


def so_far(session: Session, study: Study, before: SoFar | None = None) -> SoFar:
    """All of it, up to the log's end. `before` is believed where none of its rows has changed since.

    Comparing rows takes about a twentieth of what they took to be understood.
    """
    if before is None or before.rows != _rows(session, study, before.lines):
        before = read(session, study)
    return _with(before, session.execute(_lines(study).where(Event.line > before.lines)))


def read(session: Session, study: Study) -> SoFar:
    """Up to the line that is the log's last as the study itself has it."""
    lines = study.log_lines
    rows = _rows(session, study, lines)  # first: what changes before the rest is read shows when they are compared
    nothing = SoFar(0, FIRST, None, [], verdicts_digest(session, study), said_so_far(session, study), rows)
    return _with(nothing, session.execute(_lines(study).where(Event.line <= lines)))


def _with(before: SoFar, lines: Iterable[Row[Any]]) -> SoFar:
    """And so many lines more."""
    count, head, acts = before.lines, before.head, list(before.acts)

    def noted() -> Iterator[Row[Any]]:
        nonlocal count, head
        for line in lines:
            count, head = count + 1, line.hash
            if line.what in ASKED_FOR:
                acts.append(line)
            yield line

    following = noted()
    broken = before.broken or first_broken_line(following, before.head, before.lines + 1)
    for _ in following:  # what comes after a line that does not follow
        pass
    return before._replace(lines=count, head=head, broken=broken, acts=acts)


def _lines(study: Study) -> Select[*tuple[Any, ...]]:
    return select(*LINE).where(Event.study_id == study.id).order_by(Event.line).execution_options(yield_per=1000)


def _rows(session: Session, study: Study, lines: int) -> str:
    """Nothing of them is understood, only compared."""
    every = hashlib.sha256()
    log = select(*LINE).where(Event.study_id == study.id, Event.line <= lines).order_by(Event.line)
    said = {name: statement_of(study, name) for name in tables_of(study)}
    said["ratings"] = said["ratings"].add_columns(Assignment.code)  # which the digest of the verdicts is over, too
    for statement in (log, *said.values()):
        for row in session.execute(_unread(statement)):
            every.update(repr(tuple(row)).encode())
    return every.hexdigest()


def _unread(statement: Select[*tuple[Any, ...]]) -> Select[*tuple[Any, ...]]:
    """The same rows as the database's driver has them, of which nothing is made."""
    columns = [
        type_coerce(column, NULLTYPE).label(f"column_{number}")
        for number, column in enumerate(statement.selected_columns)
    ]
    return statement.with_only_columns(*columns, maintain_column_froms=True).execution_options(yield_per=1000)
