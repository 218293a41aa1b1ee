"""How many verdicts a rater has given today, and how many are hoped for."""

from typing import NamedTuple

from sqlalchemy.orm import Session

from app import clock
from app.rating.day import day_start
from app.rating.locked import SomeRater
from app.rating.statements import TODAY
from app.rating.terms import Terms


class Today(NamedTuple):
    """A rater's day so far."""

    done: int
    """Verdicts given since midnight on the rater's clock and not taken back."""
    goal: int | None


def today_of(session: Session, rater: SomeRater, minutes_east: int) -> Today:
    terms, done = TODAY.one(session, rater=rater.id, since=day_start(clock.now(), minutes_east))
    return Today(done, Terms.of(terms).day_goal)
