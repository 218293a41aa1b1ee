"""Raters called by a name, and how many versions of verdicts there are."""

from collections.abc import Callable

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.models import Rating
from tests.app.seated import Hand

ByName = Callable[[str], Hand]


def rows(session: Session) -> int:
    return session.scalars(select(func.count()).select_from(Rating)).one()
