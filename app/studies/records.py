"""The public record of a sealed study, read back from the database."""

from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.models import Arm, Item, ItemKey, Lesson, Placement, Seat, Study
from app.studies.seal import Record

ARM_FIELDS = ("name", "condition", "size", "seed", "run_digest", "offer")


def record_of(session: Session, study: Study) -> Record:
    """What the seal of this study is about, as its tables say it now."""
    arms = session.scalars(select(Arm).where(Arm.study_id == study.id).order_by(Arm.id))
    items = session.execute(
        select(Item.code, ItemKey.leaf, Item.content_digest)
        .join(ItemKey, ItemKey.item_id == Item.id)
        .where(Item.study_id == study.id)
    ).all()
    return Record(
        design=study.design,
        plan=study.plan,
        arms=[_arm(arm) for arm in arms],
        leaves={row.code: row.leaf for row in items},
        contents={row.code: row.content_digest for row in items},
        seats=_seats(session, study),
        parts=study.sealed_parts,
        root=study.seal_root,
        lessons=_lessons(session, study),
    )


def _arm(arm: Arm) -> dict[str, Any]:
    others = {"other_runs": arm.other_runs} if arm.other_runs else {}
    return {name: getattr(arm, name) for name in ARM_FIELDS} | others


def _lessons(session: Session, study: Study) -> dict[str, Any]:
    statement = select(Item.code, Lesson).join(Lesson, Lesson.item_id == Item.id).where(Item.study_id == study.id)
    return {
        code: {"verdict": lesson.verdict.value, "text": lesson.text, "covered": lesson.covered}
        for code, lesson in session.execute(statement)
    }


def _seats(session: Session, study: Study) -> list[dict[str, Any]]:
    statement = (
        select(Seat.number, Seat.share, Item.code)
        .join(Placement, Placement.seat_id == Seat.id)
        .join(Item, Item.id == Placement.item_id)
        .where(Seat.study_id == study.id)
        .order_by(Seat.number, Placement.position)
    )
    seats: dict[int, dict[str, Any]] = {}
    for number, share, code in session.execute(statement):
        seats.setdefault(number, {"number": number, "share": share, "codes": []})["codes"].append(code)
    return list(seats.values())
