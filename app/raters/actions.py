from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from app import clock, log
from app.errors import Conflict, Invalid, NotFound, Refused
from app.models import (
    Invitation,
    PanelMember,
    Rater,
    RaterKind,
    Sitting,
    Study,
    StudyState,
)
from app.names import one_line
from app.raters.invitations import numbered, refusal
from app.raters.panel import Arrival
from app.raters.queries import invitation_by_token, link_is, rater_of
from app.raters.room import check_room, lock_study, take_free_seat
from app.rating.completion import new_completion_code
from app.rating.leaving import shut_out
from app.rating.phases import first_phase
from app.web.security import new_token, token_hash

LONGEST_NAME = 80
"""Short of its column, so that raters who share a link can be numbered."""
UNKNOWN_LINK = "This link leads nowhere. Check that it was copied whole, or ask the person who sent it to you."
CLOSED = "This study is closed, so nobody can join it any more."
DEACTIVATED = "This link no longer lets you in. Ask the person who sent it to you."


def invite(
    session: Session,
    study: Study,
    name: str,
    *,
    actor: str,
    kind: RaterKind | None = None,
    reusable: bool = False,
    expires_at: datetime | None = None,
    most_raters: int | None = None,
) -> str:
    """Make a link; returns its token, which is kept nowhere and so can be shown only now.

    The kind is the study's unless it is given: people never rate in a simulated study, nor programs among people.
    """
    kind = kind or (RaterKind.SIMULATED if study.simulated else RaterKind.HUMAN)
    name = one_line(name, LONGEST_NAME)
    if not name:
        raise Invalid("A link needs a name, so that you can tell raters apart.")
    _check_kind(study, kind)
    if study.state is not StudyState.OPEN:
        raise Conflict(CLOSED)
    if name in _names(session, study):
        raise Conflict(
            "There is already a link or a rater named “%(name)s” in this study. Choose another name.", name=name
        )
    if most_raters is not None and (most_raters < 1 or not reusable):
        raise Invalid(
            "A link for several raters can be limited to so many, from 1 on. Leave the field empty otherwise."
        )
    token = new_token()
    invitation = Invitation(
        study_id=study.id, token_hash=token_hash(token), name=name, kind=kind, reusable=reusable,
        created_at=clock.now(), expires_at=expires_at, most_raters=most_raters,
    )  # fmt: skip
    session.add(invitation)
    session.flush()
    log.append(session, study.id, actor, "link made", link=invitation.code, kind=kind.value, reusable=reusable)
    return token


def revoke(session: Session, study: Study, invitation_code: str, *, actor: str) -> None:
    """The link lets nobody in any more. Who is in already stays in."""
    mine = select(Invitation).where(Invitation.study_id == study.id, Invitation.code == invitation_code)
    invitation = session.scalars(mine).one_or_none()
    if invitation is None:
        raise NotFound()
    if invitation.revoked_at is None:
        invitation.revoked_at = clock.now()
        log.append(session, study.id, actor, "link withdrawn", link=invitation.code)


def join(session: Session, token: str, arrival: Arrival | None = None) -> Rater:
    """Somebody opened a link and consents: a new rater on the lowest free seat, or the one whose own link it is.

    `arrival`: a panel sent them, and says who they are, so that the same person comes back to the same seat.
    """
    at = clock.now()
    invitation = _locked_invitation(session, token)
    if sentence := refusal(link_is(session, invitation, at)):
        raise Refused(sentence)
    if invitation.reusable:
        lock_study(session, invitation.study_id)  # whoever comes at the same instant, perhaps by another link, waits
    known = rater_of(session, invitation, arrival)
    if known is not None:
        if known.deactivated_at is not None:
            raise Refused(DEACTIVATED)
        return known
    study = lock_study(session, invitation.study_id)  # nobody closes it now, and no two are the last one let in
    if study.state is not StudyState.OPEN:
        raise Conflict(CLOSED)
    _check_kind(study, invitation.kind)
    return _seat_new_rater(session, study, invitation, at, arrival)


