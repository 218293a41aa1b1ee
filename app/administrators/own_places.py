"""The places that an administrator took as a rater end with what let them take one: the role, or the account."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from app import log
from app.models import Administrator, OwnRater, Rater, Study, StudyState
from app.rating.leaving import shut_out


def end_places(session: Session, administrator: Administrator, *, actor: str) -> None:
    """Like any rater who is shut out, in every study that is not unblinded: the verdicts stay and count.

    Who joined by a link in the same browser bears another name. That place came from whoever made the link, and may
    be another person's: it stays, and its rater can be shut out on the page of the study.
    """
    mine = (
        select(Rater)
        .join(OwnRater, OwnRater.rater_id == Rater.id)
        .join(Study, Study.id == Rater.study_id)
        .where(OwnRater.administrator_id == administrator.id, Rater.name == administrator.name)
        .where(Rater.deactivated_at.is_(None), Study.state != StudyState.UNBLINDED)
        .order_by(Rater.id)
        .with_for_update(of=Rater, key_share=True)  # a verdict that is being stored comes before
    )
    for rater in session.scalars(mine.execution_options(populate_existing=True)).all():
        seat = shut_out(session, rater, actor=actor)
        session.flush()
        number = seat.number if seat else None
        log.append(session, rater.study_id, actor, "rater deactivated", rater=rater.code, seat=number)
