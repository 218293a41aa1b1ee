"""Somebody who was shut out is let in again, with all they gave, and with a way in."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from app import clock, log
from app.errors import Conflict, Refused
from app.models import Invitation, OwnRater, PanelMember, Rater, Study, StudyState
from app.raters.actions import rater_by_code
from app.raters.room import check_room, lock_study, take_free_seat
from app.web.security import new_token, token_hash

WITHDRAWN = (
    "This rater has withdrawn their consent, so nobody can be let in as them again. Make a new link for whoever wants "
    "to take part anew."
)
CLOSED = "The study is closed, so nobody can be let in again. Open it again first."


def reactivate(session: Session, study: Study, rater_code: str, *, actor: str) -> str | None:
    """On the seat they left if it is free, or else on another, whose share is theirs then: the shares of all seats add
    up to all places. What they have judged is not offered again on any.

    Returns the token of a new link of their own where no way in is left to them; it can be shown only now.
    """
    rater = rater_by_code(session, study, rater_code)
    session.refresh(rater, with_for_update={"key_share": True})
    if rater.withdrawn_at is not None:
        raise Refused(WITHDRAWN)
    if rater.deactivated_at is None:
        return None
    if lock_study(session, study.id).state is not StudyState.OPEN:
        raise Conflict(CLOSED)
    invitation = session.get(Invitation, rater.invitation_id) if rater.invitation_id else None
    has_a_way_in = _has_a_way_in(session, rater, invitation)
    check_room(session, study, invitation if has_a_way_in else None)
    seat = take_free_seat(session, study, rater.left_seat)
    seat.rater_id = rater.id
    if rater.share is not None:
        rater.share = seat.share
    rater.deactivated_at = rater.left_seat = None
    token = None if has_a_way_in else _new_link(session, rater, invitation)
    session.flush()
    log.append(
        session, study.id, actor, "rater let in again", rater=rater.code, seat=seat.number, link=token is not None
    )
    return token


def _has_a_way_in(session: Session, rater: Rater, invitation: Invitation | None) -> bool:
    """A link of their own, one that knows them by their panel, or their own account as an administrator."""
    if session.scalars(select(OwnRater).where(OwnRater.rater_id == rater.id)).first() is not None:
        return True
    if invitation is None or invitation.revoked_at is not None:
        return False
    return not invitation.reusable or session.get(PanelMember, rater.id) is not None


def _new_link(session: Session, rater: Rater, withdrawn: Invitation | None) -> str:
    """A link of their own is given anew in place of the one that was withdrawn: they were invited once."""
    token = new_token()
    if withdrawn is not None and not withdrawn.reusable:
        withdrawn.token_hash, withdrawn.revoked_at, withdrawn.expires_at = token_hash(token), None, None
        return token
    invitation = Invitation(
        study_id=rater.study_id, token_hash=token_hash(token), name=rater.name, kind=rater.kind, created_at=clock.now()
    )
    session.add(invitation)
    session.flush()
    rater.invitation_id = invitation.id
    return token
