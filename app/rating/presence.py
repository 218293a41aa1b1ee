"""Signs of life: a rater's sitting opened, prolonged, paused and ended. Part of a transaction that writes."""

from datetime import datetime

from sqlalchemy import bindparam, insert, update
from sqlalchemy.orm import Session

from app.models import Sitting
from app.models.base import new_code
from app.rating.locked import SomeRater
from app.rating.queries import newest_sitting
from app.rating.sittings import NewestSitting, Stretch, is_break_due, is_over, prolonged, stretched
from app.settings import Settings
from app.store.compiled import Compiled

CHANGE = Compiled(update(Sitting).where(Sitting.id == bindparam("sitting")))
OPEN = Compiled(insert(Sitting).returning(Sitting.id))


def seen(
    session: Session, settings: Settings, rater: SomeRater, at: datetime, newest: NewestSitting | None
) -> NewestSitting | None:
    """The sitting that this sign of life belongs to; None where it was ended or paused and only Begin opens one."""
    if newest is not None and (newest.ended_by is not None or newest.paused):
        return None
    return _prolonged_or_new(session, settings, rater, newest, at)


def begin(session: Session, settings: Settings, rater: SomeRater, at: datetime) -> NewestSitting:
    """The rater pressed Begin: goes on with the sitting that is open, or opens one."""
    return _prolonged_or_new(session, settings, rater, newest_sitting(session, rater), at)


def offer_break(session: Session, sitting: NewestSitting) -> None:
    """After a verdict, where one is due: the page that comes next offers it, until the rater's next step."""
    if is_break_due(sitting.stretch):
        _change(session, sitting, break_offered_at=sitting.last_seen_at)


def end(session: Session, sitting: NewestSitting, at: datetime, *, paused: bool = False) -> None:
    _change(session, sitting, ended_at=at, paused=paused)


def _prolonged_or_new(
    session: Session, settings: Settings, rater: SomeRater, sitting: NewestSitting | None, at: datetime
) -> NewestSitting:
    if sitting is not None and not is_over(sitting.last_seen_at, sitting.ended_at, at, settings.idle):
        longer = prolonged(sitting, at)
        _change(
            session, sitting, active_seconds=longer.active_seconds, last_seen_at=longer.last_seen_at,
            unrested_seconds=longer.unrested_seconds, break_offered_at=longer.break_offered_at,
        )  # fmt: skip
        return longer
    if sitting is not None and sitting.ended_at is None:
        end(session, sitting, sitting.last_seen_at)  # it ended by itself; nobody was there to write it down
    return _opened(session, rater, sitting, at)


def _opened(session: Session, rater: SomeRater, before: NewestSitting | None, at: datetime) -> NewestSitting:
    stretch = stretched(before.stretch, before.last_seen_at, at, worked=False) if before else Stretch()
    (number,) = OPEN.one(
        session, code=new_code(), rater_id=rater.id, started_at=at, last_seen_at=at, active_seconds=0.0,
        unrested_seconds=stretch.seconds, break_offered_at=stretch.break_offered_at, paused=False,
    )  # fmt: skip
    return NewestSitting(number, at, at, 0.0, stretch.seconds, stretch.break_offered_at)


def _change(session: Session, sitting: NewestSitting, **values: datetime | float | None) -> None:
    CHANGE.run(session, sitting=sitting.id, **values)
