"""One request of a rater at a time, and what keeps them from writing. Part of a transaction that writes."""

from sqlalchemy import bindparam, select
from sqlalchemy.orm import Session

from app.errors import Conflict, Refused
from app.models import Rater, RaterPhase, Study, StudyState
from app.rating.versions import CLOSED

ELSEWHERE = "You have gone on to the next part, so verdicts can neither be given nor changed any more. Go on there."

LOCKED = (
    select(Rater, Study.state)
    .join(Study, Study.id == Rater.study_id)
    .where(Rater.id == bindparam("rater"))
    .with_for_update(of=Rater, key_share=True)
    .execution_options(populate_existing=True)
)


def lock_rater(session: Session, rater: Rater) -> StudyState:
    """A second tab and a double click wait here, and see what the first one did."""
    state = session.execute(LOCKED, {"rater": rater.id}).one()[1]
    if rater.deactivated_at is not None:
        raise Refused("This browser is no longer let in. Ask the person who sent you the link.")
    return state


def require_open(state: StudyState) -> None:
    if state is not StudyState.OPEN:
        raise Conflict(CLOSED)


def require_rating(rater: Rater, state: StudyState) -> None:
    """Verdicts are given before the hypothesis check and the guesses, which could sway them."""
    require_open(state)
    if rater.phase is not RaterPhase.RATING:
        raise Conflict(ELSEWHERE)
