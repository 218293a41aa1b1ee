"""A rater's own sittings, as the rater reads them."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app import clock
from app.models import Rater, Rating, Sitting
from app.rating.sittings import is_over
from app.rating.statements import given_and_not_undone
from app.settings import Settings


@dataclass(frozen=True, kw_only=True)
class Stay:
    started_at: datetime
    ended_at: datetime | None
    """None while it goes on. One that ended by itself ended when the rater was last seen."""
    paused: bool
    verdicts: int
    active_minutes: float


def own_stays(session: Session, settings: Settings, rater: Rater) -> list[Stay]:
    """The newest first."""
    at = clock.now()
    verdicts = select(func.count()).where(Rating.sitting_id == Sitting.id, given_and_not_undone())
    statement = (
        select(Sitting, verdicts.correlate(Sitting).scalar_subquery())
        .where(Sitting.rater_id == rater.id)
        .order_by(Sitting.started_at.desc(), Sitting.id.desc())
    )
    return [_stay(sitting, count, at, settings) for sitting, count in session.execute(statement)]


def _stay(sitting: Sitting, verdicts: int, at: datetime, settings: Settings) -> Stay:
    over = is_over(sitting.last_seen_at, sitting.ended_at, at, settings.idle)
    return Stay(
        started_at=sitting.started_at,
        ended_at=(sitting.ended_at or sitting.last_seen_at) if over else None,
        paused=sitting.paused,
        verdicts=verdicts,
        active_minutes=sitting.active_seconds / 60,
    )
