"""Nobody comes in as a rater any more. Part of a transaction that writes."""

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from app import clock
from app.models import Assignment, AssignmentState, BrowserSession, Rater, Seat, Sitting


def shut_out(session: Session, rater: Rater, *, actor: str | None) -> Seat | None:
    """What was in hand and the seat go back; the verdicts stay and count. Returns the seat."""
    at = clock.now()
    rater.deactivated_at = rater.deactivated_at or at
    held = select(Assignment).where(Assignment.rater_id == rater.id, Assignment.state == AssignmentState.HELD)
    for assignment in session.scalars(held):
        assignment.state = AssignmentState.RELEASED
    for sitting in session.scalars(select(Sitting).where(Sitting.rater_id == rater.id, Sitting.ended_at.is_(None))):
        sitting.ended_at, sitting.ended_by = at, actor
    session.execute(delete(BrowserSession).where(BrowserSession.rater_id == rater.id))
    seat = session.scalars(select(Seat).where(Seat.rater_id == rater.id)).one_or_none()
    if seat is not None:
        seat.rater_id, rater.left_seat = None, seat.number
    return seat
