"""What rating asks the database at every step, built once: building a statement costs more than running it.

`:rater` is the rater's id, `:at` the moment of the request.
"""

from collections.abc import Iterable
from typing import Any

from sqlalchemy import ColumnElement, Integer, ScalarSelect, Select, and_, bindparam, exists, func, literal, or_, select
from sqlalchemy.orm import aliased

from app.models import (
    Assignment,
    AssignmentState,
    Item,
    ItemContent,
    Phase,
    Placement,
    Rater,
    Rating,
    RatingAction,
    Seat,
    Sitting,
    Study,
)
from app.models.base import UtcDateTime
from app.rating.sittings import NewestSitting
from app.store.compiled import Compiled

GIVEN_STATES = (AssignmentState.RATED, AssignmentState.SURPLUS)
UNGIVEN_STATES = tuple(state for state in AssignmentState if state not in GIVEN_STATES)
RATER = bindparam("rater", type_=Integer())
AT = bindparam("at", type_=UtcDateTime())
SINCE = bindparam("since", type_=UtcDateTime())
SITTING = tuple(getattr(Sitting, name) for name in NewestSitting._fields)


def among(state: Any, states: Iterable[AssignmentState]) -> ColumnElement[bool]:
    """Each state has its own place in the statement: a list of open length could not be compiled once."""
    condition: ColumnElement[bool] = state.in_([literal(one, state.type) for one in states])
    return condition


def newest_sitting_id() -> ScalarSelect[int]:
    stay = select(Sitting.id).where(Sitting.rater_id == RATER)
    return stay.order_by(Sitting.started_at.desc(), Sitting.id.desc()).limit(1).scalar_subquery()


NEWEST_SITTING = Compiled(select(*SITTING).where(Sitting.id == newest_sitting_id()))
SEAT = select(Seat.id).where(Seat.rater_id == RATER).scalar_subquery()
DONE = select(func.count()).where(Assignment.rater_id == RATER, among(Assignment.state, GIVEN_STATES))
IN_HAND = select(func.count()).where(Assignment.rater_id == RATER, Assignment.state == AssignmentState.HELD)


def given_and_not_undone() -> ColumnElement[bool]:
    """Of a rating: it gave a verdict, and no later version took it back. An assignment has one such rating at most."""
    later = aliased(Rating)
    undone = exists().where(
        later.assignment_id == Rating.assignment_id,
        later.version > Rating.version,
        later.action == RatingAction.WITHDRAWN,
    )
    return and_(Rating.action == RatingAction.GIVEN, ~undone)


def _given_since() -> Select[int]:
    """How many verdicts were given since `:since` and not taken back, also the one that is just being stored."""
    before = exists().where(Rating.assignment_id == Assignment.id, Rating.at < SINCE, given_and_not_undone())
    mine = and_(Assignment.rater_id == RATER, among(Assignment.state, GIVEN_STATES))
    # What was claimed since then was not given before: most need no look at their versions.
    return select(func.count()).select_from(Assignment).where(mine, or_(Assignment.claimed_at >= SINCE, ~before))


GIVEN_SINCE = _given_since()
TODAY = Compiled(
    select(Study.terms, GIVEN_SINCE.scalar_subquery()).join(Rater, Rater.study_id == Study.id).where(Rater.id == RATER)
)
"""The terms of the rater's study, and how many verdicts they have given since `:since`."""


def filled_or_held(assignment: type[Assignment]) -> ColumnElement[bool]:
    """It takes one of its item's places: by a verdict, or under a lease that runs."""
    running = and_(assignment.state == AssignmentState.HELD, assignment.leased_until > AT)
    return or_(assignment.state == AssignmentState.RATED, running)


def places_used() -> ColumnElement[int]:
    """How many of an item's places are filled by a verdict or held under a lease that runs."""
    other = aliased(Assignment)
    count = select(func.count()).where(other.item_id == Item.id, filled_or_held(other))
    return count.correlate(Item).scalar_subquery()


