"""Reads for administrators. Before unblinding a study is one pool: nothing here joins an item to an arm."""

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any, TypeVar

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session, selectinload

from app import clock
from app.errors import NotFound
from app.models import (
    Assignment,
    AssignmentState,
    Item,
    Phase,
    Rater,
    Rating,
    Seat,
    Sitting,
    Study,
)
from app.rating.statements import given_and_not_undone
from app.settings import Settings
from app.studies.seal import digest

DAYS = 14
FARTHEST_DAYS = 36_500
"""What takes a century at the present pace is never done; a few thousand years on there is no date any more."""
Selected = TypeVar("Selected", bound=Select[*tuple[Any, ...]])


@dataclass(frozen=True, kw_only=True)
class Progress:
    """How far a study is, pooled."""

    done: int
    wanted: int
    at_work: int
    """Raters with a sign of life within the idle time."""
    joined: int
    seats: int
    median_seconds: float | None
    today: int
    days: list[tuple[date, int]]
    """Verdicts of each of the last days, oldest first."""
    finished_on: date | None
    """When it will be done at the pace of these days."""
    first_verdict_at: datetime | None


@dataclass(frozen=True, kw_only=True)
class Listed:
    """A study in the list of studies."""

    study: Study
    done: int
    wanted: int


def find_study(session: Session, code: str) -> Study:
    """The study with its arms, as a list of what is compared; no item is reached from them."""
    study = session.scalars(select(Study).where(Study.code == code).options(selectinload(Study.arms))).one_or_none()
    if study is None:
        raise NotFound
    return study


def locked_study(session: Session, code: str) -> Study:
    """The study, held against everything that would change it in the meantime."""
    study = session.scalars(select(Study).where(Study.code == code).with_for_update()).one_or_none()
    if study is None:
        raise NotFound
    return study


def list_studies(session: Session) -> list[Listed]:
    """All studies, the newest first."""
    wanted = select(func.sum(Seat.share)).where(Seat.study_id == Study.id).correlate(Study).scalar_subquery()
    done = _count_assignments(AssignmentState.RATED).where(Rater.study_id == Study.id).correlate(Study)
    statement = select(Study, done.scalar_subquery(), wanted).order_by(Study.id.desc())
    return [Listed(study=study, done=done, wanted=wanted) for study, done, wanted in session.execute(statement)]


def progress(session: Session, settings: Settings, study: Study) -> Progress:
    at = clock.now()
    done, wanted = count_verdicts(session, study), count_wanted(session, study)
    days = _days(session, study, at)
    return Progress(
        done=done,
        wanted=wanted,
        at_work=_at_work(session, study, at - timedelta(minutes=settings.idle_minutes)),
        joined=session.scalars(_count_seats(study).where(Seat.rater_id.is_not(None))).one(),
        seats=session.scalars(_count_seats(study)).one(),
        median_seconds=_median_seconds(session, study),
        today=days[-1][1],
        days=days,
        finished_on=finished_on(wanted - done, days),
        first_verdict_at=first_verdict_at(session, study),
    )


def finished_on(missing: int, days: list[tuple[date, int]]) -> date | None:
    """The day the last verdict comes at the mean pace since the first day with any; None where it never does."""
    begun = next((number for number, (_, count) in enumerate(days) if count), None)
    if missing <= 0 or begun is None:
        return None
    left = -(-missing * (len(days) - begun) // sum(count for _, count in days))
    return days[-1][0] + timedelta(days=left) if left <= FARTHEST_DAYS else None


def count_wanted(session: Session, study: Study) -> int:
    """Every place of every item, which are the shares of the seats: a few rows, however large the study."""
    return session.scalars(select(func.sum(Seat.share)).where(Seat.study_id == study.id)).one() or 0


def count_verdicts(session: Session, study: Study) -> int:
    """Places that are filled; verdicts beyond an item's places are kept and not counted."""
    return session.scalars(_count_assignments(AssignmentState.RATED).where(Rater.study_id == study.id)).one()


def count_held(session: Session, study: Study) -> int:
    return session.scalars(_count_assignments(AssignmentState.HELD).where(Rater.study_id == study.id)).one()


def first_verdict_at(session: Session, study: Study) -> datetime | None:
    return session.scalars(_of_study(select(func.min(Rating.at)), study)).one()


def verdicts_digest(session: Session, study: Study) -> str:
    """SHA-256 over every version of every verdict. Texts stay out, so that one can be withdrawn."""
    columns = select(Assignment.code, Rating.version, Rating.action, Rating.verdict, Rating.at)
    statement = _of_study(columns, study).order_by(Assignment.code, Rating.version)
    return digest(
        [
            [code, version, action, verdict, at.isoformat()]
            for code, version, action, verdict, at in session.execute(statement)
        ]
    )


def _of_study(statement: Selected, study: Study) -> Selected:
    """Ratings of a study, found by its raters: of them there are few, of items there may be many."""
    return (
        statement.select_from(Rating)
        .join(Assignment, Assignment.id == Rating.assignment_id)
        .join(Rater, Rater.id == Assignment.rater_id)
        .where(Rater.study_id == study.id)
    )


def _count_assignments(state: AssignmentState) -> Select[int]:
    return (
        select(func.count())
        .select_from(Assignment)
        .join(Rater, Rater.id == Assignment.rater_id)
        .join(Item, Item.id == Assignment.item_id)
        .where(Item.phase == Phase.RATING, Assignment.state == state)
    )


def _count_seats(study: Study) -> Select[int]:
    return select(func.count()).select_from(Seat).where(Seat.study_id == study.id)


def _at_work(session: Session, study: Study, since: datetime) -> int:
    statement = (
        select(func.count(func.distinct(Sitting.rater_id)))
        .join(Rater, Rater.id == Sitting.rater_id)
        .where(Rater.study_id == study.id, Sitting.ended_at.is_(None), Sitting.last_seen_at >= since)
    )
    return session.scalars(statement).one()


def _median_seconds(session: Session, study: Study) -> float | None:
    given = _of_study(select(Rating.seconds), study).where(given_and_not_undone()).subquery()
    count = session.scalars(select(func.count()).select_from(given)).one()
    if count == 0:
        return None
    middle = select(given.c.seconds).order_by(given.c.seconds).offset((count - 1) // 2).limit(2 - count % 2)
    median: float = session.scalars(select(func.avg(middle.subquery().c.seconds))).one()
    return median


def _days(session: Session, study: Study, at: datetime) -> list[tuple[date, int]]:
    """Counted by the database, which has the verdicts: there may be a million of them."""
    days = [at.date() - timedelta(days=back) for back in reversed(range(DAYS))]
    begins = [datetime.combine(day, time.min, at.tzinfo) for day in days]
    counts = [func.count().filter(Rating.at >= one, Rating.at < one + timedelta(days=1)) for one in begins]
    given = _of_study(select(*counts), study).where(given_and_not_undone(), Rating.at >= begins[0])
    return list(zip(days, session.execute(given).one(), strict=True))
