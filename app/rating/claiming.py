"""Giving a rater something to rate. Each function is one step of a transaction that writes."""

from datetime import datetime

from sqlalchemy import and_, func, or_, select
from sqlalchemy.orm import Session

from app.models import Assignment, AssignmentState, Item, Rater
from app.rating.assignment import lease_is_over, wants_more
from app.rating.queries import count_done, places_used, takeable
from app.settings import Settings


def keep_in_hand(session: Session, settings: Settings, rater: Rater, at: datetime) -> Assignment | None:
    """The rater's item to go on with: one that is held already, or a new one; None where there is nothing to give."""
    for held in _held(session, rater):
        if not lease_is_over(held.leased_until, at) or place_is_left(session, rater, held.item_id, at, wait=False):
            held.leased_until = at + settings.lease
            return held
        held.state = AssignmentState.RELEASED
    session.flush()
    return _claim(session, settings, rater, at) if wants_more(count_done(session, rater), rater.share) else None


def place_is_left(session: Session, rater: Rater, item_id: int, at: datetime, *, wait: bool = True) -> bool:
    """Whether the others have left a place on this item, which stays locked until the transaction ends.

    Who holds other items' locks already must not wait for one more: two raters could wait for each other.
    """
    lock = select(Item.capacity).where(Item.id == item_id).with_for_update(key_share=True, skip_locked=not wait)
    capacity = session.scalars(lock).one_or_none()
    running = and_(Assignment.state == AssignmentState.HELD, Assignment.leased_until > at)
    used = (
        select(func.count())
        .where(Assignment.item_id == item_id, Assignment.rater_id != rater.id)
        .where(or_(Assignment.state == AssignmentState.RATED, running))
    )
    return capacity is not None and session.scalars(used).one() < capacity


def _held(session: Session, rater: Rater) -> list[Assignment]:
    mine = and_(Assignment.rater_id == rater.id, Assignment.state == AssignmentState.HELD)
    return list(session.scalars(select(Assignment).where(mine).order_by(Assignment.position)))


def _claim(session: Session, settings: Settings, rater: Rater, at: datetime) -> Assignment | None:
    item_id = _take_free_item(session, rater, at)
    if item_id is None:
        return None
    last = session.scalars(select(func.max(Assignment.position)).where(Assignment.rater_id == rater.id)).one() or 0
    mine = and_(Assignment.rater_id == rater.id, Assignment.item_id == item_id)
    assignment = session.scalars(select(Assignment).where(mine)).one_or_none()
    if assignment is None:  # else it was released, and is taken again
        assignment = Assignment(rater_id=rater.id, item_id=item_id)
    assignment.position = last + 1
    assignment.state = AssignmentState.HELD
    assignment.claimed_at = assignment.shown_at = at
    assignment.leased_until = at + settings.lease
    rater.finished_at = None
    session.add(assignment)
    return assignment


def _take_free_item(session: Session, rater: Rater, at: datetime) -> int | None:
    """Lock the first free item in the seat's order: one that nobody is claiming just now, or else any."""
    full: list[int] = []
    for pass_over in (True, False):
        free = takeable(rater).where(places_used(at) < Item.capacity).limit(1)
        free = free.with_for_update(of=Item, skip_locked=pass_over, key_share=True)
        while (item_id := session.scalars(free.where(Item.id.not_in(full))).one_or_none()) is not None:
            # The lock may have been granted after another claim was committed: only a look from behind it is sure.
            if place_is_left(session, rater, item_id, at):
                return item_id
            full.append(item_id)
    return None
