"""Opening one item before the study is unblinded, for an emergency. It is left out of the main figure from then on."""

from typing import Any, NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session

from app import log
from app.administrators.actions import check_password
from app.errors import AppError, Conflict, Invalid, NotFound
from app.models import Administrator, Assignment, AssignmentState, EarlyOpening, Item, Rater, Study, StudyState
from app.roles import Role, require
from app.settings import Settings
from app.store.db import OpenTransaction
from app.studies.opening import open_item
from app.studies.proof import proof_of
from app.studies.queries import locked_study
from app.studies.reasons import checked_reason
from app.studies.records import record_of
from app.studies.seal import digest, leaf
from app.words.language import N_

FORMAT = 1


class Opened(NamedTuple):
    """An item that was opened early."""

    opening: EarlyOpening
    code: str


def opened_early(session: Session, study: Study) -> list[Opened]:
    """All of them, first to last."""
    statement = (
        select(EarlyOpening, Item.code)
        .join(Item, Item.id == EarlyOpening.item_id)
        .where(Item.study_id == study.id)
        .order_by(EarlyOpening.at, Item.code)
    )
    return [Opened(opening, code) for opening, code in session.execute(statement)]


def open_early(
    transactions: OpenTransaction,
    settings: Settings,
    code: str,
    name: str,
    *,
    password: str,
    item: str,
    rater: str,
    reason: str,
) -> str:
    """The whole act, by the administrator of this name. Returns the item's code. A refused try is in the log too."""
    try:
        administrator_id = check_password(transactions, name, password)
        with transactions() as session:
            administrator = session.get_one(Administrator, administrator_id)
            return open_one(session, settings, code, administrator, item=item, rater=rater, reason=reason)
    except AppError as refusal:
        with transactions() as session:
            log.append(session, locked_study(session, code).id, name, "early opening refused", why=refusal.message)
        raise


def open_one(
    session: Session, settings: Settings, code: str, administrator: Administrator, *, item: str, rater: str, reason: str
) -> str:
    """Open one item: the one of this code, or the one that this rater has in hand. The password was checked before."""
    require(administrator, Role.UNBLIND)
    study = locked_study(session, code)
    if study.state is StudyState.UNBLINDED:
        raise Conflict(N_("The study “%(name)s” was unblinded: every item is open."), name=study.name)
    reason = checked_reason(reason, N_("Say why this item is opened; the reason is written in the report."))
    found = _item(session, study, item.strip(), rater.strip())
    if session.get(EarlyOpening, found.id) is not None:
        raise Conflict(N_("Item %(code)s was opened already."), code=found.code)
    key = open_item(session, settings, study, found)
    session.add(EarlyOpening(item_id=found.id, actor=administrator.name, reason=reason, key=key))
    log.append(
        session, study.id, administrator.name, "item opened early",
        item=found.code, leaf=leaf(key), reason=digest(reason),
    )  # fmt: skip
    return found.code


def _item(session: Session, study: Study, code: str, rater: str) -> Item:
    if bool(code) == bool(rater):
        raise Invalid(N_("Say which item: by its code, or by the rater who has it in hand."))
    if code:
        named = select(Item).where(Item.study_id == study.id, Item.code == code)
        item = session.scalars(named).one_or_none()
    else:
        held = (
            select(Item)
            .join(Assignment, Assignment.item_id == Item.id)
            .join(Rater, Rater.id == Assignment.rater_id)
            .where(Rater.study_id == study.id, Rater.code == rater, Assignment.state == AssignmentState.HELD)
            .order_by(Assignment.position)
        )
        item = session.scalars(held).first()
    if item is None and code:
        raise NotFound(N_("There is no item %(code)s in this study."), code=code)
    if item is None:
        raise NotFound(N_("This rater has no neuron in hand."))
    return item


def opened_file(session: Session, study: Study, opened: Opened) -> dict[str, Any]:
    """What lets anybody check this one item against the seal that was shown: `glance verify` reads it alone."""
    record = record_of(session, study)
    opening = opened.opening
    return {
        "format": FORMAT,
        "study": {"code": study.code, "name": study.name},
        "root": study.seal_root,
        "item": opening.key,
        "arm": record.arms[opening.key["arm"]]["name"],
        "leaf": record.leaves[opened.code],
        "path": [step._asdict() for step in proof_of(record, opened.code)],
        "opened": {"at": opening.at.isoformat(), "by": opening.actor, "reason": opening.reason},
    }
