"""Giving a rater something to rate. Each function is one step of a transaction that writes."""

from datetime import datetime

from sqlalchemy import Row, Select, and_, func, or_, select
from sqlalchemy.orm import Session

from app.models import Assignment, AssignmentState, Item, Placement, Rater
from app.rating.assignment import lease_is_over, wants_more
from app.rating.queries import count_done, day_is_full, places_used, takeable
from app.settings import Settings


def keep_in_hand(session: Session, settings: Settings, rater: Rater, at: datetime) -> Assignment | None:
    """The rater's item to go on with: one that is held already, or a new one; None where there is nothing to give."""
    for held in _held(session, rater):
        if not lease_is_over(held.leased_until, at) or place_is_left(session, rater, held.item_id, at, wait=False):
            held.leased_until = at + settings.lease
            return held
        held.state = AssignmentState.RELEASED
    session.flush()
    if not wants_more(count_done(session, rater), rater.share) or day_is_full(session, rater, at):
        return None
    return _claim(session, settings, rater, at)


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
    taken = _take_free_item(session, rater, at)
    if taken is None:
        return None
    # Else it was released, and is taken again.
    assignment = session.get_one(Assignment, taken.assignment_id) if taken.assignment_id else Assignment()
    assignment.rater_id, assignment.item_id = rater.id, taken.item_id
    assignment.position = (taken.last_position or 0) + 1
    assignment.state = AssignmentState.HELD
    assignment.claimed_at = assignment.shown_at = at
    assignment.leased_until = at + settings.lease
    rater.finished_at = None
    session.add(assignment)
    return assignment


def _take_free_item(session: Session, rater: Rater, at: datetime) -> Row[int, int | None, int | None] | None:
    """Lock the first free item in the seat's order: one that nobody is claiming just now, or else any."""
    full: list[int] = []
    for pass_over in (True, False):
        free = _free_items(rater, at).limit(1).with_for_update(of=Item, skip_locked=pass_over, key_share=True)
        while (taken := session.execute(free.where(Item.id.not_in(full))).one_or_none()) is not None:
            # The lock may have been granted after another claim was committed: only a look from behind it is sure.
            if session.scalars(select(places_used(at) < Item.capacity).where(Item.id == taken.item_id)).one():
                return taken
            full.append(taken.item_id)
    return None


def _free_items(rater: Rater, at: datetime) -> Select[int, int | None, int | None]:
    """The items with a free place, each with this rater's released assignment to it, and their last position."""
    mine = select(Assignment.id).where(Assignment.rater_id == rater.id, Assignment.item_id == Placement.item_id)
    last = select(func.max(Assignment.position)).where(Assignment.rater_id == rater.id)
    return (
        takeable(rater)
        .where(places_used(at) < Item.capacity)
        .add_columns(
            mine.correlate(Placement).scalar_subquery().label("assignment_id"),
            last.scalar_subquery().label("last_position"),
        )
    )
