"""An administrator's own place as a rater: one a person and study, and as blind as any other."""

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from app.errors import Conflict, Refused
from app.models import Administrator, Invitation, OwnRater, Rater, Study, StudyState
from app.raters.actions import CLOSED, invite, join
from app.roles import Role, require
from app.web.security import remember_own

SHUT_OUT = "You were shut out as a rater of this study, or withdrew your consent, so you cannot rate in it any more."
SIMULATED = "This study is simulated: only programs take part in it. Make another study for people."


def own_place(session: Session, study: Study, administrator: Administrator) -> Rater | None:
    """The rater who this administrator is known to be, one that is still in before one that is not."""
    mine = (
        select(Rater)
        .join(OwnRater, OwnRater.rater_id == Rater.id)
        .where(Rater.study_id == study.id, OwnRater.administrator_id == administrator.id)
        .order_by(Rater.deactivated_at.is_not(None), Rater.id)
    )
    return session.scalars(mine.limit(1)).first()


def check_may_begin(session: Session, study: Study, administrator: Administrator) -> Rater | None:
    """Raises what bars somebody from rating here. Returns the rater they are already."""
    require(administrator, Role.RATE)
    known = own_place(session, study, administrator)
    if known is not None:
        if known.deactivated_at is not None:
            raise Refused(SHUT_OUT)
        return known
    if study.state is not StudyState.OPEN:
        raise Conflict(CLOSED)
    if study.simulated:
        raise Refused(SIMULATED)
    _check_name(session, study, administrator.name)
    return None


def take_place(session: Session, study: Study, administrator: Administrator) -> Rater:
    """Join with a link of one's own that nobody is ever shown; again and again it is the same place."""
    session.refresh(administrator, with_for_update=True)  # two clicks follow one another
    known = check_may_begin(session, study, administrator)
    if known is not None:
        return known
    rater = join(session, invite(session, study, administrator.name, actor=administrator.name))
    remember_own(session, administrator, rater)
    return rater


def _check_name(session: Session, study: Study, name: str) -> None:
    """Whoever bears the name may be the same person, who came by a link in another browser and has seen items."""
    links = select(Invitation.id).where(
        Invitation.study_id == study.id, Invitation.name == name, Invitation.revoked_at.is_(None)
    )
    raters = select(Rater.id).where(Rater.study_id == study.id, Rater.name == name)
    if session.scalars(select(or_(links.exists(), raters.exists()))).one():
        raise Conflict(
            "There is a link or a rater named “%(name)s” in this study. If that is you, open your link in this "
            "browser: it leads to your place. If it is somebody else, ask whoever manages for a link under another "
            "name.",
            name=name,
        )
