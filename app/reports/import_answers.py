"""Answers of practice, the hypothesis check and guesses, brought back to the raters and items they are of."""

from collections.abc import Callable
from typing import Any, TypeVar

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.errors import Conflict, Invalid
from app.models import Arm, CheckAnswer, Guess, Item, PracticeAnswer, Rater, Study, Verdict
from app.phases.actions import UNKNOWN
from app.reports.import_codes import choice_of, id_of, ids_of
from app.reports.reading import Cells, refuse_empty

Answer = TypeVar("Answer", PracticeAnswer, CheckAnswer, Guess)
Tables = dict[str, list[Cells]]


def import_answers(session: Session, study: Study, tables: Tables) -> int:
    """How many answers were brought back. Raises Conflict where the study has others already."""
    conditions = set(session.scalars(select(Arm.condition).where(Arm.study_id == study.id)))
    return (
        _bring(session, study, "practice", tables, PracticeAnswer, _practised)
        + _bring(session, study, "checks", tables, CheckAnswer, _checked)
        + _bring(session, study, "guesses", tables, Guess, lambda row: _guessed(row, conditions))
    )


def _bring(
    session: Session,
    study: Study,
    name: str,
    tables: Tables,
    of: type[Answer],
    said: Callable[[Cells], dict[str, Any]],
) -> int:
    rows = tables.get(name, [])
    refuse_empty(rows, ("rater", "item", "at", "seconds"), name)
    raters, items = ids_of(session, Rater, study), ids_of(session, Item, study)
    mine = select(of).where(of.rater_id.in_(raters.values()))
    known = {(one.rater_id, one.item_id): one for one in session.scalars(mine)}
    new = 0
    for row in rows:
        who, what = id_of(raters, row["rater"], "rater"), id_of(items, row["item"], "item")
        values = {"at": row["at"], "seconds": row["seconds"], **said(row)}
        if (who, what) not in known:
            session.add(of(rater_id=who, item_id=what, **values))
            new += 1
        elif any(getattr(known[who, what], name) != value for name, value in values.items()):
            raise Conflict(f"Rater {row['rater']} has another answer on item {row['item']} than the one in the export.")
    session.flush()
    return new


def _practised(row: Cells) -> dict[str, Any]:
    verdict = choice_of(Verdict, row["verdict"], "practice")
    return {"verdict": verdict, "hypothesis": row["hypothesis"] or "", "read_at": row["read_at"]}


def _checked(row: Cells) -> dict[str, Any]:
    try:
        return {"fires": [int(number) for number in (row["fires"] or "").split()]}
    except ValueError:
        raise Invalid(f"checks: the column “fires” holds {row['fires']!r}, which is no list of numbers.") from None


def _guessed(row: Cells, conditions: set[str]) -> dict[str, Any]:
    if row["guess"] not in (UNKNOWN, *conditions):
        raise Invalid(f"guesses: {row['guess']!r} is none of {', '.join(sorted(conditions))} or {UNKNOWN}.")
    return {"condition": None if row["guess"] == UNKNOWN else row["guess"]}
