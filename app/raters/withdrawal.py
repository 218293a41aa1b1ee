"""Withdrawal of consent: what somebody wrote goes, and their name; that so many verdicts were given stays."""

import hashlib
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import Select, select, update
from sqlalchemy.orm import Session

from app import clock, log
from app.models import Assignment, Invitation, PracticeAnswer, Rater, Rating, Study
from app.raters.actions import rater_by_code
from app.raters.gone import forget_member
from app.raters.invitations import numbered
from app.rating.leaving import shut_out
from app.rating.versions import digest

NAMELESS = "(withdrawn)"


class Removed(NamedTuple):
    """What a withdrawal took away."""

    hypotheses: int
    drafts: int
    practice: int


def withdraw_consent(session: Session, study: Study, rater_code: str, *, actor: str, key_file: Path) -> Rater:
    """By the rater, or by an administrator at their wish. Verdicts stay, without texts; it cannot be undone.

    The log keeps hashes of what it says was removed. They are salted by the random keys of the forms, so that no
    text can be guessed from them, and every line before still follows from the one before it.
    """
    rater = rater_by_code(session, study, rater_code)
    session.refresh(rater, with_for_update={"key_share": True})  # a verdict that is being stored comes before or never
    if rater.withdrawn_at is not None:
        return rater
    texts = _digest_of_texts(session, rater)
    removed = _remove_texts(session, rater)
    seat = shut_out(session, rater, actor=None)
    forget_member(session, key_file, rater)
    _forget_name(session, study, rater)
    rater.withdrawn_at = clock.now()
    log.append(
        session, study.id, actor, "consent withdrawn",
        rater=rater.code, seat=seat.number if seat else None, digest=texts, **removed._asdict(),
    )  # fmt: skip
    return rater


def _digest_of_texts(session: Session, rater: Rater) -> str:
    """Over the digests that the log has of the rater's versions, those with a text."""
    mine = _versions(rater).where(Rating.hypothesis != "").order_by(Assignment.code, Rating.version)
    digests = [digest(rating, code) for rating, code in session.execute(mine)]
    return hashlib.sha256("\n".join(digests).encode()).hexdigest()


def _versions(rater: Rater) -> Select[Rating, str]:
    return (
        select(Rating, Assignment.code)
        .join(Assignment, Assignment.id == Rating.assignment_id)
        .where(Assignment.rater_id == rater.id)
    )


def _remove_texts(session: Session, rater: Rater) -> Removed:
    mine = select(Assignment.id).where(Assignment.rater_id == rater.id)
    hypotheses = update(Rating).where(Rating.assignment_id.in_(mine), Rating.hypothesis != "").values(hypothesis="")
    drafts = update(Assignment).where(Assignment.rater_id == rater.id, Assignment.draft != "").values(draft="")
    practice = (
        update(PracticeAnswer)
        .where(PracticeAnswer.rater_id == rater.id, PracticeAnswer.hypothesis != "")
        .values(hypothesis="")
    )
    return Removed(
        len(session.scalars(hypotheses.returning(Rating.id)).all()),
        len(session.scalars(drafts.returning(Assignment.id)).all()),
        len(session.scalars(practice.returning(PracticeAnswer.id)).all()),
    )


def _forget_name(session: Session, study: Study, rater: Rater) -> None:
    """The rater's, and that of the link that was theirs alone."""
    rater.completion_code = None
    names = set(session.scalars(select(Rater.name).where(Rater.study_id == study.id, Rater.id != rater.id)))
    rater.name = numbered(NAMELESS, names)
    if rater.invitation_id is not None:
        invitation = session.get_one(Invitation, rater.invitation_id)
        if not invitation.reusable:
            invitation.name = rater.name
            invitation.revoked_at = invitation.revoked_at or clock.now()
