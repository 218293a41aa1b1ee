"""Counts of how raters work, for the flags. A handful of statements, however many raters there are."""

from collections import Counter, defaultdict
from typing import Any

from sqlalchemy import Select, and_, func, select
from sqlalchemy.orm import Session

from app.models import (
    Assignment,
    AssignmentState,
    Item,
    ItemKind,
    Rater,
    Rating,
    Study,
    Verdict,
)
from app.raters.flags import QUICK_SECONDS, Work
from app.rating.statements import GIVEN_STATES, given_and_not_undone


def work_of(session: Session, study: Study) -> dict[int, Work]:
    """By rater: what flags are made of."""
    said: defaultdict[int, Counter[Verdict]] = defaultdict(Counter)
    controls: defaultdict[int, Counter[Verdict]] = defaultdict(Counter)
    for rater_id, kind, verdict, count in session.execute(_said(study)):
        said[rater_id][verdict] += count
        if kind is ItemKind.MIXED:
            controls[rater_id][verdict] += count
    quick = _counted(session, _quick(study))
    skipped = _counted(session, _skipped(study))
    repeats = {row.id: (row.n, row.same) for row in session.execute(_repeats(study))}
    return {
        rater_id: Work(
            verdicts=said[rater_id].total(),
            quick=quick.get(rater_id, 0),
            commonest=max(said[rater_id].values(), default=0),
            skipped=skipped.get(rater_id, 0),
            repeats=repeats.get(rater_id, (0, 0))[0],
            repeats_same=repeats.get(rater_id, (0, 0))[1],
            controls=controls[rater_id].total(),
            controls_yes=controls[rater_id][Verdict.INTERPRETABLE],
        )
        for rater_id in {*said, *skipped}
    }


def _counted(session: Session, statement: Select[int, int]) -> dict[int, int]:
    return {row[0]: row[1] for row in session.execute(statement)}


def _standing(study: Study) -> Select[int, int, int | None, ItemKind, Verdict | None]:
    """A row a verdict as it stands."""
    newest = select(func.max(Rating.version)).where(Rating.assignment_id == Assignment.id).correlate(Assignment)
    return (
        select(Rater.id.label("rater_id"), Item.id.label("item_id"), Item.repeat_of, Item.kind, Rating.verdict)
        .select_from(Assignment)
        .join(Rater, Rater.id == Assignment.rater_id)
        .join(Item, Item.id == Assignment.item_id)
        .join(Rating, and_(Rating.assignment_id == Assignment.id, Rating.version == newest.scalar_subquery()))
        .where(Rater.study_id == study.id, Assignment.state.in_(GIVEN_STATES))
    )


def _said(study: Study) -> Select[Any]:
    each = _standing(study).subquery()
    counted = select(each.c.rater_id, each.c.kind, each.c.verdict, func.count())
    return counted.group_by(each.c.rater_id, each.c.kind, each.c.verdict)


def _quick(study: Study) -> Select[int, int]:
    """First looks only: what was taken back and given again had been read before."""
    return (
        select(Assignment.rater_id, func.count())
        .join(Rater, Rater.id == Assignment.rater_id)
        .join(Rating, and_(Rating.assignment_id == Assignment.id, Rating.version == 1))
        .where(Rater.study_id == study.id, Rating.seconds < QUICK_SECONDS, given_and_not_undone())
        .group_by(Assignment.rater_id)
    )


def _skipped(study: Study) -> Select[int, int]:
    return (
        select(Assignment.rater_id, func.count())
        .join(Rater, Rater.id == Assignment.rater_id)
        .where(Rater.study_id == study.id, Assignment.state == AssignmentState.SKIPPED)
        .group_by(Assignment.rater_id)
    )


def _repeats(study: Study) -> Select[Any]:
    """Both showings of a neuron by one rater, and how often the verdicts agree."""
    first, second = _standing(study).subquery(), _standing(study).subquery()
    same = func.count().filter(first.c.verdict == second.c.verdict)
    return (
        select(second.c.rater_id.label("id"), func.count().label("n"), same.label("same"))
        .join(first, and_(first.c.item_id == second.c.repeat_of, first.c.rater_id == second.c.rater_id))
        .group_by(second.c.rater_id)
    )
