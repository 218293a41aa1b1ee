from datetime import timedelta
from typing import NamedTuple

from sqlalchemy import Engine, func, select
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from app.clock import now
from app.models import Rating, Sitting, Study, StudyState
from app.store.db import read_only

PRESENT = timedelta(minutes=5)


class Stored(NamedTuple):
    """Counts over all studies together."""

    ratings: int
    raters_present: int
    studies_open: int


def stored(session: Session) -> Stored:
    present = (Sitting.ended_at.is_(None), Sitting.last_seen_at > now() - PRESENT)
    return Stored(
        ratings=session.scalars(select(func.count(Rating.id))).one(),
        raters_present=session.scalars(select(func.count(Sitting.id)).where(*present)).one(),
        studies_open=session.scalars(select(func.count(Study.id)).where(Study.state == StudyState.OPEN)).one(),
    )


def unready(engine: Engine) -> str | None:
    """Why the server cannot work now; None when it can."""
    from app.store.migrate import (
        is_current,  # what migrates takes 10 MB, in a worker that is never asked this for nothing
    )

    try:
        return None if is_current(read_only(engine)) else "The database is not up to date. Run: glance migrate"
    except DBAPIError as error:  # not its text, which names hosts and users
        return f"The database does not answer ({type(error.orig).__name__}). See that it runs and can be reached."
