"""Codes of an export, looked up in the study they came from."""

from collections.abc import Iterable
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.errors import Invalid
from app.models import Item, Rater, Study


def ids_of(session: Session, table: type[Rater] | type[Item], study: Study) -> dict[str, int]:
    """The row of every code of the study."""
    return dict(session.execute(select(table.code, table.id).where(table.study_id == study.id)).all())


def id_of(known: dict[str, int], code: Any, what: str) -> int:
    if code not in known:
        raise Invalid(f"There is no {what} {code} in this study; is it the export of another one?")
    return known[code]


def choice_of(of: Any, value: Any, where: str) -> Any:
    allowed: Iterable[str] = [member.value for member in of]
    if value not in allowed:
        raise Invalid(f"{where}: {value!r} is none of {', '.join(allowed)}.")
    return of(value)
