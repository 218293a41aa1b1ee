"""Shutting a rater out, letting them in again, and the seat they have."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.models import Rater, Seat, Study
from app.raters import actions
from app.raters.reactivation import reactivate


def shut_out(session: Session, study: Study, rater: Rater) -> None:
    actions.deactivate(session, study, rater.code, actor="Ada")


def let_in(session: Session, study: Study, rater: Rater) -> str | None:
    return reactivate(session, study, rater.code, actor="Ada")


def seat_of(session: Session, rater: Rater) -> int | None:
    return session.scalars(select(Seat.number).where(Seat.rater_id == rater.id)).one_or_none()
