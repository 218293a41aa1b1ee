from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Select, and_, exists, func, select
from sqlalchemy.orm import Session

from app import clock
from app.models import (
    Amendment,
    Assignment,
    AssignmentState,
    ItemContent,
    RaterPhase,
    Rating,
    RatingAction,
    Study,
    StudyState,
    Verdict,
)
from app.rating.assignment import PageState, Standing, page_state, wants_more
from app.rating.day import day_start
from app.rating.locked import SomeRater
from app.rating.sittings import NewestSitting, is_over
from app.rating.statements import DONE, FREE, GIVEN_STATES, IN_HAND, NEWEST_SITTING, PAGE, TODAY, UNFILLED
from app.rating.terms import Terms
from app.settings import Settings
from app.store.compiled import Compiled

USUAL_CLOCK = (60, 120)
COUNT_DONE, ANY_FREE = Compiled(DONE), Compiled(FREE)


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


class Today(NamedTuple):
    """A rater's day so far."""

    done: int
    """Verdicts given since midnight on the rater's clock and not taken back."""
    goal: int | None


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
    today: Today


class StudyRecord(NamedTuple):
    """What a rater may keep, to check later that the study's log was not rewritten."""

    log_head: str
    log_lines: int
    seal_root: str
    plan_digest: str
    """Of the plan of the analysis, or of its newest amendment."""


class Hand(NamedTuple):
    """The item in hand; nothing where there is none."""

    code: str | None = None
    draft: str | None = None
    shown_at: datetime | None = None
    fragment: bytes | None = None


class Last(NamedTuple):
    """A verdict as it stands, in columns."""

    code: str
    position: int
    verdict: Verdict | None
    hypothesis: str
    at: datetime
    version: int
    action: RatingAction


def rating_page(session: Session, settings: Settings, rater: SomeRater, minutes_east: int = 0) -> RatingPage:
    """What this rater sees at /rate, whose clock is so far ahead of UTC. Only reads."""
    at = clock.now()
    row = PAGE.one(session, rater=rater.id, since=day_start(at, minutes_east))
    study_state, design, done, in_hand, terms, today = row[:6]
    hand, last = Hand(*row[6:10]), Last(*row[10:17])
    sitting = NewestSitting(*row[17:]) if row[17] else None
    standing = _standing(
        session, settings, rater, at,
        study_state=study_state, sitting=sitting, holds=hand.code is not None, done=done,
    )  # fmt: skip
    state = page_state(standing)
    shown = hand if state == "item" else Hand()
    rates = standing.open and not standing.gone_on
    return RatingPage(
        state=state,
        code=shown.code,
        fragment=shown.fragment or b"",
        draft=shown.draft or "",
        shown_at=shown.shown_at,
        # Never less than nothing: somebody may have set the server's clock back.
        seconds=max(0.0, (at - shown.shown_at).total_seconds()) if shown.shown_at else 0.0,
        done=standing.done,
        share=rater.share,
        may_go_on=rates and standing.free and not wants_more(standing.done, rater.share),
        last_verdict=_given(last) if rates and last.code and in_hand < 2 else None,
        sent_away=sitting is not None and sitting.ended_by is not None,
        paused=sitting is not None and sitting.paused,
        break_after_minutes=_break_after_minutes(sitting) if shown.code else None,
        clock=clock_of(design) if shown.code else USUAL_CLOCK,
        today=Today(today, Terms.of(terms).day_goal),
    )


def standing_of(session: Session, settings: Settings, rater: SomeRater, at: datetime) -> Standing:
    study_state = session.scalars(select(Study.state).where(Study.id == rater.study_id)).one()
    return _standing(
        session, settings, rater, at, study_state=study_state, sitting=newest_sitting(session, rater),
        holds=holds_any(session, rater), done=count_done(session, rater),
    )  # fmt: skip


def _standing(
    session: Session,
    settings: Settings,
    rater: SomeRater,
    at: datetime,
    *,
    study_state: StudyState,
    sitting: NewestSitting | None,
    holds: bool,
    done: int,
) -> Standing:
    return Standing(
        open=study_state is StudyState.OPEN,
        present=sitting is not None and not is_over(sitting.last_seen_at, sitting.ended_at, at, settings.idle),
        holds=holds,
        done=done,
        share=rater.share,
        free=not holds and is_any_free(session, rater, at),
        may_return=not holds and may_any_return(session, rater),
        gone_on=rater.phase is not RaterPhase.RATING,
        day_full=not holds and day_is_full(session, rater, at),
    )


