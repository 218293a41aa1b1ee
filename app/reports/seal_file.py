"""seal.json: all that `glance verify` needs to check a study's seal without the database."""

from dataclasses import asdict
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.models import Amendment, Arm, Item, OpenedItem, Study, StudyState
from app.reports.formats import moment
from app.studies.early import Opened as OpenedEarly
from app.studies.early import opened_early
from app.studies.plans import amendments
from app.studies.records import record_of

FORMAT = 1


def seal_file(session: Session, study: Study) -> dict[str, Any]:
    """What is public of the seal and, after unblinding, the record, the secret, and what every item was."""
    found: dict[str, Any] = {
        "format": FORMAT,
        "study": {"code": study.code, "name": study.name, "simulated": study.simulated, "state": study.state.value},
        "sealed_at": moment(study.created_at),
        "root": study.seal_root,
        "plan_digest": study.plan_digest,
        "log": {"head": study.log_head, "lines": study.log_lines},
    }
    unblinded = study.state == StudyState.UNBLINDED
    found |= _acts(session, study, unblinded=unblinded)
    return found | _opened(session, study) if unblinded else found


def _acts(session: Session, study: Study, *, unblinded: bool) -> dict[str, Any]:
    """Amendments, and items opened early. While the study is blind only that there are some, and digests.

    A study that has none of them has nothing here, so that its export is what it was before there were any.
    """
    made, opened = amendments(session, study), opened_early(session, study)
    told = {"amendments": [_amendment(one, unblinded) for one in made]} if made else {}
    if opened and unblinded:
        return told | {"opened_early": [_opening(one) for one in opened]}
    return told | ({"opened_early": len(opened)} if opened else {})


def _amendment(one: Amendment, unblinded: bool) -> dict[str, Any]:
    public = {"number": one.number, "at": moment(one.at), "plan_digest": one.plan_digest}
    return public | {"by": one.actor, "reason": one.reason, "plan": one.plan} if unblinded else public


def _opening(one: OpenedEarly) -> dict[str, Any]:
    opening = one.opening
    return {"at": moment(opening.at), "by": opening.actor, "reason": opening.reason, "item": opening.key}


def _opened(session: Session, study: Study) -> dict[str, Any]:
    return {
        "unblinded": {
            "at": moment(study.unblinded_at) if study.unblinded_at else None,
            "by": study.unblinded_by,
            "reason": study.unblinding_reason,
        },
        "secret": study.secret,
        "opened": study.opened,
        "record": _record(session, study),
        "items": _items(session, study),
    }


def _record(session: Session, study: Study) -> dict[str, Any]:
    """The fields of app.studies.seal.Record, always in the same order."""
    record = asdict(record_of(session, study))
    by_code = {name: dict(sorted(record[name].items())) for name in ("leaves", "contents")}
    lessons = dict(sorted(record.pop("lessons").items()))
    return record | by_code | ({"lessons": lessons} if lessons else {})


def _items(session: Session, study: Study) -> list[dict[str, Any]]:
    """What every item was: its arm, its unit and the salt of its leaf."""
    statement = (
        select(Item.code, Arm.name, OpenedItem)
        .join(OpenedItem, OpenedItem.item_id == Item.id)
        .join(Arm, Arm.id == OpenedItem.arm_id)
        .where(Item.study_id == study.id)
        .order_by(Item.code)
    )
    return [
        {
            "code": code, "arm": arm, "unit_kind": opened.unit_kind, "layer": opened.layer,
            "index": opened.index, "salt": opened.salt,
        }
        for code, arm, opened in session.execute(statement)
    ]  # fmt: skip
