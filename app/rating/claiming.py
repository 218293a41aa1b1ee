"""Giving a rater something to rate. Each function is one step of a transaction that writes."""

from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Select, and_, bindparam, func, insert, select, update
from sqlalchemy.orm import Session

from app.models import Assignment, AssignmentState, Item, Placement, Rater, Sitting, Study
from app.models.base import new_code
from app.rating.assignment import lease_is_over, wants_more
from app.rating.locked import LockedRater, SomeRater, change_rater
from app.rating.queries import day_is_full
from app.rating.sittings import NewestSitting
from app.rating.statements import (
    DONE,
    FREE,
    FREE_OF_SEAT,
    FREE_OF_SEAT_ONWARD,
    FREE_ONWARD,
    RATER,
    SITTING,
    filled_or_held,
    newest_sitting_id,
    places_used,
)
from app.rating.terms import Terms
from app.settings import Settings
from app.store.compiled import Compiled


class Own(NamedTuple):
    """A rater's own assignment: a row, with the names of its model."""

    id: int
    item_id: int
    code: str
    state: AssignmentState
    shown_at: datetime
    leased_until: datetime


class Free(NamedTuple):
    """An item that may be taken."""

    item_id: int
    place: int
    """In the order of the seat."""
    assignment_id: int | None
    """The rater's own to it, where they had it before and lost it."""
    last_position: int | None
    """Of all that the rater has had."""


OWN = tuple(getattr(Assignment, name) for name in Own._fields)
OF_CODE = Compiled(
    select(*OWN, *SITTING)
    .select_from(Assignment)
    .outerjoin(Sitting, Sitting.id == newest_sitting_id())
    .where(Assignment.rater_id == RATER, Assignment.code == bindparam("code"))
)
AT_WORK = Compiled(
    select(Study.terms, DONE.scalar_subquery(), *OWN)
    .select_from(Rater)
    .join(Study, Study.id == Rater.study_id)
    .outerjoin(Assignment, and_(Assignment.rater_id == Rater.id, Assignment.state == AssignmentState.HELD))
    .where(Rater.id == RATER)
    .order_by(Assignment.position)
)
"""What the rater has in hand, a row each, or one row of nothing; and beside it what lets them have more."""
CHANGE = Compiled(update(Assignment).where(Assignment.id == bindparam("assignment")))
ADD = Compiled(insert(Assignment))
CAPACITY = select(Item.capacity).where(Item.id == bindparam("item"))
WAIT_FOR_CAPACITY = Compiled(CAPACITY.with_for_update(key_share=True))
FREE_CAPACITY = Compiled(CAPACITY.with_for_update(key_share=True, skip_locked=True))
"""The same without waiting: no row where somebody else has the item locked."""
OTHERS = Compiled(
    select(func.count())
    .where(Assignment.item_id == bindparam("item"), Assignment.rater_id != RATER)
    .where(filled_or_held(Assignment))
)
HAS_A_PLACE = Compiled(select(places_used() < Item.capacity).where(Item.id == bindparam("item")))
MINE = select(Assignment.id).where(Assignment.rater_id == RATER, Assignment.item_id == Placement.item_id)
LAST_POSITION = select(func.max(Assignment.position)).where(Assignment.rater_id == RATER)


class Look(NamedTuple):
    """Where to look for something to rate: the first item that is not known to be full, to be locked."""

    free: Compiled
    waits: bool
    """For whoever is claiming it just now, to see whether they leave a place; else it is passed over."""


def _look(free: Select[int], *, waits: bool = False) -> Look:
    statement = (
        free.where(Placement.position > bindparam("full"))
        .add_columns(Placement.position, MINE.correlate(Placement).scalar_subquery(), LAST_POSITION.scalar_subquery())
        .with_for_update(of=Item, skip_locked=not waits, key_share=True)
    )
    return Look(Compiled(statement), waits)


