"""The raters and the sittings of an export, brought back with their codes, times and seats."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.errors import Conflict, Invalid
from app.models import Rater, RaterKind, RaterPhase, Seat, Sitting, Study
from app.reports.import_codes import choice_of, id_of, ids_of
from app.reports.reading import Cells, refuse_empty

RATER_TIMES = ("created_at", "consented_at", "trained_at", "finished_at", "deactivated_at", "withdrawn_at")


def import_raters(session: Session, study: Study, rows: list[Cells]) -> int:
    """How many raters were brought back, each on the seat they had."""
    refuse_empty(rows, ("rater", "name", "kind", "created_at", "consented_at"), "raters")
    known = ids_of(session, Rater, study)
    new = [row for row in rows if row["rater"] not in known]
    for row in new:
        rater = Rater(
            study_id=study.id, code=row["rater"], name=row["name"], share=row["share"],
            kind=choice_of(RaterKind, row["kind"], "raters"), **{name: row[name] for name in RATER_TIMES},
            phase=choice_of(RaterPhase, row["phase"], "raters") if row.get("phase") else RaterPhase.RATING,
        )  # fmt: skip
        _refuse_double(session, study, rater)
        session.add(rater)
        session.flush()
        if row["seat"] is not None:
            _take_seat(session, study, rater, row["seat"])
    return len(new)


def _refuse_double(session: Session, study: Study, rater: Rater) -> None:
    named = select(Rater.id).where(Rater.study_id == study.id, Rater.name == rater.name)
    if session.scalars(named).first() is not None:
        raise Conflict(f"There is another rater named “{rater.name}” in the study “{study.name}”.")
    if session.scalars(select(Rater.id).where(Rater.code == rater.code)).first() is not None:
        raise Conflict(f"The rater {rater.code} is in another study; is this the export of that one?")


def _take_seat(session: Session, study: Study, rater: Rater, number: int) -> None:
    seat = session.scalars(select(Seat).where(Seat.study_id == study.id, Seat.number == number)).one_or_none()
    if seat is None:
        raise Invalid(f"Rater {rater.code} sat on seat {number}, and the study “{study.name}” has no such seat.")
    if seat.rater_id is not None:
        raise Conflict(f"Rater {rater.code} sat on seat {number}, and somebody else sits there now.")
    seat.rater_id = rater.id


def import_sittings(session: Session, study: Study, rows: list[Cells]) -> int:
    """How many sittings were brought back."""
    copied = ("started_at", "last_seen_at", "active_seconds", "ended_at")
    refuse_empty(rows, ("sitting", "rater", *copied[:3]), "sittings")
    raters = ids_of(session, Rater, study)
    known = set(session.scalars(select(Sitting.code).where(Sitting.rater_id.in_(raters.values()))))
    new = [row for row in rows if row["sitting"] not in known]
    for row in new:
        times = {name: row[name] for name in copied}
        rater = id_of(raters, row["rater"], "rater")
        ended = {"ended_by": row["ended_by"] or None, "paused": bool(row["paused"])}
        rest = {"unrested_seconds": row["unrested_seconds"] or 0.0, "break_offered_at": row["break_offered_at"]}
        session.add(Sitting(code=row["sitting"], rater_id=rater, **ended, **rest, **times))
    session.flush()
    return len(new)