def deactivate(session: Session, study: Study, rater_code: str, *, actor: str) -> None:
    """Shut a rater out. The verdicts stay and count; what was in hand and the seat go back."""
    rater = rater_by_code(session, study, rater_code)
    if rater.deactivated_at is not None:
        return
    seat = shut_out(session, rater, actor=actor)
    log.append(session, study.id, actor, "rater deactivated", rater=rater.code, seat=seat.number if seat else None)


def end_sitting(session: Session, study: Study, sitting_code: str, *, actor: str) -> None:
    """The rater keeps everything and is asked to begin again."""
    sitting = _sitting(session, study, sitting_code)
    if sitting.ended_at is not None:
        raise Conflict("This session has ended already.")
    sitting.ended_at, sitting.ended_by = clock.now(), actor
    log.append(session, study.id, actor, "session ended", sitting=sitting.code)


def reopen_sitting(session: Session, study: Study, sitting_code: str, *, actor: str) -> None:
    """Take an ended sitting up again, if no newer one has begun. The time between does not count as work."""
    sitting = _sitting(session, study, sitting_code)
    newer = select(Sitting.id).where(Sitting.rater_id == sitting.rater_id, Sitting.id > sitting.id)
    if session.scalars(newer.limit(1)).first() is not None:
        raise Conflict("The rater has begun a newer session, so this one stays as it is.")
    if sitting.paused:
        raise Conflict("The rater has paused, and goes on when they like. This session stays as it is.")
    sitting.ended_at = sitting.ended_by = None
    sitting.last_seen_at = clock.now()
    log.append(session, study.id, actor, "session re-opened", sitting=sitting.code)


def _check_kind(study: Study, kind: RaterKind) -> None:
    if study.simulated and kind is not RaterKind.SIMULATED:
        raise Refused("This study is simulated: only programs take part in it. Make another study for people.")
    if not study.simulated and kind is RaterKind.SIMULATED:
        raise Refused("Simulated raters belong in a simulated study. This one is for people.")


def _names(session: Session, study: Study) -> set[str]:
    links = select(Invitation.name).where(Invitation.study_id == study.id, Invitation.revoked_at.is_(None))
    return {*session.scalars(links), *session.scalars(select(Rater.name).where(Rater.study_id == study.id))}


def _locked_invitation(session: Session, token: str) -> Invitation:
    """Two openings of one link at the same instant follow one another."""
    found = invitation_by_token(session, token)
    if found is None:
        raise NotFound(UNKNOWN_LINK)
    session.refresh(found, with_for_update={"key_share": True})
    return found


def _seat_new_rater(
    session: Session, study: Study, invitation: Invitation, at: datetime, arrival: Arrival | None
) -> Rater:
    check_room(session, study, invitation)
    seat = take_free_seat(session, study)
    names = set(session.scalars(select(Rater.name).where(Rater.study_id == study.id)))
    rater = Rater(
        study_id=study.id, invitation_id=invitation.id, kind=invitation.kind,
        name=numbered(invitation.name, names), share=seat.share, created_at=at, consented_at=at,
        phase=first_phase(study.design), stepped_at=at, completion_code=new_completion_code(),
    )  # fmt: skip
    session.add(rater)
    session.flush()
    if invitation.reusable and arrival is not None:
        session.add(PanelMember(rater_id=rater.id, study_id=study.id, **arrival._asdict()))
    seat.rater_id = rater.id
    log.append(session, study.id, f"rater {rater.code}", "rater joined", seat=seat.number)
    return rater


def rater_by_code(session: Session, study: Study, code: str) -> Rater:
    rater = session.scalars(select(Rater).where(Rater.study_id == study.id, Rater.code == code)).one_or_none()
    if rater is None:
        raise NotFound()
    return rater


def _sitting(session: Session, study: Study, code: str) -> Sitting:
    mine = select(Sitting).join(Rater, Rater.id == Sitting.rater_id)
    sitting = session.scalars(mine.where(Rater.study_id == study.id, Sitting.code == code)).one_or_none()
    if sitting is None:
        raise NotFound()
    return sitting