def _break_after_minutes(sitting: NewestSitting | None) -> int | None:
    """It is offered by the last sign of life; the next one has gone on."""
    offered = sitting is not None and sitting.break_offered_at == sitting.last_seen_at
    return int(sitting.unrested_seconds // 60) if sitting is not None and offered else None


def holds_any(session: Session, rater: SomeRater) -> bool:
    mine = and_(Assignment.rater_id == rater.id, Assignment.state == AssignmentState.HELD)
    return session.scalars(select(exists().where(mine))).one()


def wide_fragment(session: Session, rater: SomeRater, assignment_code: str) -> bytes | None:
    """The item in hand with more context; None when there is no such assignment of this rater."""
    statement = (
        select(ItemContent.wide_fragment)
        .join(Assignment, Assignment.item_id == ItemContent.item_id)
        .where(Assignment.rater_id == rater.id, Assignment.code == assignment_code)
    )
    return session.scalars(statement).one_or_none()


def given_verdicts(session: Session, rater: SomeRater) -> list[GivenVerdict]:
    """The rater's own verdicts as they stand, the newest first."""
    return [_given(_parts(*row)) for row in session.execute(standing_verdicts(rater))]


def given_fragment(session: Session, rater: SomeRater, assignment_code: str) -> tuple[GivenVerdict, bytes] | None:
    """One of the rater's own verdicts with the item it is about, to look at again and to edit."""
    statement = (
        standing_verdicts(rater)
        .add_columns(ItemContent.fragment)
        .join(ItemContent, ItemContent.item_id == Assignment.item_id)
        .where(Assignment.code == assignment_code)
    )
    row = session.execute(statement).one_or_none()
    return (_given(_parts(row[0], row[1])), row[2]) if row else None


def last_verdict(session: Session, rater: SomeRater) -> GivenVerdict | None:
    """The verdict that can be taken back: the last one, while no other is being taken back."""
    statement = standing_verdicts(rater).where(IN_HAND.scalar_subquery() < 2).limit(1)
    row = session.execute(statement, {"rater": rater.id}).one_or_none()
    return _given(_parts(*row)) if row else None


def newest_sitting(session: Session, rater: SomeRater) -> NewestSitting | None:
    row = NEWEST_SITTING.row(session, rater=rater.id)
    return NewestSitting(*row) if row else None


def count_done(session: Session, rater: SomeRater) -> int:
    done: int = COUNT_DONE.one(session, rater=rater.id)[0]
    return done


def is_any_free(session: Session, rater: SomeRater, at: datetime) -> bool:
    return ANY_FREE.row(session, rater=rater.id, at=at) is not None


def may_any_return(session: Session, rater: SomeRater) -> bool:
    """Whether an item without all its verdicts is left, free or in other hands."""
    return UNFILLED.row(session, rater=rater.id) is not None


def day_is_full(session: Session, rater: SomeRater, at: datetime) -> bool:
    """Whether the study's limit a day is reached. Such a day is everybody's, in UTC: nobody's clock can stretch it."""
    stored, given = TODAY.one(session, rater=rater.id, since=day_start(at))
    most = Terms.of(stored).most_a_day
    return most is not None and given >= most


def clock_of(design: Mapping[str, Any]) -> tuple[int, int]:
    """As the study's design has it; the first studies did not say it."""
    return int(design.get("clock_seconds", USUAL_CLOCK[0])), int(design.get("clock_end_seconds", USUAL_CLOCK[1]))


def design_of(session: Session, rater: SomeRater) -> dict[str, Any]:
    design: dict[str, Any] = session.scalars(select(Study.design).where(Study.id == rater.study_id)).one()
    return design


def study_record(session: Session, rater: SomeRater) -> StudyRecord:
    newest = select(Amendment.plan_digest).where(Amendment.study_id == Study.id).order_by(Amendment.number.desc())
    plan = func.coalesce(newest.limit(1).correlate(Study).scalar_subquery(), Study.plan_digest)
    columns = select(Study.log_head, Study.log_lines, Study.seal_root, plan).where(Study.id == rater.study_id)
    return StudyRecord(*session.execute(columns).one())


def standing_verdicts(rater: SomeRater) -> Select[Assignment, Rating]:
    newest = select(func.max(Rating.version)).where(Rating.assignment_id == Assignment.id).correlate(Assignment)
    return (
        select(Assignment, Rating)
        .join(Rating, and_(Rating.assignment_id == Assignment.id, Rating.version == newest.scalar_subquery()))
        .where(Assignment.rater_id == rater.id, Assignment.state.in_(GIVEN_STATES))
        .order_by(Assignment.position.desc())
    )


def _parts(assignment: Assignment, rating: Rating) -> Last:
    return Last(
        assignment.code,
        assignment.position,
        rating.verdict,
        rating.hypothesis,
        rating.at,
        rating.version,
        rating.action,
    )


def _given(last: Last) -> GivenVerdict:
    if last.verdict is None:
        raise ValueError(f"assignment {last.code} counts as rated, but its newest version takes the verdict back")
    return GivenVerdict(
        code=last.code,
        position=last.position,
        verdict=last.verdict,
        hypothesis=last.hypothesis,
        at=last.at,
        version=last.version,
        edited=last.action is RatingAction.EDITED,
    )