def places_filled() -> ColumnElement[int]:
    other = aliased(Assignment)
    count = select(func.count()).where(other.item_id == Item.id, other.state == AssignmentState.RATED)
    return count.correlate(Item).scalar_subquery()


def _takeable() -> Select[int]:
    own = select(Assignment.state).where(Assignment.rater_id == RATER, Assignment.item_id == Placement.item_id)
    # The seat and what the rater had of an item are asked for one at a time, not joined: so PostgreSQL goes through
    # the seat's order until it has found one, instead of trying all items first.
    had = func.coalesce(own.correlate(Placement).scalar_subquery(), AssignmentState.RELEASED)
    return (
        select(Placement.item_id)
        .join(Item, Item.id == Placement.item_id)
        .where(Placement.seat_id == SEAT, Item.phase == Phase.RATING, had == AssignmentState.RELEASED)
        .order_by(Placement.position)
        .limit(1)
    )


def _where_they_are() -> ScalarSelect[int]:
    """The place in the seat's order of the item that the rater was given last."""
    last = aliased(Placement)
    return (
        select(last.position)
        .join(Assignment, Assignment.item_id == last.item_id)
        .where(last.seat_id == SEAT, Assignment.rater_id == RATER)
        .order_by(Assignment.position.desc())
        .limit(1)
        .scalar_subquery()
    )


TAKEABLE = _takeable()
"""The first item that this rater may still be given, in the order of the seat."""
FREE = TAKEABLE.where(places_used() < Item.capacity)
FREE_ONWARD = FREE.where(Placement.position > func.coalesce(_where_they_are(), 0))
"""The next one from where they are: it passes over what they have had without looking at it, however much that is."""
OF_SEAT = Placement.position <= select(Seat.share).where(Seat.rater_id == RATER).scalar_subquery()
FREE_OF_SEAT, FREE_OF_SEAT_ONWARD = FREE.where(OF_SEAT), FREE_ONWARD.where(OF_SEAT)
"""The same among the items that were dealt to the seat."""
UNFILLED = Compiled(TAKEABLE.where(places_filled() < Item.capacity))
"""It has not all its verdicts; it may be in other hands."""


def _page() -> Select[*tuple[Any, ...]]:
    hand, last, newest = aliased(Assignment), aliased(Assignment), aliased(Rating)
    held = select(Assignment.id).where(Assignment.rater_id == RATER, Assignment.state == AssignmentState.HELD)
    # Said so that SQLite goes back through the positions instead of sorting all that were ever given.
    given = select(Assignment.id).where(Assignment.rater_id == RATER, ~among(Assignment.state, UNGIVEN_STATES))
    version = select(func.max(Rating.version)).where(Rating.assignment_id == last.id).correlate(last)
    first_held = held.order_by(Assignment.position).limit(1).scalar_subquery()
    last_given = given.order_by(Assignment.position.desc()).limit(1).scalar_subquery()
    return (
        select(
            Study.state.label("study_state"), Study.design, DONE.scalar_subquery().label("done"),
            IN_HAND.scalar_subquery().label("in_hand"),
            Study.terms, GIVEN_SINCE.scalar_subquery().label("today"),
            hand.code, hand.draft, hand.shown_at, ItemContent.fragment,
            last.code, last.position, newest.verdict, newest.hypothesis, newest.at, newest.version, newest.action,
            *SITTING,
        )
        .select_from(Rater)
        .join(Study, Study.id == Rater.study_id)
        .outerjoin(hand, hand.id == first_held)
        .outerjoin(ItemContent, ItemContent.item_id == hand.item_id)
        .outerjoin(Sitting, Sitting.id == newest_sitting_id())
        .outerjoin(last, last.id == last_given)
        .outerjoin(newest, and_(newest.assignment_id == last.id, newest.version == version.scalar_subquery()))
        .where(Rater.id == RATER)
    )  # fmt: skip


PAGE = Compiled(_page())
"""Everything that the rating page shows of a rater with an item in hand: of those held the first. `:since` as above."""
