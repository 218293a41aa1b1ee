"""Who cannot come in again by a panel's link: they were shut out, or have withdrawn their consent.

Of whoever withdrew, nothing is kept that says who they are to the panel; only a fingerprint, in a table of its own,
that can be made again from the panel's name for them and the key file, and leads to no rater. It goes when nobody can
join the study any more. Both are refused by one sentence, so that nobody who tries names can tell who withdrew.
"""

import hmac
from pathlib import Path

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from app.errors import Refused
from app.key import load_key
from app.models import Invitation, PanelMember, Rater, WithdrawnMember
from app.raters.panel import Arrival
from app.raters.queries import rater_of

GONE = (
    "You have been in this study before and your place in it has ended, so this link does not let you in again. Please "
    "give your place back on the panel’s page, or ask the person who sent you the link."
)


def check_may_come(session: Session, key_file: Path, invitation: Invitation, arrival: Arrival) -> None:
    """Raises Refused where whoever the panel sends was in the study and is not any more."""
    known = rater_of(session, invitation, arrival)
    if known is not None:
        gone = known.deactivated_at is not None
    else:
        gone = _has_withdrawn(session, key_file, invitation.study_id, arrival.person)
    if gone:
        raise Refused(GONE)


def forget_member(session: Session, key_file: Path, rater: Rater) -> None:
    """Of a rater who withdraws: the panel's name goes, the fingerprint stays. Nothing is kept where the key is not at
    hand: a withdrawal is never refused.
    """
    member = session.get(PanelMember, rater.id)
    if member is None:
        return
    mark = _fingerprint(key_file, member.study_id, member.person)
    session.delete(member)
    if mark is not None:
        session.merge(WithdrawnMember(study_id=member.study_id, fingerprint=mark))
    session.flush()


def forget_fingerprints(session: Session, study_id: int) -> None:
    session.execute(delete(WithdrawnMember).where(WithdrawnMember.study_id == study_id))


def _has_withdrawn(session: Session, key_file: Path, study_id: int, person: str) -> bool:
    marks = set(session.scalars(select(WithdrawnMember.fingerprint).where(WithdrawnMember.study_id == study_id)))
    return bool(marks) and _fingerprint(key_file, study_id, person) in marks


def _fingerprint(key_file: Path, study_id: int, person: str) -> str | None:
    try:
        key = load_key(key_file)
    except Refused:
        return None
    return hmac.digest(key, f"withdrawn member of study {study_id}: {person}".encode(), "sha256").hex()