DEALT = (_look(FREE_OF_SEAT_ONWARD), _look(FREE_OF_SEAT), _look(FREE_OF_SEAT, waits=True))
"""Where to look first, one after the other: among what was dealt to the seat. Each place is dealt to one seat, so
raters who keep to theirs never take a place that only another could fill, who has judged everything else.
"""
ANY = (_look(FREE_ONWARD), _look(FREE), _look(FREE, waits=True))
"""Where to look when nothing of it is left."""
ANY_OF_SEAT = Compiled(FREE_OF_SEAT)


def own(session: Session, rater: SomeRater, code: str) -> tuple[Own, NewestSitting | None] | None:
    """The rater's assignment of this code, and their newest sitting: what every step asks for."""
    row = OF_CODE.row(session, rater=rater.id, code=code)
    if row is None:
        return None
    assignment, sitting = Own(*row[: len(OWN)]), row[len(OWN) :]
    return assignment, NewestSitting(*sitting) if sitting[0] else None


def change(session: Session, assignment_id: int, **values: AssignmentState | datetime | str) -> None:
    CHANGE.run(session, assignment=assignment_id, **values)


def keep_in_hand(
    session: Session, settings: Settings, rater: LockedRater, at: datetime, *, restart_clock: bool, wait: bool = True
) -> bool:
    """Keep the rater's item to go on with: one that is held already, or a new one. False: there is nothing to give.

    Without `wait`, because an item is locked already, one that somebody else is claiming just now is not given.
    """
    rows = AT_WORK.rows(session, rater=rater.id)
    terms, done = rows[0][:2]
    for held in [Own(*row[2:]) for row in rows if row[2]]:
        if not lease_is_over(held.leased_until, at) or place_is_left(session, rater, held.item_id, at, wait=False):
            shown_at = at if restart_clock else held.shown_at
            change(session, held.id, leased_until=at + settings.lease, shown_at=shown_at)
            return True
        change(session, held.id, state=AssignmentState.RELEASED)
        wait = False
    if not wants_more(done, rater.share) or (Terms.of(terms).most_a_day and day_is_full(session, rater, at)):
        return False
    return _claim(session, settings, rater, at, wait=wait)


def place_is_left(session: Session, rater: SomeRater, item_id: int, at: datetime, *, wait: bool = True) -> bool:
    """Whether the others have left a place on this item, which stays locked until the transaction ends.

    Who holds other items' locks already must not wait for one more: two raters could wait for each other.
    """
    locked = (WAIT_FOR_CAPACITY if wait else FREE_CAPACITY).row(session, item=item_id)
    if locked is None:
        return False
    (others,) = OTHERS.one(session, item=item_id, rater=rater.id, at=at)
    return bool(others < locked[0])


def _claim(session: Session, settings: Settings, rater: LockedRater, at: datetime, *, wait: bool) -> bool:
    taken = _take_free_item(session, rater, at, wait=wait)
    if taken is None:
        return False
    values = {
        "position": (taken.last_position or 0) + 1, "state": AssignmentState.HELD, "claimed_at": at, "shown_at": at,
        "leased_until": at + settings.lease,
    }  # fmt: skip
    if taken.assignment_id:  # it was released, and is taken again
        CHANGE.run(session, assignment=taken.assignment_id, **values)
    else:
        ADD.run(session, code=new_code(), rater_id=rater.id, item_id=taken.item_id, draft="", **values)
    if rater.finished_at is not None:
        change_rater(session, rater, finished_at=None)
    return True


def _take_free_item(session: Session, rater: LockedRater, at: datetime, *, wait: bool) -> Free | None:
    """Lock the next free item in the seat's order, or else the first: of what was dealt to the seat, or else of all."""
    for look in ANY if rater.share is None else DEALT + ANY:
        if look.waits and not wait:
            if ANY_OF_SEAT.row(session, rater=rater.id, at=at) is not None:
                return None  # rather nothing now than what was dealt to somebody else
            continue
        full = 0  # the last place in the order whose item turned out to be full
        while row := look.free.row(session, rater=rater.id, at=at, full=full):
            taken = Free(*row)
            # The lock may have been granted after another claim was committed: only a look from behind it is sure.
            if HAS_A_PLACE.one(session, item=taken.item_id, at=at)[0]:
                return taken
            full = taken.place
    return None
