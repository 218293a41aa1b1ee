"""The verdicts that stand, and the order of the raters who gave them."""

from sqlalchemy import ColumnElement, Select, Subquery, func, select
from sqlalchemy.orm import Session

from app.models import Assignment, Rater, Rating, RatingAction, Seat, Study


def last_versions(study: Study) -> Subquery:
    """The number of the last version of every assignment of the study."""
    newest = func.max(Rating.version).label("version")
    return (
        select(Rating.assignment_id, newest)
        .join(Assignment, Assignment.id == Rating.assignment_id)
        .join(Rater, Rater.id == Assignment.rater_id)
        .where(Rater.study_id == study.id)
        .group_by(Rating.assignment_id)
        .subquery()
    )


def standing(study: Study) -> Select[Rating, Assignment]:
    """The verdicts of the study that stand: last versions that are no withdrawal."""
    last = last_versions(study)
    return (
        select(Rating, Assignment)
        .join(last, (last.c.assignment_id == Rating.assignment_id) & (last.c.version == Rating.version))
        .join(Assignment, Assignment.id == Rating.assignment_id)
        .where(Rating.action != RatingAction.WITHDRAWN)
    )


def standing_by(column: ColumnElement[int], study: Study) -> Subquery:
    """How many verdicts of the study stand, by item or by rater."""
    found = standing(study).with_only_columns(column.label("id"), func.count().label("n"))
    return found.group_by(column).subquery()


def raters_in_order(session: Session, study: Study) -> list[tuple[Rater, int | None]]:
    """The raters with the numbers of their seats, in the order that gives them their letters."""
    statement = select(Rater, Seat.number).outerjoin(Seat, Seat.rater_id == Rater.id).where(Rater.study_id == study.id)
    found = [(rater, seat) for rater, seat in session.execute(statement)]
    return sorted(found, key=lambda one: (one[1] is None, one[1] or 0, one[0].id))
