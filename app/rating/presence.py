"""Signs of life: a rater's sitting opened, prolonged, paused and ended. Part of a transaction that writes."""

from datetime import datetime

from sqlalchemy.orm import Session

from app.models import Rater, Sitting
from app.rating.queries import newest_sitting
from app.rating.sittings import Stretch, is_break_due, is_over, stretched, worked_seconds
from app.settings import Settings


def seen(session: Session, settings: Settings, rater: Rater, at: datetime) -> Sitting | None:
    """The sitting that this sign of life belongs to; None where it was ended or paused and only Begin opens one."""
    sitting = newest_sitting(session, rater)
    if sitting is not None and (sitting.ended_by is not None or sitting.paused):
        return None
    return _prolonged_or_new(session, settings, rater, sitting, at)


def begin(session: Session, settings: Settings, rater: Rater, at: datetime) -> Sitting:
    """The rater pressed Begin: goes on with the sitting that is open, or opens one."""
    return _prolonged_or_new(session, settings, rater, newest_sitting(session, rater), at)


def offer_break(sitting: Sitting) -> None:
    """After a verdict, where one is due: the page that comes next offers it, until the rater's next step."""
    if is_break_due(_stretch(sitting)):
        sitting.break_offered_at = sitting.last_seen_at


def end_by_pause(sitting: Sitting, at: datetime) -> None:
    sitting.ended_at, sitting.paused = at, True


def _prolonged_or_new(
    session: Session, settings: Settings, rater: Rater, sitting: Sitting | None, at: datetime
) -> Sitting:
    if sitting is not None and not is_over(sitting.last_seen_at, sitting.ended_at, at, settings.idle):
        _set_stretch(sitting, stretched(_stretch(sitting), sitting.last_seen_at, at, worked=True))
        sitting.active_seconds += worked_seconds(sitting.last_seen_at, at)
        sitting.last_seen_at = max(sitting.last_seen_at, at)
        return sitting
    if sitting is not None and sitting.ended_at is None:
        sitting.ended_at = sitting.last_seen_at  # it ended by itself; nobody was there to write it down
    fresh = Sitting(rater_id=rater.id, started_at=at, last_seen_at=at, active_seconds=0.0, unrested_seconds=0.0)
    if sitting is not None:
        _set_stretch(fresh, stretched(_stretch(sitting), sitting.last_seen_at, at, worked=False))
    session.add(fresh)
    session.flush()
    return fresh


def _stretch(sitting: Sitting) -> Stretch:
    return Stretch(sitting.unrested_seconds, sitting.break_offered_at)


def _set_stretch(sitting: Sitting, stretch: Stretch) -> None:
    sitting.unrested_seconds, sitting.break_offered_at = stretch
