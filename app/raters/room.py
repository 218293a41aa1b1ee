"""Room for one more rater: free seats, and how many a link and a study let in. Part of a transaction that writes."""

from sqlalchemy import ColumnElement, Select, func, select
from sqlalchemy.orm import Session

from app.errors import Conflict
from app.models import Invitation, Rater, Seat, Study
from app.rating.terms import Terms

NO_SEAT = "All places of this study are taken. Tell the person who sent you the link."
LINK_FULL = "As many people as this link lets in have joined already. Tell the person who sent you the link."
STUDY_FULL = "This study has as many raters as it takes at once. Tell the person who sent you the link."


class Full(Conflict):
    """No room now: a calm page, for nobody did anything wrong."""


def lock_study(session: Session, study_id: int) -> Study:
    """Whoever else wants to join waits here. Not against the key, which every new rater's row refers to.

    What others may have changed until the lock was ours, its state and its terms, is read anew with it.
    """
    study = session.get_one(Study, study_id)
    session.refresh(study, ["state", "terms"], with_for_update={"key_share": True})
    return study


def check_room(session: Session, study: Study, invitation: Invitation | None) -> None:
    """Raises Full. Who was shut out or has withdrawn makes room; sure only behind the study's lock."""
    most = Terms.of(study.terms).most_raters
    if most is not None and _count(session, Rater.study_id == study.id) >= most:
        raise Full(STUDY_FULL)
    if invitation is None or invitation.most_raters is None:
        return
    if _count(session, Rater.invitation_id == invitation.id) >= invitation.most_raters:
        raise Full(LINK_FULL)


def check_any_room(session: Session, invitation: Invitation) -> None:
    """Raises Full where nobody could join just now: before they read what is asked of raters."""
    study = session.get_one(Study, invitation.study_id)
    check_room(session, study, invitation)
    if session.scalars(_free_seats(study)).first() is None:
        raise Full(NO_SEAT)


def take_free_seat(session: Session, study: Study, wanted: int | None = None) -> Seat:
    """The seat of this number if it is free, or else the lowest; the caller puts somebody on it."""
    for number in (wanted, None) if wanted is not None else (None,):
        free = _free_seats(study) if number is None else _free_seats(study).where(Seat.number == number)
        seat = session.scalars(free.with_for_update(skip_locked=True)).one_or_none()
        if seat is not None:
            return seat
    raise Full(NO_SEAT)


def _free_seats(study: Study) -> Select[Seat]:
    return select(Seat).where(Seat.study_id == study.id, Seat.rater_id.is_(None)).order_by(Seat.number).limit(1)


def _count(session: Session, of: ColumnElement[bool]) -> int:
    return session.scalars(select(func.count()).select_from(Rater).where(of, Rater.deactivated_at.is_(None))).one()
