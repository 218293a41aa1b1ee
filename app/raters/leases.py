"""Neurons in the hands of raters: how long they have been there, and how they come back. Never which."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from app import clock, log
from app.errors import Conflict
from app.models import Assignment, AssignmentState, Rater, Sitting, Study
from app.raters.actions import rater_by_code

NOTHING = "This rater has nothing in hand any more."


@dataclass(frozen=True, kw_only=True)
class Held:
    """What one rater has in hand."""

    rater: str
    code: str
    """The rater's: which assignment it is, nobody needs to say."""
    neurons: int
    since: datetime
    leased_until: datetime
    stuck: bool
    """The lease has run out: nobody is held up, but the neuron waits for a rater who may not come back."""
    last_seen_at: datetime | None


def held_by_raters(session: Session, study: Study) -> list[Held]:
    """The longest first."""
    at = clock.now()
    seen = select(func.max(Sitting.last_seen_at)).where(Sitting.rater_id == Rater.id).correlate(Rater)
    since, until = func.min(Assignment.claimed_at), func.max(Assignment.leased_until)
    statement = (
        select(Rater.name, Rater.code, func.count(), since, until, seen.scalar_subquery())
        .join(Assignment, Assignment.rater_id == Rater.id)
        .where(Rater.study_id == study.id, Assignment.state == AssignmentState.HELD)
        .group_by(Rater.id, Rater.name, Rater.code)
        .order_by(since, Rater.id)
    )
    return [
        Held(
            rater=name,
            code=code,
            neurons=neurons,
            since=since,
            leased_until=until,
            stuck=until <= at,
            last_seen_at=seen,
        )
        for name, code, neurons, since, until, seen in session.execute(statement)
    ]


def free_by_hand(session: Session, study: Study, rater_code: str, *, actor: str) -> int:
    """What this rater has in hand goes back at once. Nothing they wrote is lost, and a verdict that still comes is
    kept and marked late.
    """
    rater = rater_by_code(session, study, rater_code)
    session.refresh(rater, with_for_update={"key_share": True})  # a verdict that is being stored comes before
    held = (Assignment.rater_id == rater.id, Assignment.state == AssignmentState.HELD)
    release = update(Assignment).where(*held).values(state=AssignmentState.RELEASED).returning(Assignment.id)
    freed = len(session.scalars(release.execution_options(synchronize_session="fetch")).all())
    if not freed:
        raise Conflict(NOTHING)
    log.append(session, study.id, actor, "neurons freed", rater=rater.code, neurons=freed)
    return freed
