from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, ScalarSelect, Select, and_, exists, func, or_, select
from sqlalchemy.orm import Session, aliased

from app import clock
from app.models import (
    Amendment,
    Assignment,
    AssignmentState,
    Item,
    ItemContent,
    Phase,
    Placement,
    Rater,
    RaterPhase,
    Rating,
    RatingAction,
    Seat,
    Sitting,
    Study,
    StudyState,
    Verdict,
)
from app.rating.assignment import PageState, Standing, page_state, wants_more
from app.rating.day import day_start
from app.rating.sittings import is_over
from app.rating.terms import Terms
from app.settings import Settings

USUAL_CLOCK = (60, 120)
GIVEN_STATES = (AssignmentState.RATED, AssignmentState.SURPLUS)


def given_and_not_undone() -> ColumnElement[bool]:
    """Of a rating: it gave a verdict, and no later version took it back. An assignment has one such rating at most."""
    later = aliased(Rating)
    undone = exists().where(
        later.assignment_id == Rating.assignment_id,
        later.version > Rating.version,
        later.action == RatingAction.WITHDRAWN,
    )
    return and_(Rating.action == RatingAction.GIVEN, ~undone)


@dataclass(frozen=True, kw_only=True)
class GivenVerdict:
    """A verdict as it stands now, for the rater who gave it."""

    code: str
    """The assignment's: what the forms that undo or edit it say."""
    position: int
    """The how-manieth item of this rater, from 1."""
    verdict: Verdict
    hypothesis: str
    at: datetime
    version: int
    """What a form that edits it says, so that a second tab cannot overwrite what it has not seen."""
    edited: bool


@dataclass(frozen=True, kw_only=True)
class RatingPage:
    """Everything the rating page shows."""

    state: PageState
    code: str | None
    """The assignment in hand, for the forms; None where there is no item to show."""
    fragment: bytes
    """The item's HTML, padded; empty where there is no item to show."""
    draft: str
    shown_at: datetime | None
    """Where the soft clock starts."""
    seconds: float
    """Since then, by the server's clock."""
    done: int
    share: int | None
    may_go_on: bool
    """The rater's share is done and there are places beyond it."""
    last_verdict: GivenVerdict | None
    """The one that can be taken back, if any."""
    sent_away: bool
    """An administrator ended the last sitting."""
    paused: bool
    """The rater did."""
    break_after_minutes: int | None
    """A break is offered, after so much work without one; None where none is, or the rater has gone on."""
    clock: tuple[int, int]
    """Seconds after which the soft clock turns, and after which it is full."""


class StudyRecord(NamedTuple):
    """What a rater may keep, to check later that the study's log was not rewritten."""

    log_head: str
    log_lines: int
    seal_root: str
    plan_digest: str
    """Of the plan of the analysis, or of its newest amendment."""


@dataclass(frozen=True)
class _Hand:
    code: str
    draft: str
    shown_at: datetime
    fragment: bytes


def rating_page(session: Session, settings: Settings, rater: Rater) -> RatingPage:
    """What this rater sees at /rate. Only reads."""
    at = clock.now()
    hand = _hand(session, rater)
    sitting = newest_sitting(session, rater)
    standing = standing_of(session, settings, rater, at, sitting=sitting, holds=hand is not None)
    state = page_state(standing)
    rates = standing.open and not standing.gone_on
    shown = hand if state == "item" else None
    return RatingPage(
        state=state,
        code=shown.code if shown else None,
        fragment=shown.fragment if shown else b"",
        draft=shown.draft if shown else "",
        shown_at=shown.shown_at if shown else None,
        seconds=(at - shown.shown_at).total_seconds() if shown else 0.0,
        done=standing.done,
        share=rater.share,
        may_go_on=rates and standing.free and not wants_more(standing.done, rater.share),
        last_verdict=last_verdict(session, rater) if rates else None,
        sent_away=sitting is not None and sitting.ended_by is not None,
        paused=sitting is not None and sitting.paused,
        break_after_minutes=_break_after_minutes(sitting) if shown else None,
        clock=clock_of(design_of(session, rater)) if shown else USUAL_CLOCK,
    )


