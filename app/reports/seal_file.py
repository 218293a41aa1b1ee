"""seal.json: all that `glance verify` needs to check a study's seal without the database."""

from dataclasses import asdict
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.models import Arm, Item, OpenedItem, Study, StudyState
from app.reports.formats import moment
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
    return found | _opened(session, study) if study.state == StudyState.UNBLINDED else found


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
    return record | by_code


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
