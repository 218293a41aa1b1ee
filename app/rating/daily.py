"""How many verdicts a rater has given today, and how many are hoped for."""

from typing import NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session

from app import clock
from app.models import Rater, Study
from app.rating.day import day_start
from app.rating.queries import given_since
from app.rating.terms import Terms


class Today(NamedTuple):
    """A rater's day so far."""

    done: int
    """Verdicts given since midnight on the rater's clock and not taken back."""
    goal: int | None


def today_of(session: Session, rater: Rater, minutes_east: int) -> Today:
    since = day_start(clock.now(), minutes_east)
    statement = select(Study.terms, given_since(rater, since)).where(Study.id == rater.study_id)
    terms, done = session.execute(statement).one()
    return Today(done, Terms.of(terms).day_goal)