def standing_of(
    session: Session, settings: Settings, rater: Rater, at: datetime, *, sitting: Sitting | None, holds: bool
) -> Standing:
    study_state = session.scalars(select(Study.state).where(Study.id == rater.study_id)).one()
    return Standing(
        open=study_state is StudyState.OPEN,
        present=sitting is not None and not is_over(sitting.last_seen_at, sitting.ended_at, at, settings.idle),
        holds=holds,
        done=count_done(session, rater),
        share=rater.share,
        free=not holds and is_any_free(session, rater, at),
        may_return=not holds and may_any_return(session, rater),
        gone_on=rater.phase is not RaterPhase.RATING,
        day_full=not holds and day_is_full(session, rater, at),
    )


def _break_after_minutes(sitting: Sitting | None) -> int | None:
    """It is offered by the last sign of life; the next one has gone on."""
    offered = sitting is not None and sitting.break_offered_at == sitting.last_seen_at
    return int(sitting.unrested_seconds // 60) if sitting is not None and offered else None


def holds_any(session: Session, rater: Rater) -> bool:
    mine = and_(Assignment.rater_id == rater.id, Assignment.state == AssignmentState.HELD)
    return session.scalars(select(exists().where(mine))).one()


def wide_fragment(session: Session, rater: Rater, assignment_code: str) -> bytes | None:
    """The item in hand with more context; None when there is no such assignment of this rater."""
    statement = (
        select(ItemContent.wide_fragment)
        .join(Assignment, Assignment.item_id == ItemContent.item_id)
        .where(Assignment.rater_id == rater.id, Assignment.code == assignment_code)
    )
    return session.scalars(statement).one_or_none()


def given_verdicts(session: Session, rater: Rater) -> list[GivenVerdict]:
    """The rater's own verdicts as they stand, the newest first."""
    return [_given(row[0], row[1]) for row in session.execute(standing_verdicts(rater))]


def given_fragment(session: Session, rater: Rater, assignment_code: str) -> tuple[GivenVerdict, bytes] | None:
    """One of the rater's own verdicts with the item it is about, to look at again and to edit."""
    statement = (
        standing_verdicts(rater)
        .add_columns(ItemContent.fragment)
        .join(ItemContent, ItemContent.item_id == Assignment.item_id)
        .where(Assignment.code == assignment_code)
    )
    row = session.execute(statement).one_or_none()
    return (_given(row[0], row[1]), row[2]) if row else None


def last_verdict(session: Session, rater: Rater) -> GivenVerdict | None:
    """The verdict that can be taken back: the last one, while no other is being taken back."""
    in_hand = select(func.count()).where(Assignment.rater_id == rater.id, Assignment.state == AssignmentState.HELD)
    statement = standing_verdicts(rater).where(in_hand.scalar_subquery() < 2).limit(1)
    row = session.execute(statement).one_or_none()
    return _given(row[0], row[1]) if row else None


def newest_sitting(session: Session, rater: Rater) -> Sitting | None:
    statement = (
        select(Sitting).where(Sitting.rater_id == rater.id).order_by(Sitting.started_at.desc(), Sitting.id.desc())
    )
    return session.scalars(statement.limit(1)).one_or_none()


def count_done(session: Session, rater: Rater) -> int:
    mine = and_(Assignment.rater_id == rater.id, Assignment.state.in_(GIVEN_STATES))
    return session.scalars(select(func.count()).select_from(Assignment).where(mine)).one()


def takeable(rater: Rater) -> Select[int]:
    """The items this rater may still be given, in the order of the seat."""
    settled = exists().where(
        Assignment.rater_id == rater.id,
        Assignment.item_id == Placement.item_id,
        Assignment.state != AssignmentState.RELEASED,
    )
    return (
        select(Placement.item_id)
        .join(Seat, Seat.id == Placement.seat_id)
        .join(Item, Item.id == Placement.item_id)
        .where(Seat.rater_id == rater.id, Item.phase == Phase.RATING, ~settled)
        .order_by(Placement.position)
    )


def places_used(at: datetime) -> ColumnElement[int]:
    """How many of an item's places are filled by a verdict or held under a lease that runs."""
    other = aliased(Assignment)
    running = and_(other.state == AssignmentState.HELD, other.leased_until > at)
    count = select(func.count()).where(other.item_id == Item.id, or_(other.state == AssignmentState.RATED, running))
    return count.correlate(Item).scalar_subquery()


def places_filled() -> ColumnElement[int]:
    other = aliased(Assignment)
    count = select(func.count()).where(other.item_id == Item.id, other.state == AssignmentState.RATED)
    return count.correlate(Item).scalar_subquery()


def is_any_free(session: Session, rater: Rater, at: datetime) -> bool:
    return session.scalars(takeable(rater).where(places_used(at) < Item.capacity).limit(1)).first() is not None


def may_any_return(session: Session, rater: Rater) -> bool:
    """Whether an item without all its verdicts is left, free or in other hands."""
    return session.scalars(takeable(rater).where(places_filled() < Item.capacity).limit(1)).first() is not None


def given_since(rater: Rater, since: datetime) -> ScalarSelect[int]:
    """How many verdicts were given and not taken back, also the one that is just being stored."""
    before = exists().where(Rating.assignment_id == Assignment.id, Rating.at < since, given_and_not_undone())
    mine = and_(Assignment.rater_id == rater.id, Assignment.state.in_(GIVEN_STATES))
    return select(func.count()).select_from(Assignment).where(mine, ~before).scalar_subquery()


def day_is_full(session: Session, rater: Rater, at: datetime) -> bool:
    """Whether the study's limit a day is reached. Such a day is everybody's, in UTC: nobody's clock can stretch it."""
    stored = session.scalars(select(Study.terms).where(Study.id == rater.study_id)).one()
    most = Terms.of(stored).most_a_day
    return most is not None and session.scalars(select(given_since(rater, day_start(at)))).one() >= most


def clock_of(design: Mapping[str, Any]) -> tuple[int, int]:
    """As the study's design has it; the first studies did not say it."""
    return int(design.get("clock_seconds", USUAL_CLOCK[0])), int(design.get("clock_end_seconds", USUAL_CLOCK[1]))


def design_of(session: Session, rater: Rater) -> dict[str, Any]:
    design: dict[str, Any] = session.scalars(select(Study.design).where(Study.id == rater.study_id)).one()
    return design


def study_record(session: Session, rater: Rater) -> StudyRecord:
    newest = select(Amendment.plan_digest).where(Amendment.study_id == Study.id).order_by(Amendment.number.desc())
    plan = func.coalesce(newest.limit(1).correlate(Study).scalar_subquery(), Study.plan_digest)
    columns = select(Study.log_head, Study.log_lines, Study.seal_root, plan).where(Study.id == rater.study_id)
    return StudyRecord(*session.execute(columns).one())


def _hand(session: Session, rater: Rater) -> _Hand | None:
    """The item in hand: of those held, the first."""
    statement = (
        select(Assignment.code, Assignment.draft, Assignment.shown_at, ItemContent.fragment)
        .join(ItemContent, ItemContent.item_id == Assignment.item_id)
        .where(Assignment.rater_id == rater.id, Assignment.state == AssignmentState.HELD)
        .order_by(Assignment.position)
        .limit(1)
    )
    row = session.execute(statement).one_or_none()
    return _Hand(*row) if row else None


def standing_verdicts(rater: Rater) -> Select[Assignment, Rating]:
    newest = select(func.max(Rating.version)).where(Rating.assignment_id == Assignment.id).correlate(Assignment)
    return (
        select(Assignment, Rating)
        .join(Rating, and_(Rating.assignment_id == Assignment.id, Rating.version == newest.scalar_subquery()))
        .where(Assignment.rater_id == rater.id, Assignment.state.in_(GIVEN_STATES))
        .order_by(Assignment.position.desc())
    )


def _given(assignment: Assignment, rating: Rating) -> GivenVerdict:
    if rating.verdict is None:
        raise ValueError(f"assignment {assignment.code} counts as rated, but its newest version takes the verdict back")
    return GivenVerdict(
        code=assignment.code,
        position=assignment.position,
        verdict=rating.verdict,
        hypothesis=rating.hypothesis,
        at=rating.at,
        version=rating.version,
        edited=rating.action is RatingAction.EDITED,
    )
