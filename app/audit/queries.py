from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Row, Select, String, literal, select, union_all
from sqlalchemy.orm import Session

from app.audit.shown import OF_PEOPLE, OF_STUDIES, Said, said
from app.errors import NotFound
from app.models import Administrator, AuditEvent, Event, Invitation, Rater, Sitting, Study
from app.models.event import NOT_OF_WORK

PAGE = 50


@dataclass(frozen=True, kw_only=True)
class Filter:
    """What is looked for; what is empty is no matter."""

    study: str = ""
    """A study's code."""
    person: str = ""
    """Who did it, or to whom it was done."""
    act: str = ""


class Line(NamedTuple):
    """One act as it is shown."""

    at: datetime
    actor: str
    what: str
    about: str
    """To whom, or to whose link or session; empty where it was done to nobody."""
    study: str
    """The study's name; empty where it is about none."""
    study_code: str
    said: list[Said]


class Names(NamedTuple):
    """What the codes in the logs stand for now: a rater who withdrew their consent has no name any more."""

    raters: dict[str, str]
    links: dict[str, str]
    sittings: dict[str, str]


def lines(session: Session, asked: Filter, page: int = 1) -> list[Line]:
    """One page, the newest first, and one line more where there is another page."""
    return _shown(session, _statement(session, asked).limit(PAGE + 1).offset((page - 1) * PAGE))


def all_lines(session: Session, asked: Filter) -> list[Line]:
    return _shown(session, _statement(session, asked))


def persons(session: Session) -> list[str]:
    return list(session.scalars(select(Administrator.name).order_by(Administrator.name)))


def studies(session: Session) -> list[tuple[str, str]]:
    """Code and name of each."""
    return [(code, name) for code, name in session.execute(select(Study.code, Study.name).order_by(Study.name))]


def _statement(session: Session, asked: Filter) -> Select[*tuple[Any, ...]]:
    both = union_all(
        select(Event.at, Event.id, Event.actor, Event.what, literal("", String).label("about"), Event.study_id,
               Event.detail).where(NOT_OF_WORK, Event.what.in_(OF_STUDIES)),
        select(AuditEvent.at, AuditEvent.id, AuditEvent.actor, AuditEvent.what, AuditEvent.about, AuditEvent.study_id,
               AuditEvent.detail).where(AuditEvent.what.in_(OF_PEOPLE)),
    ).subquery()  # fmt: skip
    columns = both.c
    statement = select(both, Study.code.label("code"), Study.name.label("name")).outerjoin(
        Study, Study.id == columns.study_id
    )
    if asked.study:
        statement = statement.where(columns.study_id == _study_id(session, asked.study))
    if asked.person:
        statement = statement.where((columns.actor == asked.person) | (columns.about == asked.person))
    if asked.act:
        statement = statement.where(columns.what == asked.act)
    return statement.order_by(columns.at.desc(), columns.what, columns.id.desc())


def _study_id(session: Session, code: str) -> int:
    found = session.scalars(select(Study.id).where(Study.code == code)).one_or_none()
    if found is None:
        raise NotFound
    return found


def _shown(session: Session, statement: Select[*tuple[Any, ...]]) -> list[Line]:
    rows = session.execute(statement).all()
    names = _names(session, rows)
    return [_line(row, names) for row in rows]


def _line(row: Row[Any], names: Names) -> Line:
    return Line(
        at=row.at,
        actor=_actor(row.actor, names),
        what=row.what,
        about=row.about or _about(row.detail, names),
        study=row.name or "",
        study_code=row.code or "",
        said=said(row.what, row.detail),
    )


def _actor(actor: str, names: Names) -> str:
    kind, _, code = actor.partition(" ")
    return names.raters.get(code, actor) if kind == "rater" else actor


def _about(detail: dict[str, Any], names: Names) -> str:
    known = (names.raters.get(detail.get("rater", "")), names.links.get(detail.get("link", "")))
    return next((name for name in (*known, names.sittings.get(detail.get("sitting", ""))) if name), "")


def _names(session: Session, rows: Sequence[Row[Any]]) -> Names:
    raters = {row.actor.partition(" ")[2] for row in rows} | _codes(rows, "rater")
    ended = select(Sitting.code, Rater.name).join(Rater, Rater.id == Sitting.rater_id)
    return Names(
        raters=_named(session, select(Rater.code, Rater.name), Rater.code, raters),
        links=_named(session, select(Invitation.code, Invitation.name), Invitation.code, _codes(rows, "link")),
        sittings=_named(session, ended, Sitting.code, _codes(rows, "sitting")),
    )


def _codes(rows: Sequence[Row[Any]], key: str) -> set[str]:
    return {row.detail[key] for row in rows if key in row.detail}


def _named(session: Session, statement: Select[str, str], code: Any, wanted: set[str]) -> dict[str, str]:
    """In pieces: SQLite takes no statement with more than 32,766 values."""
    ordered = sorted(wanted - {""})
    pieces = [ordered[start : start + 1000] for start in range(0, len(ordered), 1000)]
    return {found: name for piece in pieces for found, name in session.execute(statement.where(code.in_(piece)))}
